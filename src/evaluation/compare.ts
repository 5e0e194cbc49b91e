/**
 * Compares policies on the same tasks, with intervals of the mean difference. A difference whose
 * interval contains 0 is not called one.
 */
import { computeInterval, computeMean, type Interval, type Observation } from "./interval.ts";
import type { EvaluationRow } from "./row.ts";

/** Reads a metric from a row; undefined where it has none, as parts of tasks without goals. */
export type ReadMetric = (row: EvaluationRow) => number | undefined;

/** The observations of the scored rows. */
export const listObservations = (
  rows: readonly EvaluationRow[],
  read: ReadMetric,
): readonly Observation[] =>
  rows.flatMap(it => {
    const value = it.unscorable === undefined ? read(it) : undefined;
    return value === undefined ? [] : [{ cluster: it.cluster, value }];
  });

/** The mean over a task's attempts of each task that was scored. */
export function listTaskMeans(
  rows: readonly EvaluationRow[],
  read: ReadMetric,
): ReadonlyMap<string, Observation> {
  const means = new Map<string, Observation>();
  for (const [task, attempts] of groupByTask(rows)) {
    const values = listObservations(attempts, read).map(it => it.value);
    if (values.length > 0)
      means.set(task, { cluster: attempts[0]!.cluster, value: computeMean(values) });
  }
  return means;
}

/** The scored rows of each task. */
export function groupByTask(
  rows: readonly EvaluationRow[],
): ReadonlyMap<string, readonly EvaluationRow[]> {
  const byTask = new Map<string, EvaluationRow[]>();
  for (const row of rows) {
    if (row.unscorable !== undefined) continue;
    const attempts = byTask.get(row.task);
    if (attempts) attempts.push(row);
    else byTask.set(row.task, [row]);
  }
  return byTask;
}

/**
 * The 95% interval of the mean of after − before, paired by task, over the tasks that both scored.
 * `runs` are the evaluations of one or several trainings that differ in their seed only. Undefined
 * if the tasks need fewer than two sets of tools.
 */
export function computeChange(
  before: readonly EvaluationRow[],
  runs: readonly (readonly EvaluationRow[])[],
  read: ReadMetric,
): Interval | undefined {
  const start = listTaskMeans(before, read);
  return computeInterval(
    runs.flatMap((rows, run) =>
      [...listTaskMeans(rows, read)].flatMap(([task, { cluster, value }]) => {
        const other = start.get(task);
        return other ? [{ cluster, value: value - other.value, run }] : [];
      }),
    ),
  );
}

/** What an interval of a difference allows to say. */
type Verdict = "higher" | "lower" | "no difference can be told";

export const getVerdict = ({ low, high }: Interval): Verdict =>
  low > 0 ? "higher" : high < 0 ? "lower" : "no difference can be told";
