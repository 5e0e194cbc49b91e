/** The budget server: the household budget of one person. */
import { defineServer } from "../../environment/server.ts";
import { categoryTools } from "./categoryTools.ts";
import { summaryTools } from "./summaryTools.ts";
import { expenseTools } from "./expenseTools.ts";
import { goalTools } from "./goalTools.ts";
import { invariants } from "./invariants.ts";
import { Budget, references } from "./state.ts";

export const server = defineServer({
  name: "budget",
  category: "Lifestyle",
  summary: "expenses in categories with monthly limits, months that close, savings goals",
  schema: Budget,
  references,
  tools: { ...categoryTools, ...expenseTools, ...summaryTools, ...goalTools },
  invariants,
});

export { computeBalance, type Budget } from "./state.ts";
