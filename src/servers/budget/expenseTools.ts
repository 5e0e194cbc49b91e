/**
 * Tools that add, change, delete, list and summarize expenses. Expenses from the bank's statement
 * keep their amount, day and text.
 */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label, rowLimit, rowTotal } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import {
  amount,
  categoryRow,
  shop,
  Budget,
  categories,
  expenses,
  getLimit,
  methods,
  computeSpending,
  requireOpenMonth,
  addUpAmounts,
  requireSpendable,
  type Expense,
  computeBalance,
  findMonth,
  month,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { spendingFields, describeSpending } from "./categoryTools.ts";

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

/** Refuses an expense that is written down already, other than the expense `exceptId`. */
function requireNewExpense(
  { expenses }: Budget,
  { day: date, amount: paidAmount, text }: Pick<Expense, "day" | "amount" | "text">,
  exceptId?: string,
): void {
  const searchedText = text.trim().toLowerCase();
  const duplicate = Object.entries(expenses).find(
    ([key, it]) =>
      key !== exceptId &&
      it.day === date &&
      it.amount === paidAmount &&
      it.text.trim().toLowerCase() === searchedText,
  );
  if (duplicate)
    refuse(
      "conflict",
      `${paidAmount} for ${duplicate[1].text} on ${date} is written down already (${duplicate[0]})`,
      "budget_update_expense puts it right",
    );
}

/** What is left of a category's limit after this spending. Undefined if it has no limit. */
function computeRemaining(
  budget: Budget,
  categoryKey: string,
  month: string,
  spent: number,
): number | undefined {
  const limit = getLimit(budget.categories[categoryKey]!, month);
  return limit === undefined ? undefined : roundToCents(limit - spent);
}

export const expenseTools = {
  add_expense: tool({
    effect: "write",
    summary:
      "Write down an expense that no account shows, such as one in cash, in a category and an open month.",
    input: {
      category_id: categories.id,
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
    run(budget, { category_id, amount: paidAmount, text, day: requestedDay }, { now, newId }) {
      const date = requestedDay ?? now.slice(0, 10);
      requirePastDay(date, now);
      const month = date.slice(0, 7);
      const { name } = requireSpendable(budget, category_id, month, paidAmount);
      const original = getOriginal(budget);
      requireNewExpense(original, { day: date, amount: paidAmount, text });
      const expense_id = newId("exp");
      budget.expenses[expense_id] = {
        category_id,
        day: date,
        amount: paidAmount,
        text: text.trim(),
        method: "cash",
        source: "own",
      };
      const spent = roundToCents(computeSpending(original, category_id, month) + paidAmount);
      return omitUndefined({
        expense: text.trim(),
        expense_id,
        day: date,
        amount: paidAmount,
        category: name,
        category_id,
        spent,
        left: computeRemaining(budget, category_id, month, spent),
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
      expense_id: expenses.id,
      category_id: categories.id.optional().describe("Another category for it"),
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
    run(budget, { expense_id, text, ...values }, { now }) {
      const expense = expenses.find(budget, expense_id);
      const changes = omitUndefined({ ...values, text: text?.trim() });
      if (Object.keys(changes).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give an amount, a day, a text or a category_id",
        );
      requireOpenMonth(budget, expense.day.slice(0, 7));
      const changedFields = (Object.keys(changes) as (keyof typeof changes)[]).filter(
        key => changes[key] !== undefined && changes[key] !== expense[key],
      );
      if (changedFields.length === 0)
        refuse("conflict", `${expense.text} (${expense_id}) is like that already`);
      requireNotFromBank(expense, expense_id, changedFields);
      const after: Expense = { ...getOriginal(expense), ...omitUndefined(changes) };
      requirePastDay(after.day, now);
      if (changedFields.some(key => key !== "category_id"))
        requireNewExpense(getOriginal(budget), after, expense_id);
      const month = after.day.slice(0, 7);
      const increasesSpending =
        after.category_id !== expense.category_id ||
        month !== expense.day.slice(0, 7) ||
        after.amount > expense.amount;
      if (increasesSpending)
        requireSpendable(budget, after.category_id, month, after.amount, expense_id);
      else requireOpenMonth(budget, month);
      Object.assign(expense, omitUndefined(changes));
      const spent = roundToCents(
        computeSpending(getOriginal(budget), after.category_id, month, expense_id) + after.amount,
      );
      const { name } = categories.find(budget, after.category_id);
      return omitUndefined({
        expense: after.text,
        expense_id,
        day: after.day,
        amount: after.amount,
        category: name,
        category_id: after.category_id,
        changed: changedFields,
        left: computeRemaining(budget, after.category_id, month, spent),
      });
    },
  }),
  delete_expense: tool({
    effect: "write",
    summary: "Take out an expense of an open month that was written down by hand.",
    destructive: true,
    input: { expense_id: expenses.id },
    returns: {
      deleted: z.string().describe("Words of the expense that is gone"),
      amount: cents(),
      ...categoryRow,
      spent: cents().describe("In the category in that month"),
    },
    run(budget, { expense_id }) {
      const expense = { ...expenses.find(getOriginal(budget), expense_id) };
      const month = expense.day.slice(0, 7);
      requireOpenMonth(budget, month);
      if (expense.source === "bank")
        refuse(
          "permission_denied",
          `${expense.text} (${expense_id}) is from the bank's statement and stays in the budget`,
          "budget_update_expense can move it to another category",
        );
      delete budget.expenses[expense_id];
      const { name } = categories.find(budget, expense.category_id);
      return {
        deleted: expense.text,
        amount: expense.amount,
        category: name,
        category_id: expense.category_id,
        spent: computeSpending(getOriginal(budget), expense.category_id, month, expense_id),
      };
    },
  }),
  list_expenses: tool({
    effect: "read",
    summary:
      "List expenses, newest first, by category, words, days, size or way of paying, with the sum of all that fit.",
    input: {
      category_id: categories.id.optional().describe("Only expenses in this category"),
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
        .meta({ examples: vocabulary.leastAmounts }),
      limit: rowLimit(10),
    },
    returns: {
      // the total of this list is a sum of money
      count: rowTotal("expenses"),
      total: cents(),
      expenses: z.array(z.object({ ...row, method: z.string(), category_id: id("category") })),
    },
    run(budget, { category_id, text, from, to, method, min_amount, limit: maxRows = 10 }) {
      if (category_id !== undefined) categories.find(budget, category_id);
      if (from !== undefined && to !== undefined && from > to)
        refuse("invalid_params", `from ${from} is after to ${to}`);
      const matches = Object.entries(budget.expenses).filter(
        ([, it]) =>
          (!category_id || it.category_id === category_id) &&
          (!text || containsText(it.text, text)) &&
          (!from || it.day >= from) &&
          (!to || it.day <= to) &&
          (!method || it.method === method) &&
          (min_amount === undefined || it.amount >= min_amount),
      );
      matches.sort(([a, x], [b, y]) =>
        x.day === y.day ? (a < b ? 1 : -1) : x.day < y.day ? 1 : -1,
      );
      return {
        count: matches.length,
        total: addUpAmounts(matches.map(([, it]) => it)),
        expenses: matches.slice(0, maxRows).map(([expense_id, it]) => ({
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

/** Refuses changes of an expense from the bank's statement, except of its category. */
function requireNotFromBank(
  expense: Expense,
  expenseKey: string,
  changedFields: readonly string[],
): void {
  const protectedFields = changedFields.filter(it => it !== "category_id");
  if (expense.source === "bank" && protectedFields.length > 0)
    refuse(
      "permission_denied",
      `${expense.text} (${expenseKey}) is from the bank's statement, which says ${expense.amount} on ${expense.day}`,
      "only its category can change",
    );
}

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
      total: rowTotal("categories"),
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
        total: topCategories.length,
        categories: topCategories.slice(0, maxCategoryRows),
      };
    },
  }),
};
