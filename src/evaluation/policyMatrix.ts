/**
 * Compares policies task by task: how many of each policy's attempts at a task succeed, the means
 * of each policy, and its differences from the first one, paired by task.
 */
import { computeIntervalInSteps, computeMean, type Interval } from "./interval.ts";
import type { EvaluationRow } from "./row.ts";

/** An attempt with its result, which it lacks if it cannot be scored. */
export interface JudgedAttempt extends Pick<EvaluationRow, "task" | "cluster"> {
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
  /** The differences from the first policy; absent for the first policy and until computed. */
  readonly change?: MatrixChange;
}

export interface MatrixChange {
  /** The number of tasks that both attempted. */
  readonly tasks: number;
  /** Absent if these tasks need fewer than two sets of tools. */
  readonly success?: Interval;
  readonly reward?: Interval;
}

interface PolicyMatrix {
  /** The tasks on which the policies disagree most come first. */
  readonly rows: readonly MatrixRow[];
  /** One per policy. */
  readonly columns: readonly MatrixColumn[];
}

/** What a policy did at a task. */
interface TaskTally {
  readonly cluster: string;
  readonly request: string;
  attempts: number;
  successes: number;
  /** The sum of the rewards. */
  reward: number;
}

type Tally = ReadonlyMap<string, TaskTally>;

/** Compares policies by their attempts, with one list of attempts per policy. */
export function createMatrix(policies: readonly (readonly JudgedAttempt[])[]): PolicyMatrix {
  const steps = computeChangesInSteps(policies);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return addChanges(createMatrixWithoutChanges(policies), step.value);
}

/** The matrix with the differences from the first policy that are known. */
export const addChanges = (
  { rows, columns }: PolicyMatrix,
  changes: readonly (MatrixChange | undefined)[],
): PolicyMatrix => ({
  rows,
  columns: columns.map((it, i) => {
    const change = changes[i];
    return change ? { ...it, change } : it;
  }),
});

/** The matrix without the differences from the first policy, whose intervals take some time. */
export function createMatrixWithoutChanges(
  policies: readonly (readonly JudgedAttempt[])[],
): PolicyMatrix {
  const tallies = policies.map(countByTask);
  const requests = new Map<string, string>();
  for (const tally of tallies)
    for (const [task, { request }] of tally) if (!requests.get(task)) requests.set(task, request);
  const rows = [...requests].map(([task, request]) => {
    const cells = tallies.map(it => createCell(it.get(task)));
    const shares = cells.flatMap(it => (it ? [it.successes / it.attempts] : []));
    const spread = Math.max(...shares) - Math.min(...shares);
    return { row: { task, request, cells, spread }, share: computeMean(shares) };
  });
  return {
    rows: rows
      .toSorted((a, b) => b.row.spread - a.row.spread || a.share - b.share)
      .map(it => it.row),
    columns: tallies.map((it, i) => createColumn(it, policies[i]!.length)),
  };
}

/**
 * Computes the differences of each policy from the first one, which has none itself, and yields
 * often enough for other work to be done meanwhile.
 */
export function* computeChangesInSteps(
  policies: readonly (readonly JudgedAttempt[])[],
): Generator<undefined, readonly (MatrixChange | undefined)[]> {
  const [first, ...others] = policies.map(countByTask);
  const changes: (MatrixChange | undefined)[] = [undefined];
  for (const tally of others) changes.push(yield* computeChangeInSteps(first!, tally));
  return changes;
}

function* computeChangeInSteps(first: Tally, tally: Tally): Generator<undefined, MatrixChange> {
  const pairs = [...tally].flatMap(([task, after]) => {
    const before = first.get(task);
    return before ? [{ before, after }] : [];
  });
  const compare = (read: (it: TaskTally) => number) =>
    computeIntervalInSteps(
      pairs.map(({ before, after }) => ({
        cluster: after.cluster,
        value: read(after) - read(before),
      })),
    );
  const success = yield* compare(it => it.successes / it.attempts);
  const reward = yield* compare(it => it.reward / it.attempts);
  return { tasks: pairs.length, ...(success && reward ? { success, reward } : {}) };
}

/** Counts the scored attempts of a policy at each task. */
function countByTask(attempts: readonly JudgedAttempt[]): Tally {
  const tally = new Map<string, TaskTally>();
  for (const { task, cluster, request = "", success, total = 0 } of attempts) {
    if (success === undefined) continue;
    let counts = tally.get(task);
    if (!counts)
      tally.set(task, (counts = { cluster, request, attempts: 0, successes: 0, reward: 0 }));
    counts.attempts++;
    counts.successes += Number(success);
    counts.reward += total;
  }
  return tally;
}

function createCell(counts: TaskTally | undefined): MatrixCell | null {
  if (!counts) return null;
  const { attempts, successes, reward } = counts;
  return { attempts, successes, reward: reward / attempts };
}

function createColumn(tally: Tally, count: number): MatrixColumn {
  const tasks = [...tally.values()];
  const attempts = tasks.reduce((sum, it) => sum + it.attempts, 0);
  const counts = { tasks: tasks.length, attempts, unscored: count - attempts };
  if (tasks.length === 0) return counts;
  return {
    ...counts,
    success: computeMean(tasks.map(it => it.successes / it.attempts)),
    reward: computeMean(tasks.map(it => it.reward / it.attempts)),
  };
}
