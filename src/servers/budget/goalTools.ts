/** Tools that create, fund and list savings goals. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, label, phrase } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { ascending, contains, getSchemas, meets } from "../kit/table.ts";
import { goalAmount, target } from "./parameters.ts";
import {
  Budget,
  computeBalance,
  computeSavings,
  goals,
  requireOpenMonth,
  type Goal,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Budget);

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
