/**
 * Evaluations of the same tasks side by side, as a table for a person. Every number in it was
 * measured.
 */
import type { Evaluation } from "../evaluation/evaluate.ts";
import type { Interval } from "../evaluation/interval.ts";
import { computeChange } from "../evaluation/metrics.ts";
import type { EvaluationRow } from "../evaluation/row.ts";
import { partNames, type PartName } from "../reward/breakdown.ts";
import { paperProfile, provePlusProfile } from "../reward/profiles.ts";

export interface MeasuredPolicy {
  readonly name: string;
  readonly evaluation: Evaluation;
  /** Share of sampled groups whose attempts all earned the same. */
  readonly zeroVariance: number;
  /** Training steps that lie between the first row and this one. */
  readonly steps?: number;
}

const shortNames: Readonly<Record<PartName, string>> = {
  validity: "valid",
  coverage: "cover",
  efficiency: "effic",
  name: "name",
  argument: "arg",
};

const columns: readonly { readonly title: string; readonly of: (it: MeasuredPolicy) => string }[] =
  [
    { title: "", of: it => it.name },
    {
      title: "reward",
      of: it => (it.evaluation.metrics.reward[provePlusProfile.name] ?? 0).toFixed(3),
    },
    { title: "paper", of: it => (it.evaluation.metrics.reward[paperProfile.name] ?? 0).toFixed(3) },
    ...partNames.map(part => ({
      title: shortNames[part],
      of: (it: MeasuredPolicy) => (it.evaluation.metrics.parts?.[part] ?? 0).toFixed(3),
    })),
    { title: "success", of: it => `${(100 * it.evaluation.metrics.success).toFixed(1)}%` },
    {
      title: "calls/budget",
      of: it =>
        `${it.evaluation.metrics.calls.toFixed(2)}/${it.evaluation.metrics.budget.toFixed(2)}`,
    },
    { title: "flat", of: it => `${(100 * it.zeroVariance).toFixed(0)}%` },
    { title: "tokens", of: it => (it.evaluation.metrics.tokensPerRollout ?? 0).toFixed(1) },
    { title: "rollouts/s", of: it => (it.evaluation.metrics.rolloutsPerSecond ?? 0).toFixed(1) },
    { title: "steps", of: it => String(it.steps ?? "") },
  ];

/** The table, what its words mean, and how sure the differences from the first row are. */
export function compareEvaluations(rows: readonly MeasuredPolicy[]): string[] {
  const cells = [columns.map(it => it.title), ...rows.map(row => columns.map(it => it.of(row)))];
  const widths = columns.map((_, i) => Math.max(...cells.map(row => row[i]!.length)));
  const table = cells.map(row =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join("  ")
      .trimEnd(),
  );
  const [before, ...after] = rows;
  return [
    `${rows[0]!.evaluation.rows.length} held-out tasks, one greedy attempt each`,
    ...table,
    `reward: ${provePlusProfile.name}, which the run trains on (the paper's five parts and success); paper: the five parts alone, their scores before the weights; flat: groups of 8 that give no gradient`,
    ...after.flatMap(it => [
      differenceLine(
        it.name,
        "reward",
        before!,
        it,
        row => row.breakdowns[provePlusProfile.name]!.total,
      ),
      differenceLine(
        it.name,
        "paper",
        before!,
        it,
        row => row.breakdowns[paperProfile.name]!.total,
      ),
      differenceLine(it.name, "success", before!, it, row => Number(row.success)),
    ]),
  ];
}

function differenceLine(
  name: string,
  what: string,
  before: MeasuredPolicy,
  after: MeasuredPolicy,
  of: (row: EvaluationRow) => number,
): string {
  const it = computeChange(before.evaluation.rows, after.evaluation.rows, of);
  return it
    ? `${name}: ${what} ${signed(it.mean)} (95% ${signed(it.low)} … ${signed(it.high)})${verdict(it)}`
    : `${name}: ${what}: nothing to compare`;
}

const signed = (value: number) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

const verdict = ({ low, high }: Interval) =>
  low > 0 ? ", higher" : high < 0 ? ", lower" : ", no difference that could be told";
