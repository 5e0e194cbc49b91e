/** Writes that the final state does not show, because a later goal changes the same thing again. */
import { describe, expect, test } from "vitest";
import { createSolverJudge } from "../../src/evaluation/solverJudge.ts";
import { judges } from "../../src/evaluation/solvers/solvers.ts";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { judgeTask } from "../../src/synthesis/pipeline/task/attemptTask.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import type { Task } from "../../src/trajectory/task.ts";
import {
  call,
  calling,
  catalog,
  goal,
  saying,
  taskOf,
  transfer,
} from "../trajectory/sampleTasks.ts";

const card = { card_id: "card_211" };
const [freeze, unfreeze] = [
  call("freeze_card", card),
  call("unfreeze_card", { ...card, last_digits: "4417" }),
];
const move = transfer("acc_108", 50);
const done = saying("Done.");

/** "Block card_211", then "I found it", then a transfer. */
const freezeForAWhile = () =>
  taskOf({
    id: "t-freeze",
    users: [
      "Block card_211.",
      "I found it, unblock card_211, ending in 4417.",
      "Move 50 from acc_101 to acc_108.",
    ],
    goals: [
      goal([freeze]),
      goal([unfreeze], [{ goal: 0, kind: "implicit" }], 1),
      goal([move], [], 2),
    ],
    teacher: [calling(freeze), done, calling(unfreeze), done, calling(move), done],
  });

const judge = createSolverJudge(catalog, judges);

async function explain(task: Task, messages: readonly AssistantMessage[]): Promise<string> {
  const policy = createScriptedPolicy("test", messages);
  const { trajectory, finalState } = await rollout(task, policy, catalog);
  const { achieved, reasons } = getSuccess(
    createAttemptFactory(catalog)(task, trajectory, finalState),
  );
  return achieved ? "yes" : reasons.join("; ");
}

describe("a write that a later one undoes", () => {
  test("synthesis requires it", async () => {
    const { task, flaw } = await judgeTask(await freezeForAWhile(), judge);
    expect(flaw).toBeUndefined();
    const required = task.goals.flatMap(it => it.calls.filter(of => of.required));
    expect(required.map(it => it.name)).toEqual(["banking_freeze_card", "banking_unfreeze_card"]);
  });
  test("leaving it out is no success", async () => {
    const before = await freezeForAWhile();
    const idle = [done, done, calling(move), done];
    expect(await explain(before, idle)).toBe("yes");
    const { task } = await judgeTask(before, judge);
    expect(await explain(task, idle)).toBe(
      'banking_freeze_card(card_id: "card_211") was not called; banking_unfreeze_card(card_id: "card_211", last_digits: "4417") was not called',
    );
  });
  test("making both is a success", async () => {
    const { task } = await judgeTask(await freezeForAWhile(), judge);
    const both = [calling(freeze), done, calling(unfreeze), done, calling(move), done];
    expect(await explain(task, both)).toBe("yes");
  });
});
