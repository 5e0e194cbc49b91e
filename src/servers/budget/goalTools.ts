/** Tools that create, fund and list savings goals. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { goalAmount, goalId, goalRow, limit, target } from "./parameters.ts";
import { computeBalance, Budget, findGoal, requireOpenMonth, computeSavings } from "./state.ts";

const tool = createToolFactory(Budget);

export const maxGoals = 30;

const row = { ...goalRow, target: cents(), saved: cents(), missing: cents(), by: day().optional() };

function describeGoal(budget: Budget, goalKey: string) {
  const { name, target: targetAmount, by } = budget.goals[goalKey]!;
  const saved = computeSavings(budget, goalKey);
  return omitUndefined({
    goal: name,
    goal_id: goalKey,
    target: targetAmount,
    saved,
    missing: roundToCents(Math.max(0, targetAmount - saved)),
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
    input: { goal_id: goalId, amount: goalAmount.describe("Amount in euros") },
    returns: {
      ...row,
      reached: z.boolean(),
      free: cents().describe("What is still free of this month"),
    },
    run(budget, { goal_id, amount: contribution }, { now, newId }) {
      const { name, target: targetAmount } = findGoal(budget, goal_id);
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
        ...describeGoal(original, goal_id),
        saved,
        missing: roundToCents(missing - contribution),
        reached: contribution === missing,
        free: roundToCents(free - contribution),
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
      limit,
    },
    returns: {
      goals: z.array(
        z.object({
          ...row,
          a_month: cents().optional().describe("What it takes a month from now on"),
        }),
      ),
    },
    run(budget, { name, status, due_before, limit: maxRows = 10 }, { now }) {
      const rows = Object.entries(budget.goals)
        .filter(
          ([, it]) =>
            (!name || containsText(it.name, name)) &&
            (!due_before || (it.by !== undefined && it.by < due_before)),
        )
        .sort(([, x], [, y]) => (x.name < y.name ? -1 : 1))
        .map(([goal_id]) => describeGoal(budget, goal_id))
        .filter(it => !status || (status === "reached") === (it.missing === 0));
      return {
        goals: rows
          .slice(0, maxRows)
          .map(it =>
            omitUndefined({ ...it, a_month: computeMonthlySaving(it.missing, it.by, now) }),
          ),
      };
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
