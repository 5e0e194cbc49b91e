/**
 * The state of the budget: expenses in categories with monthly limits, months that are closed at
 * their end, savings goals. All sums are computed from the expenses and contributions.
 */
import { z } from "zod";
import { day, money, id, label, phrase } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { createTableFactory } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const monthPattern = /^\d{4}-(0[1-9]|1[0-2])$/;
export const methods = ["card", "bill", "cash"] as const;

const Category = z.strictObject({
  name: z.string().min(1),
  kind: z.enum(["need", "want"]),
  /** `archived`: no new expenses. */
  status: z.enum(["active", "archived"]),
  /** By the month from which a limit applies, until the next one. */
  limits: z.record(z.string().regex(monthPattern), money()),
  /** Whether expenses beyond the limit are refused. */
  fixed: z.boolean(),
});

const Expense = z.strictObject({
  category_id: z.string(),
  day: day(),
  amount: money(),
  text: z.string().min(1),
  method: z.enum(methods),
  /** `bank`: from an account's statement, which determines amount, day and text. */
  source: z.enum(["bank", "own"]),
});

const Month = z.strictObject({
  /** `closed`: nothing in it may change. */
  status: z.enum(["open", "closed"]),
  income: z.number().min(0).max(1_000_000),
});

const Goal = z.strictObject({
  name: z.string().min(1),
  target: money(),
  by: day().optional(),
  created: day(),
});
const Contribution = z.strictObject({ goal_id: z.string(), day: day(), amount: money() });

export const references = {
  "expenses.*.category_id": "categories",
  "contributions.*.goal_id": "goals",
} satisfies References;

export const Budget = z
  .strictObject({
    owner: z.string(),
    categories: z.record(z.string(), Category),
    expenses: z.record(z.string(), Expense),
    months: z.record(z.string().regex(monthPattern), Month),
    goals: z.record(z.string(), Goal),
    contributions: z.record(z.string(), Contribution),
  })
  .superRefine(({ expenses, months }, context) => {
    for (const [key, { day: spent }] of Object.entries(expenses))
      if (!Object.hasOwn(months, spent.slice(0, 7)))
        context.addIssue({
          code: "custom",
          path: ["expenses", key, "day"],
          message: `there is no month ${spent.slice(0, 7)}`,
        });
  });
export type Budget = z.infer<typeof Budget>;
type Category = z.infer<typeof Category>;
export type Expense = z.infer<typeof Expense>;
export type Goal = z.infer<typeof Goal>;

export const addUpAmounts = (amounts: readonly { readonly amount: number }[]): number =>
  roundToCents(amounts.reduce((total, it) => total + it.amount, 0));

const table = createTableFactory(Budget);
export const categories = table("categories", {
  entity: "category",
  idsFrom: "budget_list_categories",
});
export const expenses = table("expenses", { entity: "expense", idsFrom: "budget_list_expenses" });
export const goals = table("goals", { entity: "goal", idsFrom: "budget_list_goals" });

/** The month, or a refusal if the budget does not have it. */
export function findMonth({ months }: Budget, month: string) {
  if (Object.hasOwn(months, month)) return months[month]!;
  const all = Object.keys(months).sort();
  return refuse(
    "not_found",
    `the budget has no month ${month}`,
    `it goes from ${all[0]} to ${all.at(-1)}`,
  );
}

/** Refuses a change of a closed month. */
export function requireOpenMonth(budget: Budget, month: string): void {
  if (findMonth(budget, month).status === "closed")
    refuse(
      "precondition_failed",
      `${month} is closed: nothing in it changes any more`,
      `the months still open are ${Object.keys(budget.months)
        .filter(it => budget.months[it]!.status === "open")
        .join(", ")}`,
    );
}

/** The limit of a category in a month. Undefined if none was set. */
export function getLimit({ limits }: Category, month: string): number | undefined {
  const from = Object.keys(limits)
    .filter(it => it <= month)
    .sort()
    .at(-1);
  return from === undefined ? undefined : limits[from];
}

/** The spending in a category in a month, without the expense `exceptId`. */
export function computeSpending(
  { expenses }: Budget,
  categoryId: string,
  month: string,
  exceptId?: string,
): number {
  if (exceptId === undefined && Object.isFrozen(expenses))
    return roundToCents(getTotals(expenses).get(`${categoryId} ${month}`) ?? 0);
  return addUpAmounts(
    Object.entries(expenses)
      .filter(
        ([key, it]) =>
          key !== exceptId && it.category_id === categoryId && it.day.startsWith(month),
      )
      .map(([, it]) => it),
  );
}

/** The unrounded totals of expense tables by category and month, such as `cat_101 2026-03`. */
const totalsByTable = new WeakMap<Budget["expenses"], ReadonlyMap<string, number>>();

/** Adds up a frozen table once: a monthly summary asks for every category. */
function getTotals(expenses: Budget["expenses"]): ReadonlyMap<string, number> {
  const known = totalsByTable.get(expenses);
  if (known) return known;
  const totals = new Map<string, number>();
  for (const { category_id, day, amount } of Object.values(expenses)) {
    const key = `${category_id} ${day.slice(0, 7)}`;
    totals.set(key, (totals.get(key) ?? 0) + amount);
  }
  totalsByTable.set(expenses, totals);
  return totals;
}

export const computeSavings = ({ contributions }: Budget, goalId: string): number =>
  addUpAmounts(Object.values(contributions).filter(it => it.goal_id === goalId));

interface Balance {
  readonly income: number;
  readonly spent: number;
  /** The parts of the limits that are not yet spent. */
  readonly reserved: number;
  readonly saved: number;
  readonly free: number;
}

/** Divides a month's income: income = spent + reserved + saved + free. */
export function computeBalance(budget: Budget, month: string): Balance {
  const byCategory = new Map<string, number>();
  for (const it of Object.values(budget.expenses))
    if (it.day.startsWith(month))
      byCategory.set(it.category_id, (byCategory.get(it.category_id) ?? 0) + it.amount);
  const spent = roundToCents([...byCategory.values()].reduce((total, it) => total + it, 0));
  const reserved = roundToCents(
    Object.entries(budget.categories).reduce(
      (total, [key, it]) =>
        total +
        (it.status === "archived"
          ? 0
          : Math.max(0, (getLimit(it, month) ?? 0) - (byCategory.get(key) ?? 0))),
      0,
    ),
  );
  const saved = addUpAmounts(
    Object.values(budget.contributions).filter(it => it.day.startsWith(month)),
  );
  const { income } = findMonth(budget, month);
  return { income, spent, reserved, saved, free: roundToCents(income - spent - reserved - saved) };
}

/** The category, or a refusal if this amount cannot be spent in it in that month. */
export function requireSpendable(
  budget: Budget,
  categoryId: string,
  month: string,
  amount: number,
  exceptId?: string,
): Category {
  const category = categories.find(budget, categoryId);
  if (category.status === "archived")
    refuse(
      "precondition_failed",
      `the category ${category.name} (${categoryId}) is archived and takes no expenses`,
      "choose another category",
    );
  requireOpenMonth(budget, month);
  const limit = getLimit(category, month);
  const spent = computeSpending(getOriginal(budget), categoryId, month, exceptId);
  if (category.fixed && limit !== undefined && roundToCents(spent + amount) > limit)
    refuse(
      "limit_exceeded",
      `${category.name} has a fixed limit of ${limit} in ${month}, ${spent} is spent, and ${amount} does not fit`,
      "budget_set_category_limit raises the limit, or choose another category",
    );
  return category;
}

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
