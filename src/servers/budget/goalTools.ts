/** The budget's tools for savings goals: what is saved for what, and out of which month. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { goalAmount, goalId, goalRow, listed, target } from "./parameters.ts";
import { balanceOf, Budget, goalOf, savedFor } from "./state.ts";

const tool = createToolFactory(Budget);

const mostGoals = 30;

const row = { ...goalRow, target: cents(), saved: cents(), missing: cents(), by: day().optional() };

function standing(budget: Budget, goalKey: string) {
  const { name, target: wanted, by } = budget.goals[goalKey]!;
  const saved = savedFor(budget, goalKey);
  return omitUndefined({
    goal: name,
    goal_id: goalKey,
    target: wanted,
    saved,
    missing: roundToCents(Math.max(0, wanted - saved)),
    by,
  });
}

export const goalTools = {
  create_savings_goal: tool({
    effect: "write",
    summary: "Begin to save for something: how much it takes, and by when if that matters.",
    input: {
      name: z
        .string()
        .min(2)
        .max(60)
        .regex(/\S/)
        .describe("What it is for")
        .meta({
          examples: [
            "New sofa",
            "Trip to the lakes",
            "Piano",
            "Camping gear",
            "Winter coat",
            "Anniversary dinner",
            "Language course",
            "Standing desk",
            "Telescope",
            "Balcony plants",
            "Bookshelf",
            "Surf lessons",
          ],
        }),
      target: target.describe("How much it takes, in euros"),
      by: day().optional().describe("Day by which it should be there, after today"),
    },
    returns: row,
    run(budget, { name, target: wanted, by }, { now, newId }) {
      const old = getOriginal(budget);
      const today = now.slice(0, 10);
      const same = Object.entries(old.goals).find(
        ([, it]) => it.name.toLowerCase() === name.trim().toLowerCase(),
      );
      if (same)
        refuse(
          "conflict",
          `there is already a goal ${same[1].name} (${same[0]})`,
          "choose another name, or budget_contribute_to_goal",
        );
      if (by !== undefined && by <= today)
        refuse("precondition_failed", `${by} is not after today, ${today}`, "choose a later day");
      if (Object.keys(old.goals).length >= mostGoals)
        refuse("limit_exceeded", `the budget has ${mostGoals} goals already`);
      const goal_id = newId("goal");
      budget.goals[goal_id] = omitUndefined({
        name: name.trim(),
        target: wanted,
        by,
        created: today,
      });
      return omitUndefined({
        goal: name.trim(),
        goal_id,
        target: wanted,
        saved: 0,
        missing: wanted,
        by,
      });
    },
  }),
  contribute_to_goal: tool({
    effect: "write",
    summary:
      "Put money aside for a goal, out of what is free of this month's income and no more than the goal still needs.",
    input: { goal_id: goalId, amount: goalAmount.describe("Amount in euros") },
    returns: {
      ...row,
      reached: z.boolean(),
      free: cents().describe("What is still free of this month"),
    },
    run(budget, { goal_id, amount: put }, { now, newId }) {
      const { name, target: wanted } = goalOf(budget, goal_id);
      const old = getOriginal(budget);
      const missing = roundToCents(wanted - savedFor(old, goal_id));
      const month = now.slice(0, 7);
      if (missing <= 0)
        refuse(
          "conflict",
          `${name} (${goal_id}) is reached: all of its ${wanted} is saved`,
          "choose another goal",
        );
      if (put > missing)
        refuse(
          "precondition_failed",
          `${name} (${goal_id}) needs only ${missing} more of its ${wanted}`,
          `put aside at most ${missing}`,
        );
      const { free } = balanceOf(old, month);
      if (put > free)
        refuse(
          "precondition_failed",
          `${put} is more than the ${Math.max(0, free)} that is free in ${month}`,
          "choose a smaller amount, or lower a limit with budget_set_category_limit",
        );
      budget.contributions[newId("con")] = { goal_id, day: now.slice(0, 10), amount: put };
      const saved = roundToCents(wanted - missing + put);
      return {
        ...standing(old, goal_id),
        saved,
        missing: roundToCents(missing - put),
        reached: put === missing,
        free: roundToCents(free - put),
      };
    },
  }),
  list_goals: tool({
    effect: "read",
    summary:
      "List savings goals by name with what is saved and missing, and what a month it takes to be there in time.",
    input: {
      name: label("goal").optional().describe("Only goals whose name contains this"),
      status: z
        .enum(["saving", "reached"])
        .optional()
        .describe("Only goals still being saved for, or only those reached"),
      due_before: day().optional().describe("Only goals that should be reached before this day"),
      limit: listed,
    },
    returns: {
      goals: z.array(
        z.object({
          ...row,
          a_month: cents().optional().describe("What it takes a month from now on"),
        }),
      ),
    },
    run(budget, { name, status, due_before, limit: most = 10 }, { now }) {
      const found = Object.entries(budget.goals)
        .filter(
          ([, it]) =>
            (!name || containsText(it.name, name)) &&
            (!due_before || (it.by !== undefined && it.by < due_before)),
        )
        .sort(([, x], [, y]) => (x.name < y.name ? -1 : 1))
        .map(([goal_id]) => standing(budget, goal_id))
        .filter(it => !status || (status === "reached") === (it.missing === 0));
      return {
        goals: found
          .slice(0, most)
          .map(it => omitUndefined({ ...it, a_month: aMonth(it.missing, it.by, now) })),
      };
    },
  }),
};

/** What is missing, spread over the months that are left. */
function aMonth(missing: number, by: string | undefined, now: string): number | undefined {
  if (by === undefined || missing === 0) return undefined;
  const months = Math.max(1, Math.round(daysBetween(now, by) / 30.4));
  return Math.ceil((missing / months) * 100) / 100;
}
