/** Parameters and result fields that several tools share. */
import { z } from "zod";
import { id, label, money, rowLimit } from "../../environment/fieldSchemas.ts";
import { monthPattern } from "./state.ts";

export const categoryId = id("category").describe(
  "Category id, as budget_list_categories gives it",
);
export const expenseId = id("expense").describe("Expense id, as budget_list_expenses gives it");
export const goalId = id("goal").describe("Goal id, as budget_list_goals gives it");
export const amount = money().meta({
  examples: [4.5, 8, 12.5, 15, 18.9, 22, 27.4, 35, 42, 50, 64, 80],
});
export const limitAmount = money().meta({
  examples: [40, 60, 75, 90, 120, 150, 180, 200, 250, 300],
});
export const goalAmount = money().meta({ examples: [20, 25, 30, 40, 50, 60, 75, 100, 120, 150] });
export const target = money().meta({ examples: [300, 450, 600, 800, 900, 1200, 1500, 2000, 2500] });
export const month = z
  .string()
  .regex(monthPattern)
  .meta({ examples: ["2026-01", "2026-02", "2026-03"] });
export const shop = z
  .string()
  .min(2)
  .max(80)
  .regex(/\S/)
  .meta({
    examples: [
      "Market stall",
      "Ice cream",
      "Flea market",
      "Parking",
      "Bus ticket",
      "Street food",
      "Newspaper",
      "Cloakroom",
      "School fair",
      "Key copy",
      "Laundry",
      "Photo prints",
      "Ferry snack",
      "Museum shop",
      "Honey from the farm",
    ],
  });
export const limit = rowLimit(10);

export const categoryRow = { category: label("category"), category_id: id("category") };
export const goalRow = { goal: label("goal"), goal_id: id("goal") };
