/** Formats the results of official benchmarks in the form of the paper's table. */
import { getVerdict } from "../evaluation/compare.ts";
import { computeMean } from "../evaluation/interval.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { alignColumns } from "./evaluationText.ts";
import {
  computeColumns,
  computeDifferences,
  computeShares,
  countRefusals,
  type BenchmarkResult,
  type BenchmarkTable,
  type Difference,
  type RefusalCount,
} from "../app/benchmark/benchmarkResult.ts";

const formatShare = (share: number | undefined): string =>
  share === undefined ? "–" : (100 * share).toFixed(1);

/** A row for each result, in percent, and the differences of the second from the first. */
export function formatResults(
  results: readonly BenchmarkResult[],
  { categories, overall }: BenchmarkTable,
): readonly string[] {
  const rows = results.map(it => computeColumns(computeShares(it), categories));
  const columns = [...new Set(Object.values(categories))].filter(it =>
    rows.some(row => row.has(it)),
  );
  const heading = ["", ...columns, overall, "entries"];
  const refused = results.map(it => countRefusals(it));
  const hasRefusals = refused.some(it => it.length > 0);
  const [before, after] = results;
  const table = alignColumns(
    [
      hasRefusals ? [...heading, "unanswered"] : heading,
      ...results.map((result, i) => [
        escapeInvisible(result.model),
        ...columns.map(it => formatShare(rows[i]!.get(it))),
        formatShare(computeMean([...rows[i]!.values()])),
        String(result.entries.length),
        ...(hasRefusals ? [String(countEntries(refused[i]!))] : []),
      ]),
    ],
    1,
  );
  const lines = [...table, ...results.flatMap((it, i) => formatRefusals(it, refused[i]!))];
  if (!before || !after) return lines;
  const differences = computeDifferences(before, after, categories);
  return [
    ...lines,
    "",
    `${escapeInvisible(after.model)} − ${escapeInvisible(before.model)}, in points (95% intervals: paired bootstrap over scenarios)`,
    ...differences.map(it => formatDifference(it, it.column ?? overall)),
    ...(before.user === after.user
      ? []
      : [
          `  the users were played by ${escapeInvisible(before.user ?? "")} and by ${escapeInvisible(after.user ?? "")}, which is part of the differences`,
        ]),
  ];
}

const countEntries = (refusals: readonly RefusalCount[]): number =>
  refusals.reduce((sum, it) => sum + it.entries, 0);

/** Entries without an answer count as wrong. */
const formatRefusals = (
  { model, entries }: BenchmarkResult,
  refusals: readonly RefusalCount[],
): readonly string[] =>
  refusals.map(
    it =>
      `${escapeInvisible(model)}: ${it.entries} of ${entries.length} entries were not answered: ${escapeInvisible(it.reason)}`,
  );

function formatDifference(
  { entries, change }: Pick<Difference, "entries" | "change">,
  column: string,
): string {
  const name = column.padEnd(10);
  if (!change) return `  ${name} too few entries (${entries})`;
  const [mean, low, high] = [change.mean, change.low, change.high].map(it => {
    const points = (100 * it).toFixed(1);
    return it < 0 ? points.replace("-", "−") : `+${points}`;
  });
  return `  ${name} ${mean} (${low} … ${high}) on ${entries} entries: ${getVerdict(change)}`;
}
