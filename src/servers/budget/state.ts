/**
 * A person's budget: expenses in categories with a limit for each month, months that are closed in
 * the end, savings goals. Every sum is added up from its lines; what is free of a month is its
 * income less what is spent or planned and what is saved.
 */
import { z } from "zod";
import { day, money } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { roundToCents } from "../../environment/amounts.ts";

export const monthPattern = /^\d{4}-(0[1-9]|1[0-2])$/;
export const methods = ["card", "bill", "cash"] as const;

const Category = z.strictObject({
  name: z.string().min(1),
  kind: z.enum(["need", "want"]),
  /** `archived`: it takes no new expenses. */
  status: z.enum(["active", "archived"]),
  /** By the month from which a limit holds, until the next one. */
  limits: z.record(z.string().regex(monthPattern), money()),
  /** Nothing may go beyond the limit. */
  fixed: z.boolean(),
});

const Expense = z.strictObject({
  category_id: z.string(),
  day: day(),
  amount: money(),
  text: z.string().min(1),
  method: z.enum(methods),
  /** `bank`: read from an account's statement, which says how much, when and to whom. */
  source: z.enum(["bank", "own"]),
});

const Month = z.strictObject({
  /** `closed`: nothing in it changes any more. */
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

export const Budget = z
  .strictObject({
    owner: z.string(),
    categories: z.record(z.string(), Category),
    expenses: z.record(z.string(), Expense),
    months: z.record(z.string().regex(monthPattern), Month),
    goals: z.record(z.string(), Goal),
    contributions: z.record(z.string(), Contribution),
  })
  .superRefine(({ categories, expenses, goals, contributions, months }, context) => {
    const lacks = (table: object, key: string) => !Object.hasOwn(table, key);
    for (const [key, it] of Object.entries(expenses)) {
      if (lacks(categories, it.category_id))
        context.addIssue({
          code: "custom",
          path: ["expenses", key, "category_id"],
          message: `there is no category ${it.category_id}`,
        });
      if (lacks(months, it.day.slice(0, 7)))
        context.addIssue({
          code: "custom",
          path: ["expenses", key, "day"],
          message: `there is no month ${it.day.slice(0, 7)}`,
        });
    }
    for (const [key, it] of Object.entries(contributions))
      if (lacks(goals, it.goal_id))
        context.addIssue({
          code: "custom",
          path: ["contributions", key, "goal_id"],
          message: `there is no goal ${it.goal_id}`,
        });
  });
export type Budget = z.infer<typeof Budget>;
export type Category = z.infer<typeof Category>;
export type Expense = z.infer<typeof Expense>;
export type Goal = z.infer<typeof Goal>;

export const sum = (amounts: readonly { readonly amount: number }[]): number =>
  roundToCents(amounts.reduce((total, it) => total + it.amount, 0));

export const categoryOf = (budget: Budget, categoryId: string): Category =>
  findEntity(budget.categories, categoryId, "category", "budget_list_categories gives the ids");
export const expenseOf = (budget: Budget, expenseId: string): Expense =>
  findEntity(budget.expenses, expenseId, "expense", "budget_list_expenses gives the ids");
export const goalOf = (budget: Budget, goalId: string): Goal =>
  findEntity(budget.goals, goalId, "goal", "budget_list_goals gives the ids");

/** The month, if the budget has it. */
export function monthOf({ months }: Budget, month: string) {
  if (Object.hasOwn(months, month)) return months[month]!;
  const all = Object.keys(months).sort();
  return refuse(
    "not_found",
    `the budget has no month ${month}`,
    `it goes from ${all[0]} to ${all.at(-1)}`,
  );
}

/** Turns down what would change a closed month. */
export function requireOpenMonth(budget: Budget, month: string): void {
  if (monthOf(budget, month).status === "closed")
    refuse(
      "precondition_failed",
      `${month} is closed: nothing in it changes any more`,
      `the months still open are ${Object.keys(budget.months)
        .filter(it => budget.months[it]!.status === "open")
        .join(", ")}`,
    );
}

/** The limit of a category in a month, if one was ever set. */
export function limitIn({ limits }: Category, month: string): number | undefined {
  const from = Object.keys(limits)
    .filter(it => it <= month)
    .sort()
    .at(-1);
  return from === undefined ? undefined : limits[from];
}

/** What was spent in a category in a month, one expense left out. */
export function spentIn(
  { expenses }: Budget,
  categoryId: string,
  month: string,
  exceptId?: string,
): number {
  return sum(
    Object.entries(expenses)
      .filter(
        ([key, it]) =>
          key !== exceptId && it.category_id === categoryId && it.day.startsWith(month),
      )
      .map(([, it]) => it),
  );
}

export const savedFor = ({ contributions }: Budget, goalId: string): number =>
  sum(Object.values(contributions).filter(it => it.goal_id === goalId));

export interface Balance {
  readonly income: number;
  readonly spent: number;
  /** What the limits still hold back, where less is spent. */
  readonly reserved: number;
  readonly saved: number;
  readonly free: number;
}

/** Where a month's income is: income = spent + reserved + saved + free. */
export function balanceOf(budget: Budget, month: string): Balance {
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
          : Math.max(0, (limitIn(it, month) ?? 0) - (byCategory.get(key) ?? 0))),
      0,
    ),
  );
  const saved = sum(Object.values(budget.contributions).filter(it => it.day.startsWith(month)));
  const { income } = monthOf(budget, month);
  return { income, spent, reserved, saved, free: roundToCents(income - spent - reserved - saved) };
}

/** The category, if so much more may be spent in it in that month. */
export function takes(
  budget: Budget,
  categoryId: string,
  month: string,
  amount: number,
  exceptId?: string,
): Category {
  const category = categoryOf(budget, categoryId);
  if (category.status === "archived")
    refuse(
      "precondition_failed",
      `the category ${category.name} (${categoryId}) is archived and takes no expenses`,
      "choose another category",
    );
  requireOpenMonth(budget, month);
  const limit = limitIn(category, month);
  const spent = spentIn(getOriginal(budget), categoryId, month, exceptId);
  if (category.fixed && limit !== undefined && roundToCents(spent + amount) > limit)
    refuse(
      "limit_exceeded",
      `${category.name} has a fixed limit of ${limit} in ${month}, ${spent} is spent, and ${amount} does not fit`,
      "budget_set_category_limit raises the limit, or choose another category",
    );
  return category;
}
