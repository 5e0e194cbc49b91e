/** Formats evaluations of several policies on the same tasks as a table. */
import type { Evaluation } from "../evaluation/evaluate.ts";
import type { Interval } from "../evaluation/interval.ts";
import { computeChange } from "../evaluation/metrics.ts";
import type { EvaluationRow } from "../evaluation/row.ts";
import { partNames, type PartName } from "../reward/breakdown.ts";
import { paperProfile, provePlusProfile } from "../reward/profiles.ts";

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
  { title: "success", format: it => `${(100 * it.evaluation.metrics.success).toFixed(1)}%` },
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

/** Formats the table, a legend, and the differences from the first row with their intervals. */
export function compareEvaluations(rows: readonly MeasuredPolicy[]): string[] {
  const cells = [
    columns.map(it => it.title),
    ...rows.map(row => columns.map(it => it.format(row))),
  ];
  const widths = columns.map((_, i) => Math.max(...cells.map(row => row[i]!.length)));
  const table = cells.map(row =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join("  ")
      .trimEnd(),
  );
  const [before, ...after] = rows;
  const rewardOf = (profile: string) => (row: EvaluationRow) => row.breakdowns[profile]!.total;
  return [
    `${rows[0]!.evaluation.rows.length} held-out tasks, one greedy attempt each`,
    ...table,
    `reward: ${provePlusProfile.name}, which the run trains on (the paper's five parts and success); paper: the five parts alone, their scores before the weights; flat: groups of 8 that give no gradient`,
    ...after.flatMap(it => [
      formatDifference("reward", before!, it, rewardOf(provePlusProfile.name)),
      formatDifference("paper", before!, it, rewardOf(paperProfile.name)),
      formatDifference("success", before!, it, row => Number(row.success)),
    ]),
  ];
}

function formatDifference(
  metric: string,
  before: MeasuredPolicy,
  after: MeasuredPolicy,
  readMetric: (row: EvaluationRow) => number,
): string {
  const change = computeChange(before.evaluation.rows, after.evaluation.rows, readMetric);
  if (!change) return `${after.name}: ${metric}: nothing to compare`;
  const { mean, low, high } = change;
  return `${after.name}: ${metric} ${formatSigned(mean)} (95% ${formatSigned(low)} … ${formatSigned(high)})${formatVerdict(change)}`;
}

const formatSigned = (value: number) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

const formatVerdict = ({ low, high }: Interval) =>
  low > 0 ? ", higher" : high < 0 ? ", lower" : ", no difference that could be told";
