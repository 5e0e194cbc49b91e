/** Formats evaluations of several policies on the same tasks as a table. */
import { computeChange } from "../evaluation/compare.ts";
import type { Evaluation } from "../evaluation/evaluate.ts";
import { partNames, type PartName } from "../reward/breakdown.ts";
import { paperProfile, provePlusProfile } from "../reward/profiles.ts";
import { computeSlices } from "../evaluation/slices.ts";
import type { Distance } from "../trajectory/seenTasks.ts";
import { alignColumns, comparedMetrics, formatDifference } from "./evaluationText.ts";

export interface MeasuredPolicy {
  readonly name: string;
  readonly evaluation: Evaluation;
  /** Share of sampled groups whose attempts all have the same reward. */
  readonly zeroVariance: number;
  /** Training steps between the first row and this one. */
  readonly steps?: number;
}

const shortNames: Readonly<Record<PartName, string>> = {
  validity: "valid",
  coverage: "cover",
  efficiency: "effic",
  name: "name",
  argument: "arg",
};

const formatShare = (share: number) => `${(100 * share).toFixed(1)}%`;

const columns: readonly {
  readonly title: string;
  readonly format: (it: MeasuredPolicy) => string;
}[] = [
  { title: "", format: it => it.name },
  {
    title: "reward",
    format: it => (it.evaluation.metrics.reward[provePlusProfile.name] ?? 0).toFixed(3),
  },
  {
    title: "paper",
    format: it => (it.evaluation.metrics.reward[paperProfile.name] ?? 0).toFixed(3),
  },
  ...partNames.map(part => ({
    title: shortNames[part],
    format: (it: MeasuredPolicy) => (it.evaluation.metrics.parts?.[part] ?? 0).toFixed(3),
  })),
  { title: "success", format: it => formatShare(it.evaluation.metrics.success) },
  { title: "near", format: it => formatDistance(it, "near") },
  { title: "far", format: it => formatDistance(it, "far") },
  {
    title: "calls/budget",
    format: it =>
      `${it.evaluation.metrics.calls.toFixed(2)}/${it.evaluation.metrics.budget.toFixed(2)}`,
  },
  { title: "flat", format: it => `${(100 * it.zeroVariance).toFixed(0)}%` },
  { title: "tokens", format: it => (it.evaluation.metrics.tokensPerRollout ?? 0).toFixed(1) },
  { title: "rollouts/s", format: it => (it.evaluation.metrics.rolloutsPerSecond ?? 0).toFixed(1) },
  { title: "steps", format: it => String(it.steps ?? "") },
];

/** The success on the tasks at a distance from the training tasks; empty if it is not known. */
function formatDistance({ evaluation }: MeasuredPolicy, distance: Distance): string {
  const slice = computeSlices(evaluation.rows).find(
    it => it.by === "distance" && it.is === distance,
  );
  return slice ? formatShare(slice.success) : "";
}

/** Formats the table, a legend, and the differences from the first row with their intervals. */
export function compareEvaluations(rows: readonly MeasuredPolicy[]): string[] {
  const filled = columns
    .map(({ title, format }) => [title, ...rows.map(format)])
    .filter(([, ...cells]) => cells.some(it => it !== ""));
  const table = alignColumns(
    filled[0]!.map((_, i) => filled.map(column => column[i]!)),
    1,
  );
  const [before, ...after] = rows;
  const start = before!.evaluation.rows;
  const sets = new Set(start.map(it => it.cluster)).size;
  return [
    `${start.length} held-out tasks, one greedy attempt each`,
    ...table,
    `reward: ${provePlusProfile.name}, which the run trains on (the paper's five parts and success); paper: the five parts alone, their scores before the weights; flat: groups of 8 that give no gradient; far: success on tasks with a set of tools that no training task contains and a turn that none has`,
    `intervals: bootstrap over the ${sets} sets of tools that the tasks need`,
    ...after.flatMap(it =>
      comparedMetrics.map(
        ({ name, read }) =>
          `${it.name}: ${formatDifference(name, computeChange(start, [it.evaluation.rows], read))}`,
      ),
    ),
  ];
}
