/** Lets a policy attempt a task, and opens the attempt for scoring. */
import type { Catalog } from "../../src/environment/catalog.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { rollout, type RolloutOptions } from "../../src/policy/rollout.ts";
import type { Attempt, CreateAttempt } from "../../src/trajectory/attempt.ts";
import type { Task } from "../../src/trajectory/task.ts";

export async function playTask(
  task: Task,
  policy: Policy,
  catalog: Catalog,
  createAttempt: CreateAttempt,
  options: Pick<RolloutOptions, "signal" | "memo"> = {},
): Promise<Attempt> {
  const { trajectory, finalState } = await rollout(task, policy, catalog, options);
  return createAttempt(task, trajectory, finalState);
}
