/**
 * Computes the metrics of a policy from the rows of its attempts. Reward and success are both
 * reported, because a reward can rise while success falls.
 */
import { partNames, type PartName } from "../reward/breakdown.ts";
import type { Profile } from "../reward/profiles.ts";
import { groupByTask, listObservations, type ReadMetric } from "./compare.ts";
import { computeInterval, computeMean, computeShareInterval, type Interval } from "./interval.ts";
import type { CallErrors, EvaluationRow } from "./row.ts";

export interface EvaluationMetrics {
  readonly attempts: number;
  /** Attempts that ended by a fault; they are left out of everything below. */
  readonly unscorable: number;
  /** Mean total by profile, over all tasks. */
  readonly reward: Readonly<Record<string, number>>;
  /** 95% intervals, of which tasks that need the same tools are one cluster. */
  readonly intervals: MetricIntervals;
  /** With several attempts per task: the share of tasks at which at least one succeeded. */
  readonly pass?: number;
  /** The most attempts at one task, k of mean@k and pass@k. */
  readonly samples: number;
  /** Mean score of each part before its weight, over tasks with goals. */
  readonly parts?: Readonly<Record<PartName, number>>;
  /** Mean score of the answer where something was to be told. */
  readonly answer?: number;
  /** Mean reward of tasks without goals. */
  readonly abstention?: number;
  /**
   * The share of successful attempts: of all tasks, those with goals, and those with reads only.
   */
  readonly success: number;
  readonly goalSuccess?: number;
  readonly readOnlySuccess?: number;
  /** Mean calls and mean budget B per attempt, and the share of attempts within the budget. */
  readonly calls: number;
  readonly budget: number;
  readonly withinBudget: number;
  /** Shares of all calls. */
  readonly errors: Readonly<Record<keyof CallErrors, number>>;
  readonly repeated: number;
  /** The share of tasks with goals on which the policy stopped after the first of several calls. */
  readonly lazy: number;
  /** The share of attempts that reached a limit. */
  readonly cut: number;
  readonly messages: number;
  readonly tokensPerRollout?: number;
  readonly attemptsPerSecond?: number;
}

/** An interval is absent if there are fewer than two clusters. */
interface MetricIntervals {
  /** By profile. */
  readonly reward: Readonly<Record<string, Interval | undefined>>;
  readonly success?: Interval | undefined;
  readonly pass?: Interval | undefined;
  readonly parts?: Readonly<Record<PartName, Interval | undefined>>;
}

/** Computes the metrics of rows. `seconds` is the wall time of all attempts, if it was measured. */
export function computeMetrics(
  rows: readonly EvaluationRow[],
  profiles: readonly Profile[],
  seconds?: number,
): EvaluationMetrics {
  const scored = rows.filter(it => it.unscorable === undefined);
  const first = profiles[0]!.name;
  const totals = (profile: string) => scored.map(it => it.breakdowns[profile]!.total);
  const tool = scored.filter(it => it.hasGoals);
  const n = scored.length;
  const calls = sum(scored, it => it.calls);
  const reported = scored.filter(it => it.tokens !== undefined);
  const attemptsByTask = groupByTask(rows);
  const samples = Math.max(1, ...[...attemptsByTask.values()].map(it => it.length));
  const passes = [...attemptsByTask.values()].map(attempts => ({
    cluster: attempts[0]!.cluster,
    value: Number(attempts.some(it => it.success)),
  }));
  const abstention = computeShare(
    scored.filter(it => !it.hasGoals),
    it => it.breakdowns[first]!.total,
  );
  const answers = scored.flatMap(
    ({ breakdowns }) =>
      Object.values(breakdowns).find(it => it.extras["answer"])?.extras["answer"]?.score ?? [],
  );
  const goalSuccess = computeShare(tool, it => Number(it.success));
  const readOnlySuccess = computeShare(
    scored.filter(it => it.readOnly),
    it => Number(it.success),
  );
  return {
    attempts: rows.length,
    samples,
    unscorable: rows.length - n,
    reward: Object.fromEntries(
      profiles.map(it => [it.name, n === 0 ? 0 : computeMean(totals(it.name))]),
    ),
    intervals: {
      reward: mapNames(
        profiles.map(it => it.name),
        name => computeRowInterval(rows, it => it.breakdowns[name]!.total),
      ),
      success: computeShareInterval(listObservations(rows, it => Number(it.success))),
      ...(samples > 1 ? { pass: computeShareInterval(passes) } : {}),
      ...(tool.length > 0
        ? {
            parts: mapNames(partNames, part =>
              computeRowInterval(tool, it => it.breakdowns[first]!.parts[part].score),
            ),
          }
        : {}),
    },
    ...(samples > 1 ? { pass: computeMean(passes.map(it => it.value)) } : {}),
    ...(tool.length ? { parts: computeParts(tool, first) } : {}),
    ...(answers.length > 0 ? { answer: computeMean(answers) } : {}),
    ...(abstention === undefined ? {} : { abstention }),
    success: divide(
      n,
      sum(scored, it => Number(it.success)),
    ),
    ...(goalSuccess === undefined ? {} : { goalSuccess }),
    ...(readOnlySuccess === undefined ? {} : { readOnlySuccess }),
    calls: divide(n, calls),
    budget: divide(
      n,
      sum(scored, it => it.budget),
    ),
    withinBudget: divide(n, scored.filter(it => it.calls <= it.budget).length),
    errors: {
      syntax: divide(
        calls,
        sum(scored, it => it.errors.syntax),
      ),
      tool: divide(
        calls,
        sum(scored, it => it.errors.tool),
      ),
      arguments: divide(
        calls,
        sum(scored, it => it.errors.arguments),
      ),
      refused: divide(
        calls,
        sum(scored, it => it.errors.refused),
      ),
    },
    repeated: divide(
      calls,
      sum(scored, it => it.repeated),
    ),
    lazy: divide(tool.length, tool.filter(it => it.isLazy).length),
    cut: divide(n, scored.filter(it => it.isCut).length),
    messages: divide(
      n,
      sum(scored, it => it.messages),
    ),
    ...(reported.length
      ? {
          tokensPerRollout: divide(
            reported.length,
            sum(reported, it => it.tokens!),
          ),
        }
      : {}),
    ...(seconds ? { attemptsPerSecond: rows.length / seconds } : {}),
  };
}

const sum = (rows: readonly EvaluationRow[], of: (row: EvaluationRow) => number) =>
  rows.reduce((total, it) => total + of(it), 0);
const divide = (n: number, total: number) => (n === 0 ? 0 : total / n);
const computeShare = (rows: readonly EvaluationRow[], of: (row: EvaluationRow) => number) =>
  rows.length === 0 ? undefined : computeMean(rows.map(of));

const computeParts = (rows: readonly EvaluationRow[], profile: string) =>
  Object.fromEntries(
    partNames.map(part => [
      part,
      computeMean(rows.map(it => it.breakdowns[profile]!.parts[part].score)),
    ]),
  ) as Record<PartName, number>;

const computeRowInterval = (rows: readonly EvaluationRow[], read: ReadMetric) =>
  computeInterval(listObservations(rows, read));

const mapNames = <Name extends string, T>(
  names: readonly Name[],
  compute: (name: Name) => T,
): Readonly<Record<Name, T>> =>
  Object.fromEntries(names.map(it => [it, compute(it)])) as Record<Name, T>;

// The results of an evaluation apart by split, distance, server, chain length, kind and knob.

/** The scored attempts at tasks with the same value of a property. */
export interface Slice {
  readonly by: string;
  readonly is: string;
  readonly attempts: number;
  readonly success: number;
  readonly successInterval?: Interval;
  /** Mean total by profile. */
  readonly reward: Readonly<Record<string, number>>;
}

/** A property with more values than this, such as a name, is not listed. */
const mostValues = 24;

/**
 * The slices of every property that has several values, and of those that are always listed: split,
 * distance and menu.
 */
export function computeSlices(rows: readonly EvaluationRow[]): readonly Slice[] {
  const byProperty = new Map<string, Map<string, EvaluationRow[]>>();
  for (const row of rows) {
    if (row.unscorable !== undefined) continue;
    for (const { by, is } of row.traits) {
      const values = byProperty.get(by) ?? new Map<string, EvaluationRow[]>();
      byProperty.set(by, values);
      const slice = values.get(is);
      if (slice) slice.push(row);
      else values.set(is, [row]);
    }
  }
  const isListed = (by: string, { size }: ReadonlyMap<string, unknown>) =>
    size <= mostValues && (size > 1 || ["split", "distance", "menu"].includes(by));
  return [...byProperty]
    .filter(([by, values]) => isListed(by, values))
    .flatMap(([by, values]) =>
      [...values]
        .sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
        .map(([is, slice]) => computeSlice(by, is, slice)),
    );
}

function computeSlice(by: string, is: string, rows: readonly EvaluationRow[]): Slice {
  const successes = listObservations(rows, it => Number(it.success));
  const interval = computeShareInterval(successes);
  return {
    by,
    is,
    attempts: rows.length,
    success: computeMean(successes.map(it => it.value)),
    ...(interval ? { successInterval: interval } : {}),
    reward: Object.fromEntries(
      Object.keys(rows[0]!.breakdowns).map(name => [
        name,
        computeMean(rows.map(it => it.breakdowns[name]!.total)),
      ]),
    ),
  };
}
