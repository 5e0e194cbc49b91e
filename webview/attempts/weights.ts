/**
 * Computes rewards of attempts from the scores of their parts under other weights, and says how
 * well the reward then tells successes from failures.
 */
import type { AttemptRow, PartWeights } from "../../src/protocol/attemptsPage.ts";

/**
 * The total under some weights; undefined for an attempt without a reward. The abstention rule has
 * no parts, so its total does not depend on weights.
 */
export function computeTotal(
  { total, scores }: Pick<AttemptRow, "total" | "scores">,
  weights: PartWeights,
  hasFloor: boolean,
): number | undefined {
  const parts = Object.entries(scores);
  if (total === undefined || parts.length === 0) return total;
  const sum = parts.reduce((all, [name, score]) => all + score * (weights[name] ?? 0), 0);
  return hasFloor ? Math.max(0, sum) : sum;
}

/** How a reward orders attempts. */
export interface RewardOrder {
  readonly successes: number;
  readonly failures: number;
  /** Mean totals; undefined if there is no such attempt. */
  readonly successMean: number | undefined;
  readonly failureMean: number | undefined;
  /**
   * The share of the pairs of a success and a failure in which the success has the higher total; an
   * equal total counts half. Undefined if there is no such pair.
   */
  readonly agreement: number | undefined;
}

/** `totals` has the total of each row. */
export function describeOrder(
  rows: readonly Pick<AttemptRow, "success">[],
  totals: readonly (number | undefined)[],
): RewardOrder {
  const own: number[] = [];
  const others: number[] = [];
  for (const [i, total] of totals.entries())
    if (total !== undefined) (rows[i]!.success ? own : others).push(total);
  return {
    successes: own.length,
    failures: others.length,
    successMean: computeMean(own),
    failureMean: computeMean(others),
    agreement: computeAgreement(own, others),
  };
}

const computeMean = (values: readonly number[]) =>
  values.length === 0 ? undefined : values.reduce((sum, it) => sum + it, 0) / values.length;

/** Differences of totals that come from rounding alone. */
const tolerance = 1e-5;

function computeAgreement(
  successes: readonly number[],
  failures: readonly number[],
): number | undefined {
  if (successes.length === 0 || failures.length === 0) return undefined;
  const sorted = Float64Array.from(failures).sort();
  let sum = 0;
  for (const it of successes)
    sum += (countBelow(sorted, it - tolerance) + countBelow(sorted, it + tolerance)) / 2;
  return sum / (successes.length * failures.length);
}

/** How many of the sorted values are smaller. */
function countBelow(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
