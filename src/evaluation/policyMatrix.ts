/**
 * Compares policies task by task: how many of each policy's attempts at a task succeed, the means
 * of each policy, and its differences from the first one, paired by task.
 */
import {
  computeChange,
  groupByTask,
  listTaskMeans,
  type MeasuredAttempt,
  type ReadMetric,
} from "./compare.ts";
import { computeMean, type Interval } from "./interval.ts";

/** An attempt with its result, which it lacks if it cannot be scored. */
export interface JudgedAttempt extends MeasuredAttempt {
  readonly success?: boolean;
  readonly total?: number;
  /** The first message of the user. */
  readonly request?: string;
}

/** What a policy did at a task. */
export interface MatrixCell {
  /** The attempts that were scored. */
  readonly attempts: number;
  readonly successes: number;
  /** Their mean reward. */
  readonly reward: number;
}

export interface MatrixRow {
  readonly task: string;
  readonly request: string;
  /** One per policy; null if it has no scored attempt at the task. */
  readonly cells: readonly (MatrixCell | null)[];
  /** The highest share of successes less the lowest one. */
  readonly spread: number;
}

/** A policy over all tasks that it attempted. */
export interface MatrixColumn {
  readonly tasks: number;
  readonly attempts: number;
  /** Attempts that cannot be scored; they are left out. */
  readonly unscored: number;
  /** The means over the tasks; absent if no attempt was scored. */
  readonly success?: number;
  readonly reward?: number;
  /** The differences from the first policy; absent for the first policy itself. */
  readonly change?: MatrixChange;
}

export interface MatrixChange {
  /** The number of tasks that both attempted. */
  readonly tasks: number;
  /** Absent if these tasks need fewer than two sets of tools. */
  readonly success?: Interval;
  readonly reward?: Interval;
}

export interface PolicyMatrix {
  /** The tasks on which the policies disagree most come first. */
  readonly rows: readonly MatrixRow[];
  /** One per policy. */
  readonly columns: readonly MatrixColumn[];
}

const readSuccess: ReadMetric<JudgedAttempt> = ({ success }) =>
  success === undefined ? undefined : Number(success);
const readReward: ReadMetric<JudgedAttempt> = it => it.total;

/** Compares policies by their attempts, with one list of attempts per policy. */
export function createMatrix(policies: readonly (readonly JudgedAttempt[])[]): PolicyMatrix {
  const scored = policies.map(attempts => attempts.filter(it => readSuccess(it) !== undefined));
  const byTask = scored.map(it => groupByTask(it));
  const requests = new Map<string, string>();
  for (const attempts of scored)
    for (const { task, request = "" } of attempts)
      if (!requests.has(task)) requests.set(task, request);
  const rows = [...requests].map(([task, request]) => {
    const cells = byTask.map(it => createCell(it.get(task)));
    return { task, request, cells, spread: computeSpread(cells) };
  });
  return {
    rows: rows.toSorted((a, b) => b.spread - a.spread || computeShare(a) - computeShare(b)),
    columns: scored.map((attempts, i) =>
      createColumn(attempts, {
        first: i === 0 ? undefined : scored[0]!,
        unscored: policies[i]!.length - attempts.length,
      }),
    ),
  };
}

function createCell(attempts: readonly JudgedAttempt[] | undefined): MatrixCell | null {
  if (!attempts) return null;
  return {
    attempts: attempts.length,
    successes: attempts.filter(it => it.success).length,
    reward: computeMean(attempts.map(it => it.total ?? 0)),
  };
}

const listShares = (cells: MatrixRow["cells"]): number[] =>
  cells.flatMap(it => (it ? [it.successes / it.attempts] : []));

function computeSpread(cells: MatrixRow["cells"]): number {
  const shares = listShares(cells);
  return Math.max(...shares) - Math.min(...shares);
}

const computeShare = ({ cells }: MatrixRow): number => computeMean(listShares(cells));

function createColumn(
  attempts: readonly JudgedAttempt[],
  { first, unscored }: { first: readonly JudgedAttempt[] | undefined; unscored: number },
): MatrixColumn {
  const successes = listTaskMeans(attempts, readSuccess);
  const counts = { tasks: successes.size, attempts: attempts.length, unscored };
  if (successes.size === 0) return counts;
  const mean = (read: ReadMetric<JudgedAttempt>) =>
    computeMean([...listTaskMeans(attempts, read).values()].map(it => it.value));
  const means = { ...counts, success: mean(readSuccess), reward: mean(readReward) };
  if (!first) return means;
  const firstTasks = groupByTask(first);
  const [success, reward] = [readSuccess, readReward].map(read =>
    computeChange(first, [attempts], read),
  );
  const change = {
    tasks: [...successes.keys()].filter(it => firstTasks.has(it)).length,
    ...(success && reward ? { success, reward } : {}),
  };
  return { ...means, change };
}
