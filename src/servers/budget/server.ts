/** A person's household budget: 12 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { categoryTools } from "./categoryTools.ts";
import { summaryTools } from "./summaryTools.ts";
import { expenseTools } from "./expenseTools.ts";
import { goalTools } from "./goalTools.ts";
import { Budget } from "./state.ts";

export const server = defineServer({
  name: "budget",
  category: "Lifestyle",
  summary: "expenses in categories with monthly limits, months that close, savings goals",
  schema: Budget,
  tools: { ...categoryTools, ...expenseTools, ...summaryTools, ...goalTools },
});

export { balanceOf, type Budget } from "./state.ts";
