/** The results of an evaluation apart by split, distance, server, chain length, kind and knob. */
import { listObservations } from "./compare.ts";
import { computeShareInterval, computeMean, type Interval } from "./interval.ts";
import type { EvaluationRow } from "./row.ts";

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
