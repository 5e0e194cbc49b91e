/** Evaluates a policy: runs it on each task and computes metrics of the attempts. */
import type { Catalog } from "../environment/catalog.ts";
import type { Policy } from "../policy/policy.ts";
import { rollout } from "../policy/rollout.ts";
import { createAttemptHeader } from "../policy/taskConversation.ts";
import type { Profile } from "../reward/profiles.ts";
import { createScorer } from "../reward/scorer.ts";
import type { SeenTasks } from "../trajectory/seenTasks.ts";
import type { Task } from "../trajectory/task.ts";
import {
  asFinished,
  type Finished,
  type Header,
  type Trajectory,
} from "../trajectory/trajectory.ts";
import { describeFailure, UserError } from "../userError.ts";
import { computeMetrics, type EvaluationMetrics } from "./metrics.ts";
import { measureAttempt, type EvaluationRow } from "./row.ts";

interface EvaluateOptions {
  readonly catalog: Catalog;
  /** The reward profiles. Metrics contain the parts of the first one. */
  readonly profiles: readonly Profile[];
  /** The number of attempts at each task; 1 if absent. */
  readonly samples?: number;
  /** The tasks that the policy was trained on, to tell near tasks from far ones. */
  readonly seen?: SeenTasks;
  /** The number of attempts at a time; 1 if absent. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  /** A monotonic clock in seconds. Without it, metrics do not include speed. */
  readonly clock?: () => number;
  /** Receives the error of an attempt that failed because of a bug. The others go on. */
  readonly onBug?: (error: unknown) => void;
  /** Called after each attempt, in the order in which they end. */
  readonly onRow?: (row: EvaluationRow, trajectory: Finished<Trajectory>, done: number) => void;
}

export interface Evaluation {
  readonly policy: string;
  /** Absent if the policy may write any token. */
  readonly decoding?: "constrained";
  /** One row per attempt, in the order of the tasks. */
  readonly rows: readonly EvaluationRow[];
  readonly metrics: EvaluationMetrics;
}

/**
 * Attempts every task once or `samples` times. An attempt that ends by a fault, such as a bug of
 * this program, has a row without scores and is left out of all means. Throws a `UserError` for a
 * task that cannot be attempted.
 */
export async function evaluate(
  tasks: readonly Task[],
  policy: Policy,
  options: EvaluateOptions,
): Promise<Evaluation> {
  const { catalog, profiles, concurrency = 1, signal, clock } = options;
  const { samples = 1, seen, onBug, onRow } = options;
  const score = createScorer(catalog);
  const attempts = samples * tasks.length;
  const rows: EvaluationRow[] = [];
  let next = 0;
  let done = 0;
  const attempt = async (task: Task, sample: number) => {
    const own = samples > 1 ? { id: `${task.id}/${sample}` } : {};
    try {
      const done = await rollout(task, policy, catalog, { ...(signal ? { signal } : {}), ...own });
      return {
        row: measureAttempt(score(done, ...profiles), seen),
        trajectory: done.trajectory,
      };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof UserError) throw error;
      onBug?.(error);
      const header = createAttemptHeader(task, catalog, policy.name, own);
      const trajectory = createFailedTrajectory(header, error);
      return { row: measureAttempt(score({ task, trajectory }, ...profiles), seen), trajectory };
    }
  };
  const work = async () => {
    while (next < attempts) {
      const at = next++;
      const { row, trajectory } = await attempt(tasks[Math.floor(at / samples)]!, at % samples);
      rows[at] = row;
      onRow?.(row, trajectory, ++done);
    }
  };
  const start = clock?.() ?? 0;
  await Promise.all(Array.from({ length: Math.min(concurrency, attempts) }, work));
  const seconds = clock ? clock() - start : undefined;
  const decoding = policy.decoding ? { decoding: policy.decoding } : {};
  return {
    policy: policy.name,
    ...decoding,
    rows,
    metrics: computeMetrics(rows, profiles, seconds),
  };
}

/** The record of an attempt whose own was lost. */
const createFailedTrajectory = (header: Header, error: unknown): Finished<Trajectory> =>
  asFinished({ header, events: [{ kind: "ended", by: "fault", fault: describeFailure(error) }] })!;
