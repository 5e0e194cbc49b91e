/**
 * The budget's tools for categories and months: what there is to spend, what was spent, and what is
 * free.
 */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, label } from "../../environment/fieldSchemas.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  Budget,
  balanceOf,
  categoryOf,
  limitIn,
  monthOf,
  spentIn,
  requireOpenMonth,
} from "./state.ts";
import { categoryId, categoryRow, limitAmount, month } from "./parameters.ts";

const tool = createToolFactory(Budget);

const mostCategories = 40;

export const money = {
  limit: cents().optional().describe("Absent where none is set"),
  spent: cents(),
  left: cents().optional().describe("Below zero where more is spent than planned"),
};

/** A category's limit, what is spent of it and what is left. */
export function standing(budget: Budget, categoryKey: string, of: string) {
  const limit = limitIn(budget.categories[categoryKey]!, of);
  const spent = spentIn(budget, categoryKey, of);
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
    returns: { categories: z.array(z.object({ ...categoryRow, ...money })) },
    run(budget, { name, month: of, kind, over_limit, archived = false }, { now }) {
      const wanted = of ?? now.slice(0, 7);
      monthOf(budget, wanted);
      const found = Object.entries(budget.categories)
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
          ...standing(budget, category_id, wanted),
        }));
      return {
        categories: over_limit ? found.filter(it => it.left !== undefined && it.left < 0) : found,
      };
    },
  }),
  create_category: tool({
    effect: "write",
    summary: "Open a new spending category, with a limit from this month on if one is given.",
    input: {
      name: z
        .string()
        .min(2)
        .max(40)
        .regex(/\S/)
        .describe("Name of the category")
        .meta({
          examples: [
            "Pets",
            "Hobbies",
            "Birthday presents",
            "Repairs",
            "Coffee",
            "Magazines",
            "Parties",
            "Dry cleaning",
            "Donations",
            "Kitchen things",
            "Weekend trips",
            "Sewing",
          ],
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
      const old = getOriginal(budget);
      const same = Object.entries(old.categories).find(
        ([, it]) => it.name.toLowerCase() === name.trim().toLowerCase(),
      );
      if (same)
        refuse(
          "conflict",
          `there is already a category ${same[1].name} (${same[0]}), which is ${same[1].status}`,
          "choose another name",
        );
      if (Object.keys(old.categories).length >= mostCategories)
        refuse(
          "limit_exceeded",
          `the budget has ${mostCategories} categories already`,
          "use one of them",
        );
      if (fixed && limit === undefined) refuse("invalid_params", "a fixed category needs a limit");
      const { free } = balanceOf(old, now.slice(0, 7));
      if (limit !== undefined) requireFreeBudget(free, limit, now.slice(0, 7));
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
      category_id: categoryId,
      limit: limitAmount.describe("Limit a month, in euros"),
      month: month
        .optional()
        .describe("Month from which it holds, YYYY-MM; this month if not given"),
    },
    returns: {
      ...categoryRow,
      from: z.string(),
      ...money,
      free: cents().describe("What is still free of that month"),
    },
    run(budget, { category_id, limit, month: of }, { now }) {
      const category = categoryOf(budget, category_id);
      const from = of ?? now.slice(0, 7);
      if (category.status === "archived")
        refuse(
          "precondition_failed",
          `the category ${category.name} (${category_id}) is archived`,
          "choose another category",
        );
      requireOpenMonth(budget, from);
      const old = getOriginal(budget);
      const standard = limitIn(old.categories[category_id]!, from);
      if (standard === limit)
        refuse("conflict", `the limit of ${category.name} is already ${limit} in ${from}`);
      for (const it of findLaterLimits(old, category_id, from))
        requireFreeBudget(balanceOf(old, it).free, moreIn(old, category_id, it, limit), it);
      const spent = spentIn(old, category_id, from);
      const free = roundToCents(balanceOf(old, from).free - moreIn(old, category_id, from, limit));
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

/** The months in which a limit set from one of them on will hold. */
function findLaterLimits(
  { months, categories: all }: Budget,
  categoryKey: string,
  from: string,
): string[] {
  const later = Object.keys(months)
    .filter(it => it >= from)
    .sort();
  const next = later.findIndex((it, i) => i > 0 && Object.hasOwn(all[categoryKey]!.limits, it));
  return next < 0 ? later : later.slice(0, next);
}

/** How much more of a month is planned with this limit. */
function moreIn(budget: Budget, categoryKey: string, of: string, limit: number): number {
  const spent = spentIn(budget, categoryKey, of);
  return roundToCents(
    Math.max(limit, spent) - Math.max(limitIn(budget.categories[categoryKey]!, of) ?? 0, spent),
  );
}

/** Turns down to plan more than the income of the month allows. */
function requireFreeBudget(free: number, more: number, of: string): void {
  if (more > Math.max(0, free))
    refuse(
      "precondition_failed",
      `${more} more would be planned in ${of}, and ${Math.max(0, free)} of its income is free`,
      "choose a smaller limit, or lower another one first",
    );
}
