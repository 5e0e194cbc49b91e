/** Formats measurements of several students on the same tasks as a table, and their differences. */
import { computeChange } from "../evaluation/compare.ts";
import type { Interval } from "../evaluation/interval.ts";
import { computeSlices } from "../evaluation/metrics.ts";
import { defaultProfile, paperProfile } from "../reward/profiles.ts";
import type { Alarm } from "../run/metrics.ts";
import type { Distance } from "../trajectory/seenTasks.ts";
import {
  alignColumns,
  comparedMetrics,
  formatDifference,
  isDecodingMixed,
} from "./evaluationText.ts";
import type { StudentMeasurement } from "../app/measureStudent.ts";

export interface MeasuredPolicy extends StudentMeasurement {
  readonly name: string;
  /** Training steps between the first row and this one. */
  readonly steps?: number;
  /** Attempts divided by the time of all steps, for GRPO. */
  readonly rolloutsPerSecond?: number;
  /** The alarms that held when its training ended. */
  readonly alarms: readonly Alarm[];
}

const formatShare = (share: number) => `${(100 * share).toFixed(1)}%`;
const formatReward = (profile: string) => (it: MeasuredPolicy) =>
  (it.greedy.metrics.reward[profile] ?? 0).toFixed(3);

const columns: readonly {
  readonly title: string | ((it: MeasuredPolicy) => string);
  readonly format: (it: MeasuredPolicy) => string;
}[] = [
  { title: "", format: it => it.name },
  { title: "success", format: it => formatShare(it.greedy.metrics.success) },
  {
    title: it => `mean@${it.sampled.metrics.samples}`,
    format: it => formatShare(it.sampled.metrics.success),
  },
  {
    title: it => `pass@${it.sampled.metrics.samples}`,
    format: it => formatShare(it.sampled.metrics.pass ?? 0),
  },
  { title: "near", format: it => formatDistance(it, "near") },
  { title: "far", format: it => formatDistance(it, "far") },
  { title: "reward", format: formatReward(defaultProfile.name) },
  { title: "paper", format: formatReward(paperProfile.name) },
  {
    title: "calls/budget",
    format: ({ greedy: { metrics } }) => `${metrics.calls.toFixed(2)}/${metrics.budget.toFixed(2)}`,
  },
  { title: "flat", format: it => `${(100 * it.zeroVariance).toFixed(0)}%` },
  { title: "steps", format: it => String(it.steps ?? "") },
  { title: "rollouts/s", format: it => it.rolloutsPerSecond?.toFixed(1) ?? "" },
];

/** The success on the tasks at a distance from the training tasks; empty if it is not known. */
function formatDistance({ greedy }: MeasuredPolicy, distance: Distance): string {
  const slice = computeSlices(greedy.rows).find(it => it.by === "distance" && it.is === distance);
  return slice ? formatShare(slice.success) : "";
}

interface Change {
  readonly metric: string;
  /** Undefined if the tasks are too few. */
  readonly change: Interval | undefined;
}

/** The differences of two measurements, success first. */
export function listChanges(before: MeasuredPolicy, after: MeasuredPolicy): readonly Change[] {
  const greedy = comparedMetrics.map(({ name, read }) => ({
    metric: name,
    change: computeChange(before.greedy.rows, [after.greedy.rows], read),
  }));
  const mean = {
    metric: `mean@${after.sampled.metrics.samples}`,
    change: computeChange(before.sampled.rows, [after.sampled.rows], it => Number(it.success)),
  };
  return [greedy[0]!, mean, ...greedy.slice(1)];
}

/**
 * Formats the table, a legend, and the differences from the first row with their intervals. Throws
 * if only some of the evaluations had constrained decoding.
 */
export function compareEvaluations(rows: readonly MeasuredPolicy[]): string[] {
  if (isDecodingMixed(rows.map(it => it.greedy)))
    throw new Error("evaluations with and without constrained decoding cannot be compared");
  const [before, ...after] = rows;
  const filled = columns
    .map(({ title, format }) => [
      typeof title === "string" ? title : title(before!),
      ...rows.map(format),
    ])
    .filter(([, ...cells]) => cells.some(it => it !== ""));
  const table = alignColumns(
    filled[0]!.map((_, i) => filled.map(column => column[i]!)),
    1,
  );
  const { greedy, sampled } = before!;
  const { samples } = sampled.metrics;
  const sampledTasks = new Set(sampled.rows.map(it => it.task)).size;
  const sets = new Set(greedy.rows.map(it => it.cluster)).size;
  return [
    `${greedy.rows.length} held-out tasks, one greedy attempt each; mean@${samples}, pass@${samples} and flat: ${samples} sampled attempts at each of ${sampledTasks} tasks`,
    ...table,
    `far: success on tasks with a set of tools that no training task contains and a turn that none has; reward: ${defaultProfile.name}, which the run trains on (the paper's five parts and success); paper: the five parts alone; flat: tasks at which all sampled attempts earn the same, which gives no gradient; rollouts/s: attempts of the training divided by its time, learning included`,
    ...after.flatMap(it => [
      "",
      `${it.name}, differences from ${before!.name} (95% intervals: bootstrap over the ${sets} sets of tools that the tasks need)`,
      ...listChanges(before!, it).map(
        ({ metric, change }) => `  ${formatDifference(metric, change)}`,
      ),
    ]),
  ];
}
