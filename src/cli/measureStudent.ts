/** Measures a student on held-out tasks, for the loop. */
import type { StoredModel } from "../model/modelFolder.ts";
import { rollout } from "../policy/rollout.ts";
import { provePlusProfile } from "../reward/profiles.ts";
import { isScored, scoreAttempt } from "../reward/reward.ts";
import { defaultGrpoSettings } from "../run/config.ts";
import { createAttemptFactory } from "../trajectory/attempt.ts";
import type { Task } from "../trajectory/task.ts";
import type { CliContext } from "./command.ts";
import type { MeasuredPolicy } from "./compareEvaluations.ts";
import { evaluatePolicy } from "./evaluate.ts";
import { greedy, openStudentModel } from "./policies.ts";

/**
 * Measures greedy attempts at every task, and samples groups at some tasks for the share that gives
 * no gradient.
 */
export async function measureStudent(
  name: string,
  stored: StoredModel,
  tasks: readonly Task[],
  context: CliContext,
): Promise<MeasuredPolicy> {
  const opened = await openStudentModel(stored, tasks, context, greedy);
  const evaluation = await evaluatePolicy(opened, tasks, context, `${name}: `);
  opened.dispose();
  return {
    name,
    evaluation,
    zeroVariance: await measureZeroVariance(stored, tasks.slice(0, 40), context),
  };
}

/** The share of groups whose attempts, sampled as in training, all have the same reward. */
async function measureZeroVariance(
  stored: StoredModel,
  tasks: readonly Task[],
  context: CliContext,
): Promise<number> {
  const { catalog, signal } = context;
  const opened = await openStudentModel(stored, tasks, context, { temperature: 1, seed: 7 });
  const createAttempt = createAttemptFactory(catalog);
  const groups = await Promise.all(
    tasks.map(async task => {
      const attempts = await Promise.all(
        Array.from({ length: defaultGrpoSettings.group }, (_, i) =>
          rollout(task, opened.policy, catalog, { id: `${task.id}/${i}`, signal }),
        ),
      );
      return attempts
        .map(it =>
          scoreAttempt(createAttempt(task, it.trajectory, it.finalState), provePlusProfile),
        )
        .filter(isScored)
        .map(it => it.total);
    }),
  );
  opened.dispose();
  return (
    groups.filter(group => Math.max(...group) - Math.min(...group) < 1e-6).length / groups.length
  );
}
