/**
 * The outcomes of a training on held-out tasks that experiments compare: success with greedy
 * decoding, the mean success of sampled attempts, and the calls that greedy attempts make. Small
 * enough to be kept for many trainings.
 */
import { z } from "zod";
import { listTaskMeans } from "../../src/evaluation/compare.ts";
import { computeInterval, type Interval, type Observation } from "../../src/evaluation/interval.ts";
import type { EvaluationRow } from "../../src/evaluation/row.ts";

const observations = z.record(z.string(), z.object({ cluster: z.string(), value: z.number() }));

/** The mean of each outcome at each task, by the task's id. */
export const outcomes = z.object({
  success: observations,
  sampledSuccess: observations,
  calls: observations,
});
export type Outcomes = z.infer<typeof outcomes>;
export const outcomeNames = ["success", "sampledSuccess", "calls"] as const;

/** An interval is undefined if the tasks need fewer than two sets of tools. */
export type OutcomeIntervals = Readonly<
  Record<(typeof outcomeNames)[number], Interval | undefined>
>;

/** The outcomes of greedy attempts, and of several sampled ones at each task. */
export const collectOutcomes = (
  greedy: readonly EvaluationRow[],
  sampled: readonly EvaluationRow[],
): Outcomes => ({
  success: Object.fromEntries(listTaskMeans(greedy, it => Number(it.success))),
  sampledSuccess: Object.fromEntries(listTaskMeans(sampled, it => Number(it.success))),
  calls: Object.fromEntries(listTaskMeans(greedy, it => it.calls)),
});

/** The means over tasks and runs that differ in their seed. */
export const measureOutcomes = (runs: readonly Outcomes[]): OutcomeIntervals =>
  mapOutcomes(name => runs.map(it => it[name]));

/** The means of after − before, paired by task and by the place of the run. */
export const compareOutcomes = (
  before: readonly Outcomes[],
  after: readonly Outcomes[],
): OutcomeIntervals =>
  mapOutcomes(name =>
    after.map((it, run) => {
      const start = before[run]![name];
      return Object.fromEntries(
        Object.entries(it[name]).flatMap(([task, { cluster, value }]) => {
          const other = start[task];
          return other ? [[task, { cluster, value: value - other.value }]] : [];
        }),
      );
    }),
  );

function mapOutcomes(
  list: (name: keyof Outcomes) => readonly Readonly<Record<string, Observation>>[],
): OutcomeIntervals {
  const compute = (name: keyof Outcomes) =>
    computeInterval(
      list(name).flatMap((tasks, run) => Object.values(tasks).map(it => ({ ...it, run }))),
    );
  return {
    success: compute("success"),
    sampledSuccess: compute("sampledSuccess"),
    calls: compute("calls"),
  };
}
