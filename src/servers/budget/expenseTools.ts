/**
 * The budget's tools for expenses: written down, put right, taken out, listed. What the bank says
 * stays as the bank says it.
 */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { amount, categoryId, categoryRow, expenseId, listed, shop } from "./parameters.ts";
import {
  Budget,
  categoryOf,
  expenseOf,
  limitIn,
  methods,
  spentIn,
  requireOpenMonth,
  sum,
  takes,
  type Expense,
} from "./state.ts";

const tool = createToolFactory(Budget);

const row = { expense: label("expense"), expense_id: id("expense"), day: day(), amount: cents() };

function requirePastDay(date: string, now: string): void {
  if (date > now.slice(0, 10))
    refuse(
      "precondition_failed",
      `${date} is still to come: today is ${now.slice(0, 10)}`,
      "write an expense down when it has been made",
    );
}

/** What is left of a category after so much, where it has a limit. */
function leftOf(
  budget: Budget,
  categoryKey: string,
  month: string,
  spent: number,
): number | undefined {
  const limit = limitIn(budget.categories[categoryKey]!, month);
  return limit === undefined ? undefined : roundToCents(limit - spent);
}

export const expenseTools = {
  add_expense: tool({
    effect: "write",
    summary:
      "Write down an expense that no account shows, such as one in cash, in a category and an open month.",
    input: {
      category_id: categoryId,
      amount: amount.describe("Amount in euros"),
      text: shop.describe("Where or for what it was"),
      day: day().optional().describe("Day of the expense, today if not given"),
    },
    returns: {
      ...row,
      ...categoryRow,
      spent: cents().describe("In the category in that month"),
      left: cents().optional().describe("Of its limit; below zero where it is overspent"),
    },
    run(budget, { category_id, amount: paid, text, day: on }, { now, newId }) {
      const date = on ?? now.slice(0, 10);
      requirePastDay(date, now);
      const month = date.slice(0, 7);
      const { name } = takes(budget, category_id, month, paid);
      const old = getOriginal(budget);
      const same = Object.entries(old.expenses).find(
        ([, it]) =>
          it.day === date &&
          it.amount === paid &&
          it.text.toLowerCase() === text.trim().toLowerCase(),
      );
      if (same)
        refuse(
          "conflict",
          `${paid} for ${same[1].text} on ${date} is written down already (${same[0]})`,
          "budget_update_expense puts it right",
        );
      const expense_id = newId("exp");
      budget.expenses[expense_id] = {
        category_id,
        day: date,
        amount: paid,
        text: text.trim(),
        method: "cash",
        source: "own",
      };
      const spent = roundToCents(spentIn(old, category_id, month) + paid);
      return omitUndefined({
        expense: text.trim(),
        expense_id,
        day: date,
        amount: paid,
        category: name,
        category_id,
        spent,
        left: leftOf(budget, category_id, month, spent),
      });
    },
  }),
  update_expense: tool({
    effect: "write",
    summary:
      "Put an expense of an open month right: its amount, day, words or category. Of one that the bank reports, only the category.",
    destructive: true,
    idempotent: true,
    input: {
      expense_id: expenseId,
      category_id: categoryId.optional().describe("Another category for it"),
      amount: amount.optional().describe("The right amount in euros"),
      text: shop.optional().describe("Better words for it"),
      day: day().optional().describe("The right day"),
    },
    returns: {
      ...row,
      ...categoryRow,
      changed: z.array(z.string()),
      left: cents().optional().describe("Of the category's limit in that month"),
    },
    run(budget, { expense_id, ...wanted }, { now }) {
      const expense = expenseOf(budget, expense_id);
      if (Object.keys(wanted).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give an amount, a day, a text or a category_id",
        );
      requireOpenMonth(budget, expense.day.slice(0, 7));
      const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
        key => wanted[key] !== undefined && wanted[key] !== expense[key],
      );
      if (changed.length === 0)
        refuse("conflict", `${expense.text} (${expense_id}) is like that already`);
      requireNotFromBank(expense, expense_id, changed);
      const after: Expense = { ...getOriginal(expense), ...omitUndefined(wanted) };
      requirePastDay(after.day, now);
      const month = after.day.slice(0, 7);
      const isMoreThere =
        after.category_id !== expense.category_id ||
        month !== expense.day.slice(0, 7) ||
        after.amount > expense.amount;
      if (isMoreThere) takes(budget, after.category_id, month, after.amount, expense_id);
      else requireOpenMonth(budget, month);
      Object.assign(expense, omitUndefined(wanted));
      const spent = roundToCents(
        spentIn(getOriginal(budget), after.category_id, month, expense_id) + after.amount,
      );
      const { name } = categoryOf(budget, after.category_id);
      return omitUndefined({
        expense: after.text,
        expense_id,
        day: after.day,
        amount: after.amount,
        category: name,
        category_id: after.category_id,
        changed,
        left: leftOf(budget, after.category_id, month, spent),
      });
    },
  }),
  delete_expense: tool({
    effect: "write",
    summary: "Take out an expense of an open month that was written down by hand.",
    destructive: true,
    input: { expense_id: expenseId },
    returns: {
      deleted: z.string().describe("Words of the expense that is gone"),
      amount: cents(),
      ...categoryRow,
      spent: cents().describe("In the category in that month"),
    },
    run(budget, { expense_id }) {
      const expense = { ...expenseOf(getOriginal(budget), expense_id) };
      const month = expense.day.slice(0, 7);
      requireOpenMonth(budget, month);
      if (expense.source === "bank")
        refuse(
          "permission_denied",
          `${expense.text} (${expense_id}) is from the bank's statement and stays in the budget`,
          "budget_update_expense can move it to another category",
        );
      delete budget.expenses[expense_id];
      const { name } = categoryOf(budget, expense.category_id);
      return {
        deleted: expense.text,
        amount: expense.amount,
        category: name,
        category_id: expense.category_id,
        spent: spentIn(getOriginal(budget), expense.category_id, month, expense_id),
      };
    },
  }),
  list_expenses: tool({
    effect: "read",
    summary:
      "List expenses, newest first, by category, words, days, size or way of paying, with the sum of all that fit.",
    input: {
      category_id: categoryId.optional().describe("Only expenses in this category"),
      text: label("expense").optional().describe("Only expenses whose words contain this"),
      from: day().optional().describe("First day"),
      to: day().optional().describe("Last day"),
      method: z.enum(methods).optional().describe("Only those paid by card, as a bill, or in cash"),
      min_amount: z
        .number()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe("Only expenses of at least this many euros")
        .meta({ examples: [10, 20, 25, 30, 40, 50, 75, 100] }),
      limit: listed,
    },
    returns: {
      count: z.int(),
      total: cents(),
      expenses: z.array(z.object({ ...row, method: z.string(), category_id: id("category") })),
    },
    run(budget, { category_id, text, from, to, method, min_amount, limit: most = 10 }) {
      if (category_id !== undefined) categoryOf(budget, category_id);
      if (from !== undefined && to !== undefined && from > to)
        refuse("invalid_params", `from ${from} is after to ${to}`);
      const found = Object.entries(budget.expenses).filter(
        ([, it]) =>
          (!category_id || it.category_id === category_id) &&
          (!text || containsText(it.text, text)) &&
          (!from || it.day >= from) &&
          (!to || it.day <= to) &&
          (!method || it.method === method) &&
          (min_amount === undefined || it.amount >= min_amount),
      );
      found.sort(([a, x], [b, y]) => (x.day === y.day ? (a < b ? 1 : -1) : x.day < y.day ? 1 : -1));
      return {
        count: found.length,
        total: sum(found.map(([, it]) => it)),
        expenses: found.slice(0, most).map(([expense_id, it]) => ({
          expense: it.text,
          expense_id,
          day: it.day,
          amount: it.amount,
          method: it.method,
          category_id: it.category_id,
        })),
      };
    },
  }),
};

/** Turns down to change what the bank's statement says. */
function requireNotFromBank(
  expense: Expense,
  expenseKey: string,
  changed: readonly string[],
): void {
  const fixed = changed.filter(it => it !== "category_id");
  if (expense.source === "bank" && fixed.length > 0)
    refuse(
      "permission_denied",
      `${expense.text} (${expenseKey}) is from the bank's statement, which says ${expense.amount} on ${expense.day}`,
      "only its category can change",
    );
}
