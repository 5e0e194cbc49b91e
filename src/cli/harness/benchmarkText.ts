/** Formats the results of official benchmarks in the form of the paper's table. */
import { getVerdict } from "../../evaluation/compare.ts";
import { escapeInvisible } from "../../trajectory/invisibleText.ts";
import { alignColumns } from "../evaluationText.ts";
import {
  computeDifferences,
  computeOverall,
  computeShares,
  type BenchmarkResult,
  type Difference,
} from "./benchmarkResult.ts";

/** The names of the categories in the table, in their order. */
export type CategoryNames = Readonly<Record<string, string>>;

const formatShare = (share: number): string => (100 * share).toFixed(1);

/** A row for each result, in percent, and the differences of the second from the first. */
export function formatResults(
  results: readonly BenchmarkResult[],
  names: CategoryNames,
): readonly string[] {
  const shares = results.map(computeShares);
  const known = new Set(shares.flat().map(it => it.category));
  const categories = Object.keys(names).filter(it => known.has(it));
  const rows = results.map((result, i) => [
    escapeInvisible(result.model),
    ...categories.map(category => {
      const found = shares[i]!.find(it => it.category === category);
      return found ? formatShare(found.share) : "–";
    }),
    formatShare(computeOverall(shares[i]!)),
    String(result.entries.length),
  ]);
  const heading = ["", ...categories.map(it => names[it]!), "Overall", "entries"];
  const [before, after] = results;
  const lines = alignColumns([heading, ...rows], 1);
  if (!before || !after) return lines;
  const differences = computeDifferences(before, after);
  return [
    ...lines,
    "",
    `${escapeInvisible(after.model)} − ${escapeInvisible(before.model)}, in points (95% intervals: paired bootstrap over scenarios)`,
    ...differences.map(it => formatDifference(it, names)),
  ];
}

function formatDifference({ category, entries, change }: Difference, names: CategoryNames): string {
  const name = (category === undefined ? "Overall" : (names[category] ?? category)).padEnd(10);
  if (!change) return `  ${name} too few entries (${entries})`;
  const [mean, low, high] = [change.mean, change.low, change.high].map(it => {
    const points = (100 * it).toFixed(1);
    return it < 0 ? points.replace("-", "−") : `+${points}`;
  });
  return `  ${name} ${mean} (${low} … ${high}) on ${entries} entries: ${getVerdict(change)}`;
}
