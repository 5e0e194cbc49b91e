/** Tools that summarize a month by category and over all categories. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { money, standing } from "./categoryTools.ts";
import { balanceOf, categoryOf, monthOf, spentIn, Budget } from "./state.ts";
import { categoryId, categoryRow, month } from "./parameters.ts";

const tool = createToolFactory(Budget);

const mostShown = 5;

const monthBefore = (of: string) =>
  of.endsWith("-01")
    ? `${Number(of.slice(0, 4)) - 1}-12`
    : `${of.slice(0, 5)}${String(Number(of.slice(5)) - 1).padStart(2, "0")}`;

export const summaryTools = {
  get_category_summary: tool({
    effect: "read",
    summary:
      "Get one category in a month: its limit, what is spent and left, how many expenses, the largest of them, and the month before.",
    input: {
      category_id: categoryId,
      month: month.optional().describe("Month, YYYY-MM; this month if not given"),
    },
    returns: {
      ...categoryRow,
      month: z.string(),
      kind: z.string(),
      status: z.string(),
      fixed: z.boolean(),
      ...money,
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
    run(budget, { category_id, month: of }, { now }) {
      const { name, kind, status, fixed } = categoryOf(budget, category_id);
      const wanted = of ?? now.slice(0, 7);
      monthOf(budget, wanted);
      const lines = Object.entries(budget.expenses).filter(
        ([, it]) => it.category_id === category_id && it.day.startsWith(wanted),
      );
      const [largest] = lines.sort(([a, x], [b, y]) => y.amount - x.amount || (a < b ? -1 : 1));
      const last = monthBefore(wanted);
      return omitUndefined({
        category: name,
        category_id,
        month: wanted,
        kind,
        status,
        fixed,
        ...standing(budget, category_id, wanted),
        expenses: lines.length,
        largest: largest && {
          expense: largest[1].text,
          expense_id: largest[0],
          day: largest[1].day,
          amount: largest[1].amount,
        },
        spent_before: Object.hasOwn(budget.months, last)
          ? spentIn(budget, category_id, last)
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
    run(budget, { month: of }, { now }) {
      const wanted = of ?? now.slice(0, 7);
      const { status } = monthOf(budget, wanted);
      const spent = Object.entries(budget.categories).map(([category_id, { name }]) => ({
        category: name,
        category_id,
        spent: spentIn(budget, category_id, wanted),
      }));
      const most = spent
        .filter(it => it.spent > 0)
        .sort((a, b) => b.spent - a.spent || (a.category < b.category ? -1 : 1));
      return {
        month: wanted,
        status,
        ...balanceOf(budget, wanted),
        expenses: Object.values(budget.expenses).filter(it => it.day.startsWith(wanted)).length,
        categories: most.slice(0, mostShown),
      };
    },
  }),
};
