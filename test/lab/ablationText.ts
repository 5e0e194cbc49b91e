/** Formats the outcomes of ablations as a table, and the differences with their intervals. */
import {
  compareOutcomes,
  measureOutcomes,
  outcomeNames,
  type OutcomeIntervals,
  type Outcomes,
} from "./outcomes.ts";
import { alignColumns, formatDifference } from "../../src/cli/evaluationText.ts";

/** The trainings under a reward profile. */
export interface MeasuredProfile {
  readonly name: string;
  readonly runs: { readonly seed: number; readonly outcomes: Outcomes }[];
}

export interface AblationSummary {
  /** The outcomes of the student that all trainings start from. */
  readonly before: Outcomes;
  readonly measured: readonly MeasuredProfile[];
  /** Attempts that were sampled at a task. */
  readonly samples: number;
}

/** A table with a row for the start and each profile, then the differences. */
export function formatAblations({ before, measured, samples }: AblationSummary): string[] {
  const titles = { success: "success", sampledSuccess: `mean@${samples}`, calls: "calls" };
  const formatRow = (name: string, runs: readonly Outcomes[]) => {
    const { success, sampledSuccess, calls } = measureOutcomes(runs);
    return [
      name,
      String(runs.length),
      formatShare(success?.mean),
      formatShare(sampledSuccess?.mean),
      calls?.mean.toFixed(2) ?? "",
    ];
  };
  const formatChanges = (title: string, changes: OutcomeIntervals) => [
    "",
    title,
    ...outcomeNames.map(it => `  ${formatDifference(titles[it], changes[it])}`),
  ];
  const listRuns = (it: MeasuredProfile) => it.runs.map(run => run.outcomes);
  const trained = measured.filter(it => it.runs.length > 0);
  const paper = trained.find(it => it.name === "paper");
  const sampledTasks = Object.keys(before.sampledSuccess).length;
  return [
    `${Object.keys(before.success).length} held-out tasks: success and calls of one greedy attempt, mean@${samples} at ${sampledTasks} of them`,
    ...alignColumns(
      [
        ["", "runs", ...outcomeNames.map(it => titles[it])],
        formatRow("start", [before]),
        ...trained.map(it => formatRow(it.name, listRuns(it))),
      ],
      1,
    ),
    "intervals: 95%, bootstrap over the sets of tools that the tasks need, and over seeds",
    ...trained.flatMap(it =>
      formatChanges(
        `${it.name} compared with the start`,
        compareOutcomes(
          it.runs.map(() => before),
          listRuns(it),
        ),
      ),
    ),
    ...(paper
      ? trained
          .filter(it => it !== paper)
          .flatMap(it => formatChanges(`${it.name} compared with paper`, comparePaired(paper, it)))
      : []),
  ];
}

const formatShare = (share: number | undefined) =>
  share === undefined ? "" : `${(100 * share).toFixed(1)}%`;

/** The differences of two profiles, over the seeds that both have. */
export function comparePaired(from: MeasuredProfile, to: MeasuredProfile) {
  const pairs = to.runs.flatMap(run => {
    const other = from.runs.find(it => it.seed === run.seed);
    return other ? [[other.outcomes, run.outcomes] as const] : [];
  });
  return compareOutcomes(
    pairs.map(it => it[0]),
    pairs.map(it => it[1]),
  );
}
