/** Tools that list, create and limit categories, and create, fund and list savings goals. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, label, phrase, day, rowTotal } from "../../environment/fieldSchemas.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  Budget,
  computeBalance,
  categories,
  getLimit,
  findMonth,
  computeSpending,
  requireOpenMonth,
  categoryRow,
  limitAmount,
  month,
  goalAmount,
  target,
  computeSavings,
  goals,
  type Goal,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { daysBetween } from "../../environment/time.ts";
import { ascending, contains, getSchemas, meets } from "../kit/table.ts";

const tool = createToolFactory(Budget);

export const maxCategories = 40;

export const spendingFields = {
  limit: cents().optional().describe("Absent where none is set"),
  spent: cents(),
  left: cents().optional().describe("Below zero where more is spent than planned"),
};

/** The limit of a category in a month, its spending and the rest. */
export function describeSpending(budget: Budget, categoryKey: string, targetMonth: string) {
  const limit = getLimit(budget.categories[categoryKey]!, targetMonth);
  const spent = computeSpending(budget, categoryKey, targetMonth);
  return omitUndefined({
    limit,
    spent,
    left: limit === undefined ? undefined : roundToCents(limit - spent),
  });
}

export const categoryTools = {
  list_categories: tool({
    effect: "read",
    summary:
      "List spending categories by name with their limits and what is spent and left in a month: the active ones, unless asked otherwise.",
    input: {
      name: label("category").optional().describe("Only categories whose name contains this"),
      month: month.optional().describe("Month, YYYY-MM; this month if not given"),
      kind: z
        .enum(["need", "want"])
        .optional()
        .describe("Only what is needed, or only what is wanted"),
      over_limit: z
        .boolean()
        .optional()
        .describe("True for categories only whose limit is overspent"),
      archived: z.boolean().optional().describe("True for the archived ones instead"),
    },
    returns: {
      total: rowTotal("categories"),
      categories: z.array(z.object({ ...categoryRow, ...spendingFields })),
    },
    run(budget, { name, month: targetMonth, kind, over_limit, archived = false }, { now }) {
      const selectedMonth = targetMonth ?? now.slice(0, 7);
      findMonth(budget, selectedMonth);
      const rows = Object.entries(budget.categories)
        .filter(
          ([, it]) =>
            (it.status === "archived") === archived &&
            (!name || containsText(it.name, name)) &&
            (!kind || it.kind === kind),
        )
        .sort(([, x], [, y]) => (x.name < y.name ? -1 : 1))
        .map(([category_id, it]) => ({
          category: it.name,
          category_id,
          ...describeSpending(budget, category_id, selectedMonth),
        }));
      const matches = over_limit ? rows.filter(it => it.left !== undefined && it.left < 0) : rows;
      return { total: matches.length, categories: matches };
    },
  }),
  create_category: tool({
    effect: "write",
    summary: "Open a new spending category, with a limit from this month on if one is given.",
    input: {
      name: phrase(2, 40).describe("Name of the category").meta({
        examples: vocabulary.categories,
      }),
      kind: z
        .enum(["need", "want"])
        .optional()
        .describe("Whether it is needed or wanted: want if not given"),
      limit: limitAmount.optional().describe("Limit a month, in euros"),
      fixed: z.boolean().optional().describe("True if nothing may go beyond the limit"),
    },
    returns: {
      ...categoryRow,
      limit: cents().optional(),
      free: cents().describe("What is still free of this month"),
    },
    run(budget, { name, kind = "want", limit, fixed = false }, { now, newId }) {
      const original = getOriginal(budget);
      const duplicate = Object.entries(original.categories).find(
        ([, it]) => it.name.toLowerCase() === name.trim().toLowerCase(),
      );
      if (duplicate)
        refuse(
          "conflict",
          `there is already a category ${duplicate[1].name} (${duplicate[0]}), which is ${duplicate[1].status}`,
          "choose another name",
        );
      if (Object.keys(original.categories).length >= maxCategories)
        refuse(
          "limit_exceeded",
          `the budget has ${maxCategories} categories already`,
          "use one of them",
        );
      if (fixed && limit === undefined) refuse("invalid_params", "a fixed category needs a limit");
      const { free } = computeBalance(original, now.slice(0, 7));
      if (limit !== undefined)
        for (const it of Object.keys(original.months).filter(key => key >= now.slice(0, 7))) {
          requireOpenMonth(original, it);
          requireFreeBudget(computeBalance(original, it).free, limit, it);
        }
      const category_id = newId("cat");
      budget.categories[category_id] = {
        name: name.trim(),
        kind,
        status: "active",
        limits: limit === undefined ? {} : { [now.slice(0, 7)]: limit },
        fixed,
      };
      return omitUndefined({
        category: name.trim(),
        category_id,
        limit,
        free: roundToCents(free - (limit ?? 0)),
      });
    },
  }),
  set_category_limit: tool({
    effect: "write",
    summary:
      "Set what a category may cost a month, from this month on or from another one that is not closed. The month's income must allow it.",
    destructive: true,
    idempotent: true,
    input: {
      category_id: categories.id,
      limit: limitAmount.describe("Limit a month, in euros"),
      month: month
        .optional()
        .describe("Month from which it holds, YYYY-MM; this month if not given"),
    },
    returns: {
      ...categoryRow,
      from: z.string(),
      ...spendingFields,
      free: cents().describe("What is still free of that month"),
    },
    run(budget, { category_id, limit, month: targetMonth }, { now }) {
      const category = categories.find(budget, category_id);
      const from = targetMonth ?? now.slice(0, 7);
      if (category.status === "archived")
        refuse(
          "precondition_failed",
          `the category ${category.name} (${category_id}) is archived`,
          "choose another category",
        );
      requireOpenMonth(budget, from);
      const original = getOriginal(budget);
      const currentLimit = getLimit(original.categories[category_id]!, from);
      if (currentLimit === limit)
        refuse("conflict", `the limit of ${category.name} is already ${limit} in ${from}`);
      for (const it of findLaterLimits(original, category_id, from)) {
        requireOpenMonth(original, it);
        requireFreeBudget(
          computeBalance(original, it).free,
          computeAddedPlan(original, category_id, it, limit),
          it,
        );
      }
      const spent = computeSpending(original, category_id, from);
      const free = roundToCents(
        computeBalance(original, from).free - computeAddedPlan(original, category_id, from, limit),
      );
      category.limits[from] = limit;
      return {
        category: category.name,
        category_id,
        from,
        limit,
        spent,
        left: roundToCents(limit - spent),
        free,
      };
    },
  }),
};

/** The months in which a limit holds that is set from this month on: until the next limit. */
function findLaterLimits(
  { months, categories }: Budget,
  categoryKey: string,
  from: string,
): string[] {
  const laterMonths = Object.keys(months)
    .filter(it => it >= from)
    .sort();
  const nextChange = laterMonths.findIndex(
    (it, i) => i > 0 && Object.hasOwn(categories[categoryKey]!.limits, it),
  );
  return nextChange < 0 ? laterMonths : laterMonths.slice(0, nextChange);
}

/** How much more of a month's income is planned if the category has this limit. */
function computeAddedPlan(
  budget: Budget,
  categoryKey: string,
  targetMonth: string,
  limit: number,
): number {
  const spent = computeSpending(budget, categoryKey, targetMonth);
  return roundToCents(
    Math.max(limit, spent) -
      Math.max(getLimit(budget.categories[categoryKey]!, targetMonth) ?? 0, spent),
  );
}

/** Refuses a plan that exceeds what is free of the month's income. */
function requireFreeBudget(free: number, addedPlan: number, targetMonth: string): void {
  if (addedPlan > Math.max(0, free))
    refuse(
      "precondition_failed",
      `${addedPlan} more would be planned in ${targetMonth}, and ${Math.max(0, free)} of its income is free`,
      "choose a smaller limit, or lower another one first",
    );
}

export const maxGoals = 30;

const goalRow = goals.fields({
  goal: [label("goal"), it => it.name],
  goal_id: goals.idField,
  target: cents(),
  saved: [cents(), (_, { id, world }) => computeSavings(world, id)],
  missing: [cents(), (it, { id, world }) => computeMissing(it, computeSavings(world, id))],
  by: day().optional(),
});

const computeMissing = ({ target }: Goal, saved: number): number =>
  roundToCents(Math.max(0, target - saved));

export const goalTools = {
  create_savings_goal: tool({
    effect: "write",
    summary: "Begin to save for something: how much it takes, and by when if that matters.",
    input: {
      name: phrase(2, 60).describe("What it is for").meta({
        examples: vocabulary.goals,
      }),
      target: target.describe("How much it takes, in euros"),
      by: day().optional().describe("Day by which it should be there, after today"),
    },
    returns: getSchemas(goalRow),
    run(budget, { name, target: targetAmount, by }, { now, newId }) {
      const original = getOriginal(budget);
      const today = now.slice(0, 10);
      const duplicate = Object.entries(original.goals).find(
        ([, it]) => it.name.toLowerCase() === name.trim().toLowerCase(),
      );
      if (duplicate)
        refuse(
          "conflict",
          `there is already a goal ${duplicate[1].name} (${duplicate[0]})`,
          "choose another name, or budget_contribute_to_goal",
        );
      if (by !== undefined && by <= today)
        refuse("precondition_failed", `${by} is not after today, ${today}`, "choose a later day");
      if (Object.keys(original.goals).length >= maxGoals)
        refuse("limit_exceeded", `the budget has ${maxGoals} goals already`);
      const goal_id = newId("goal");
      budget.goals[goal_id] = omitUndefined({
        name: name.trim(),
        target: targetAmount,
        by,
        created: today,
      });
      return omitUndefined({
        goal: name.trim(),
        goal_id,
        target: targetAmount,
        saved: 0,
        missing: targetAmount,
        by,
      });
    },
  }),
  contribute_to_goal: tool({
    effect: "write",
    summary:
      "Put money aside for a goal, out of what is free of this month's income and no more than the goal still needs.",
    input: { goal_id: goals.id, amount: goalAmount.describe("Amount in euros") },
    returns: {
      ...getSchemas(goalRow),
      reached: z.boolean(),
      free: cents().describe("What is still free of this month"),
    },
    run(budget, { goal_id, amount: contribution }, { now, newId }) {
      const { name, target: targetAmount } = goals.find(budget, goal_id);
      const original = getOriginal(budget);
      const missing = roundToCents(targetAmount - computeSavings(original, goal_id));
      const month = now.slice(0, 7);
      if (missing <= 0)
        refuse(
          "conflict",
          `${name} (${goal_id}) is reached: all of its ${targetAmount} is saved`,
          "choose another goal",
        );
      if (contribution > missing)
        refuse(
          "precondition_failed",
          `${name} (${goal_id}) needs only ${missing} more of its ${targetAmount}`,
          `put aside at most ${missing}`,
        );
      requireOpenMonth(original, month);
      const { free } = computeBalance(original, month);
      if (contribution > free)
        refuse(
          "precondition_failed",
          `${contribution} is more than the ${Math.max(0, free)} that is free in ${month}`,
          "choose a smaller amount, or lower a limit with budget_set_category_limit",
        );
      budget.contributions[newId("con")] = { goal_id, day: now.slice(0, 10), amount: contribution };
      const saved = roundToCents(targetAmount - missing + contribution);
      return {
        ...goals.show(goalRow, original, goal_id, now),
        saved,
        missing: roundToCents(missing - contribution),
        reached: contribution === missing,
        free: roundToCents(free - contribution),
      };
    },
  }),
  list_goals: goals.list({
    summary:
      "List savings goals by name with what is saved and missing, and what a month it takes to be there in time.",
    filters: {
      name: contains(label("goal"), "Only goals whose name contains this", it => it.name),
      status: meets(
        z.enum(["saving", "reached"]),
        "Only goals still being saved for, or only those reached",
        (it, status, { id, world }) =>
          (status === "reached") === (computeMissing(it, computeSavings(world, id)) === 0),
      ),
      due_before: meets(
        day(),
        "Only goals that should be reached before this day",
        (it, date) => it.by !== undefined && it.by < date,
      ),
    },
    order: ascending(it => it.name),
    limit: 10,
    row: {
      ...goalRow,
      a_month: [
        cents().optional().describe("What it takes a month from now on"),
        (it, { id, world, now }) =>
          computeMonthlySaving(computeMissing(it, computeSavings(world, id)), it.by, now),
      ],
    },
  }),
};

/** The missing amount divided by the remaining months. */
function computeMonthlySaving(
  missing: number,
  by: string | undefined,
  now: string,
): number | undefined {
  if (by === undefined || missing === 0) return undefined;
  const months = Math.max(1, Math.round(daysBetween(now, by) / 30.4));
  return Math.ceil((missing / months) * 100) / 100;
}
