/** Tools that summarize a month by category and over all categories. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { spendingFields, describeSpending } from "./categoryTools.ts";
import { computeBalance, categories, findMonth, computeSpending, Budget } from "./state.ts";
import { categoryRow, month } from "./parameters.ts";

const tool = createToolFactory(Budget);

const maxCategoryRows = 5;

const getPreviousMonth = (requestedMonth: string) =>
  requestedMonth.endsWith("-01")
    ? `${Number(requestedMonth.slice(0, 4)) - 1}-12`
    : `${requestedMonth.slice(0, 5)}${String(Number(requestedMonth.slice(5)) - 1).padStart(2, "0")}`;

export const summaryTools = {
  get_category_summary: tool({
    effect: "read",
    summary:
      "Get one category in a month: its limit, what is spent and left, how many expenses, the largest of them, and the month before.",
    input: {
      category_id: categories.id,
      month: month.optional().describe("Month, YYYY-MM; this month if not given"),
    },
    returns: {
      ...categoryRow,
      month: z.string(),
      kind: z.string(),
      status: z.string(),
      fixed: z.boolean(),
      ...spendingFields,
      expenses: z.int(),
      largest: z
        .object({
          expense: label("expense"),
          expense_id: id("expense"),
          day: day(),
          amount: cents(),
        })
        .optional(),
      spent_before: cents().optional().describe("In the month before"),
    },
    run(budget, { category_id, month: requestedMonth }, { now }) {
      const { name, kind, status, fixed } = categories.find(budget, category_id);
      const selectedMonth = requestedMonth ?? now.slice(0, 7);
      findMonth(budget, selectedMonth);
      const lines = Object.entries(budget.expenses).filter(
        ([, it]) => it.category_id === category_id && it.day.startsWith(selectedMonth),
      );
      const [largest] = lines.sort(([a, x], [b, y]) => y.amount - x.amount || (a < b ? -1 : 1));
      const previousMonth = getPreviousMonth(selectedMonth);
      return omitUndefined({
        category: name,
        category_id,
        month: selectedMonth,
        kind,
        status,
        fixed,
        ...describeSpending(budget, category_id, selectedMonth),
        expenses: lines.length,
        largest: largest && {
          expense: largest[1].text,
          expense_id: largest[0],
          day: largest[1].day,
          amount: largest[1].amount,
        },
        spent_before: Object.hasOwn(budget.months, previousMonth)
          ? computeSpending(budget, category_id, previousMonth)
          : undefined,
      });
    },
  }),
  get_monthly_summary: tool({
    effect: "read",
    summary:
      "Get a whole month: its income, what of it is spent, held back for limits, saved and free, and the categories with the most spending.",
    input: { month: month.optional().describe("Month, YYYY-MM; this month if not given") },
    returns: {
      month: z.string(),
      status: z.string(),
      income: cents(),
      spent: cents(),
      reserved: cents().describe("Of limits, not yet spent"),
      saved: cents(),
      free: cents().describe("Income less all the others"),
      expenses: z.int(),
      categories: z
        .array(z.object({ ...categoryRow, spent: cents() }))
        .describe("The five with the most"),
    },
    run(budget, { month: requestedMonth }, { now }) {
      const selectedMonth = requestedMonth ?? now.slice(0, 7);
      const { status } = findMonth(budget, selectedMonth);
      const spent = Object.entries(budget.categories).map(([category_id, { name }]) => ({
        category: name,
        category_id,
        spent: computeSpending(budget, category_id, selectedMonth),
      }));
      const topCategories = spent
        .filter(it => it.spent > 0)
        .sort((a, b) => b.spent - a.spent || (a.category < b.category ? -1 : 1));
      return {
        month: selectedMonth,
        status,
        ...computeBalance(budget, selectedMonth),
        expenses: Object.values(budget.expenses).filter(it => it.day.startsWith(selectedMonth))
          .length,
        categories: topCategories.slice(0, maxCategoryRows),
      };
    },
  }),
};
