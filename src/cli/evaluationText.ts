/** Formats the metrics of an evaluation, its slices, and differences between policies, as text. */
import { computeChange, getVerdict, type ReadMetric } from "../evaluation/compare.ts";
import type { Evaluation } from "../evaluation/evaluate.ts";
import type { Interval } from "../evaluation/interval.ts";
import type { EvaluationMetrics, Slice } from "../evaluation/metrics.ts";
import {
  createMatrix,
  type JudgedAttempt,
  type MatrixCell,
  type MatrixColumn,
} from "../evaluation/policyMatrix.ts";
import type { EvaluationRow } from "../evaluation/row.ts";
import { partNames } from "../reward/breakdown.ts";
import { defaultProfile, paperProfile } from "../reward/profiles.ts";
import { formatComputedWith, type ComputedWith } from "../run/backends.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";

const formatShare = (share: number) => `${(100 * share).toFixed(1)}%`;
const formatNumber = (value: number) => value.toFixed(4);
const formatRow = (name: string, value: string) => `${name.padEnd(22)}${value}`;

export const formatBackend = (it: ComputedWith): string =>
  formatRow("backend", escapeInvisible(formatComputedWith(it)));

const formatInterval = (interval: Interval | undefined, format: (value: number) => string) =>
  interval ? ` (95% ${format(interval.low)} … ${format(interval.high)})` : "";

/** The lines of the metrics, one per number. */
export function formatMetrics(it: EvaluationMetrics): string[] {
  const { intervals } = it;
  const { success, pass } = intervals;
  const attempts = it.samples > 1 ? `${it.attempts}, ${it.samples} at each task` : it.attempts;
  const faults = it.unscorable ? ` (${it.unscorable} ended by a fault, not counted)` : "";
  return [
    formatRow(it.samples > 1 ? "attempts" : "tasks", `${attempts}${faults}`),
    ...formatOptional("success with goals", it.goalSuccess, formatShare),
    ...formatOptional("  look-ups only", it.readOnlySuccess, formatShare),
    formatRow(
      it.samples > 1 ? `success, mean@${it.samples}` : "success",
      `${formatShare(it.success)}${formatInterval(success, formatShare)}`,
    ),
    ...(it.pass === undefined
      ? []
      : [
          formatRow(
            `success, pass@${it.samples}`,
            `${formatShare(it.pass)}${formatInterval(pass, formatShare)}`,
          ),
        ]),
    ...[paperProfile.name, defaultProfile.name].map(name =>
      formatRow(
        `reward, ${name}`,
        `${formatNumber(it.reward[name] ?? 0)}${formatInterval(intervals.reward[name], formatNumber)}`,
      ),
    ),
    ...(it.parts
      ? partNames.map(part =>
          formatRow(
            `  ${part}`,
            `${formatNumber(it.parts![part])}${formatInterval(intervals.parts?.[part], formatNumber)}`,
          ),
        )
      : []),
    ...formatOptional("  answer", it.answer, formatNumber),
    ...formatOptional("abstention", it.abstention, formatNumber),
    formatRow(
      "calls / budget",
      `${it.calls.toFixed(2)} / ${it.budget.toFixed(2)}, ${formatShare(it.withinBudget)} within`,
    ),
    formatRow("calls not parsed", formatShare(it.errors.syntax)),
    formatRow("calls to no tool", formatShare(it.errors.tool)),
    formatRow("arguments unfit", formatShare(it.errors.arguments)),
    formatRow("calls refused", formatShare(it.errors.refused)),
    formatRow("truncated", formatShare(it.cut)),
    ...formatOptional("tokens an attempt", it.tokensPerRollout, value => value.toFixed(1)),
    ...formatOptional("attempts a second", it.attemptsPerSecond, value => value.toFixed(1)),
  ];
}

const formatOptional = (
  name: string,
  value: number | undefined,
  format: (value: number) => string,
): string[] => (value === undefined ? [] : [formatRow(name, format(value))]);

/** A table of the slices, with the property before the first of its values. */
export function formatSlices(slices: readonly Slice[]): string[] {
  if (slices.length === 0) return [];
  const cells = slices.map((it, i) => [
    slices[i - 1]?.by === it.by ? "" : escapeInvisible(it.by),
    escapeInvisible(it.is),
    String(it.attempts),
    formatShare(it.success),
    it.successInterval
      ? `${formatShare(it.successInterval.low)} … ${formatShare(it.successInterval.high)}`
      : "",
    (it.reward[paperProfile.name] ?? 0).toFixed(3),
  ]);
  const header = ["by", "", "attempts", "success", "95%", "paper"];
  return ["", ...alignColumns([header, ...cells], 2)];
}

/** Aligns the cells of a table: the first columns to the left, the others to the right. */
export function alignColumns(rows: readonly (readonly string[])[], left: number): string[] {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map(row => row[i]!.length)));
  return rows.map(row =>
    row
      .map((cell, i) => (i < left ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join("  ")
      .trimEnd(),
  );
}

/** The metrics that two policies are compared by. */
export const comparedMetrics: readonly { readonly name: string; readonly read: ReadMetric }[] = [
  { name: "success", read: it => Number(it.success) },
  { name: "reward", read: it => it.breakdowns[defaultProfile.name]!.total },
  { name: "paper", read: it => it.breakdowns[paperProfile.name]!.total },
  ...partNames.map(part => ({
    name: part,
    read: (it: EvaluationRow) =>
      it.hasGoals ? it.breakdowns[paperProfile.name]!.parts[part].score : undefined,
  })),
];

/** A difference in words: its mean, its interval, and what can be told from it. */
export function formatDifference(metric: string, change: Interval | undefined): string {
  if (!change) return `${metric}: the tasks are too few to compare`;
  const { mean, low, high, runs } = change;
  if (mean === 0 && low === 0 && high === 0) return `${metric}: unchanged`;
  const basis = runs > 1 ? `, ${runs} runs` : "";
  return `${metric} ${formatSigned(mean)} (95% ${formatSigned(low)} … ${formatSigned(high)}${basis}): ${getVerdict(change)}`;
}

/** A line that says that decoding was constrained. */
export const formatDecoding = ({ decoding }: Pick<Evaluation, "decoding">): string[] =>
  decoding ? [formatRow("decoding", decoding)] : [];

/** Whether some policies of a comparison had constrained decoding and others not. */
export const isDecodingMixed = (all: readonly Pick<Evaluation, "decoding">[]): boolean =>
  new Set(all.map(it => it.decoding)).size > 1;

/** What to know before comparing policies, if not all had constrained decoding. */
export function formatDecodingDifference(
  all: readonly Pick<Evaluation, "policy" | "decoding">[],
): string[] {
  if (!isDecodingMixed(all)) return [];
  const free = all.filter(it => !it.decoding).map(it => it.policy);
  return [`decoding was constrained, but not that of ${free.join(", ")}: differences include this`];
}

/** The lines that compare the runs of one training with a policy. */
export const formatComparison = (
  before: readonly EvaluationRow[],
  runs: readonly (readonly EvaluationRow[])[],
): string[] =>
  comparedMetrics.map(({ name, read }) =>
    formatDifference(name, computeChange(before, runs, read)),
  );

/** The attempts of a policy, or of a file. */
interface NamedAttempts {
  readonly name: string;
  readonly attempts: readonly JudgedAttempt[];
}

export const toJudged = ({ task, cluster, success, breakdowns }: EvaluationRow): JudgedAttempt => {
  const total = breakdowns[defaultProfile.name]?.total;
  return { task, cluster, ...(total === undefined ? {} : { success, total }) };
};

/** The JSON of a comparison by task. */
export function createMatrixDocument(policies: readonly NamedAttempts[]) {
  const { rows, columns } = createMatrix(policies.map(it => it.attempts));
  return {
    policies: columns.map((it, i) => ({ name: policies[i]!.name, ...it })),
    tasks: rows.map(({ task, spread, cells }) => ({ task, spread, policies: cells })),
  };
}

/**
 * A table of the tasks on which policies disagree, with the successes of each policy, and below it
 * the mean of each policy and its difference from the first one.
 */
export function formatMatrix(policies: readonly NamedAttempts[]): string[] {
  const { rows, columns } = createMatrix(policies.map(it => it.attempts));
  const different = rows.filter(it => it.spread > 0);
  const formatCells = (format: (column: MatrixColumn) => string) => columns.map(format);
  const formatMean = (it: number | undefined, format: (value: number) => string) =>
    it === undefined ? "–" : format(it);
  return [
    ...alignColumns(
      [
        ["task", ...policies.map(it => escapeInvisible(it.name))],
        ...different.map(it => [escapeInvisible(it.task), ...it.cells.map(formatCell)]),
        ["tasks", ...formatCells(it => String(it.tasks))],
        ["success", ...formatCells(it => formatMean(it.success, formatShare))],
        ["reward", ...formatCells(it => formatMean(it.reward, formatNumber))],
      ],
      1,
    ),
    `${rows.length - different.length} of ${rows.length} tasks, on which no two policies differ, are not listed`,
    ...columns.flatMap(({ change, unscored }, i) => [
      ...(unscored > 0
        ? [`${policies[i]!.name}: ${unscored} attempt${unscored === 1 ? "" : "s"} not scored`]
        : []),
      ...(change
        ? [
            `${policies[i]!.name} compared with ${policies[0]!.name}, tasks in common: ${change.tasks}`,
            `  ${formatDifference("success", change.success)}`,
            `  ${formatDifference("reward", change.reward)}`,
          ].map(escapeInvisible)
        : []),
    ]),
  ];
}

const formatCell = (cell: MatrixCell | null): string =>
  cell ? `${cell.successes}/${cell.attempts}` : "–";

const formatSigned = (value: number) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
