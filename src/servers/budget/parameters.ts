/** Parameters and result fields that several tools share. */
import { z } from "zod";
import { id, label, money, phrase } from "../../environment/fieldSchemas.ts";
import { monthPattern } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const amount = money().meta({
  examples: vocabulary.amounts,
});
export const limitAmount = money().meta({
  examples: vocabulary.limits,
});
export const goalAmount = money().meta({ examples: vocabulary.goalAmounts });
export const target = money().meta({ examples: vocabulary.targets });
export const month = z
  .string()
  .regex(monthPattern)
  .meta({ examples: ["2026-01", "2026-02", "2026-03"] });
export const shop = phrase(2, 80).meta({
  examples: vocabulary.shops,
});

export const categoryRow = { category: label("category"), category_id: id("category") };
