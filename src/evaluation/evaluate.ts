/**
 * Lets a policy attempt tasks, once each, and measures what came of it. Does not know what kind of
 * policy it was handed, nor what time it is unless it is given a clock.
 */
import type { Catalog } from "../environment/catalog.ts";
import type { Policy } from "../policy/policy.ts";
import { rollout } from "../policy/rollout.ts";
import { paperProfile, type Profile } from "../reward/profiles.ts";
import { createAttemptFactory } from "../trajectory/attempt.ts";
import type { Task } from "../trajectory/task.ts";
import type { Finished, Trajectory } from "../trajectory/trajectory.ts";
import { computeMetrics, type EvaluationMetrics } from "./metrics.ts";
import { measureAttempt, type EvaluationRow } from "./row.ts";

export interface EvaluateOptions {
  readonly catalog: Catalog;
  /**
   * The rewards to measure by; the paper's when absent. The first one's parts are the ones in the
   * metrics.
   */
  readonly profiles?: readonly Profile[];
  /** Attempts under way at once; 1 when absent. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  /** Seconds that only go up. Without it nothing is said about speed. */
  readonly clock?: () => number;
  /** Told after each attempt, in the order in which they end. */
  readonly onRow?: (row: EvaluationRow, trajectory: Finished<Trajectory>, done: number) => void;
}

export interface Evaluation {
  readonly policy: string;
  /** One a task, in the tasks' order. */
  readonly rows: readonly EvaluationRow[];
  readonly metrics: EvaluationMetrics;
}

/**
 * Attempts every task once. What a fault of the world cut off has a row without scores and counts
 * in no mean.
 */
export async function evaluate(
  tasks: readonly Task[],
  policy: Policy,
  options: EvaluateOptions,
): Promise<Evaluation> {
  const { catalog, profiles = [paperProfile], concurrency = 1, signal, clock, onRow } = options;
  const createAttempt = createAttemptFactory(catalog);
  const rows: EvaluationRow[] = [];
  let next = 0;
  let done = 0;
  const work = async () => {
    while (next < tasks.length) {
      const at = next++;
      const task = tasks[at]!;
      const { trajectory, finalState } = await rollout(
        task,
        policy,
        catalog,
        signal ? { signal } : {},
      );
      const row = measureAttempt(createAttempt(task, trajectory, finalState), profiles);
      rows[at] = row;
      onRow?.(row, trajectory, ++done);
    }
  };
  const start = clock?.() ?? 0;
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, work));
  const seconds = clock ? clock() - start : undefined;
  return { policy: policy.name, rows, metrics: computeMetrics(rows, profiles, seconds) };
}
