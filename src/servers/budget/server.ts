/** A person's household budget: 12 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { categories, summaries } from "./categories.ts";
import { expenses } from "./expenses.ts";
import { goals } from "./goals.ts";
import { Budget } from "./state.ts";

export const server = defineServer({
  name: "budget",
  category: "Lifestyle",
  summary: "expenses in categories with monthly limits, months that close, savings goals",
  schema: Budget,
  tools: { ...categories, ...expenses, ...summaries, ...goals },
});

export { balanceOf, type Budget } from "./state.ts";
