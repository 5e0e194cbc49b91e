/** Whether an attempt succeeded: the cheap answer agrees with the one that gives reasons. */
import { expect, test } from "vitest";
import { CallMemo } from "../../src/environment/session.ts";
import { playTask } from "./playTask.ts";
import { createSolverPolicy } from "../../src/evaluation/solvers/solver.ts";
import { solvers } from "../../src/evaluation/solvers/solvers.ts";
import { getSuccess, isAchieved } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { catalog } from "../contracts/transports.ts";
import { readSharedTasks } from "../synthesis/synthesizeTasks.ts";

test("every solver succeeds or fails alike, with and without reasons and repeated calls", async () => {
  const { tasks } = await readSharedTasks("paper");
  const createAttempt = createAttemptFactory(catalog);
  const counts = { succeeded: 0, failed: 0 };
  for (const task of tasks.slice(0, 8)) {
    const memo = new CallMemo();
    for (const solver of solvers)
      for (let choice = 0, choices = 1; choice < choices; choice++) {
        const [policy, other] = [0, 1].map(() => createSolverPolicy(solver, task, choice));
        const plain = await playTask(task, policy!, catalog, createAttempt);
        const repeated = await playTask(task, other!, catalog, createAttempt, { memo });
        choices = policy!.choices;
        expect(repeated.trajectory).toEqual(plain.trajectory);
        expect(repeated.states.final).toEqual(plain.states.final);
        const { achieved } = getSuccess(plain);
        expect(isAchieved(repeated), `${solver.name} on ${task.id}`).toBe(achieved);
        counts[achieved ? "succeeded" : "failed"]++;
      }
  }
  expect(counts.succeeded).toBeGreaterThan(10);
  expect(counts.failed).toBeGreaterThan(10);
});
