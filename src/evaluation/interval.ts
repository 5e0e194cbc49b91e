/** 95% confidence intervals of means, by Student's t distribution. */

export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
}

export const computeMean = (values: readonly number[]): number =>
  values.reduce((sum, it) => sum + it, 0) / values.length;

/** The 95% t-interval of the mean of independent values; undefined for fewer than two. */
export function computeInterval(values: readonly number[]): Interval | undefined {
  const n = values.length;
  if (n < 2) return undefined;
  const mean = computeMean(values);
  const variance = values.reduce((sum, it) => sum + (it - mean) ** 2, 0) / (n - 1);
  const halfWidth = tQuantile(n - 1) * Math.sqrt(variance / n);
  return { mean, low: mean - halfWidth, high: mean + halfWidth, n };
}

/**
 * The 95% t-interval of the mean of after − before, the two measured on the same tasks in the same
 * order.
 */
export function computePairedInterval(
  before: readonly number[],
  after: readonly number[],
): Interval | undefined {
  if (before.length !== after.length)
    throw new Error(`${before.length} values before and ${after.length} after cannot be paired`);
  return computeInterval(after.map((it, i) => it - before[i]!));
}

const firstQuantiles = [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622];

/**
 * The 97.5% quantile of Student's t: a table for the first nine degrees of freedom, then the
 * Cornish-Fisher expansion (to 1e-4).
 */
function tQuantile(degreesOfFreedom: number): number {
  const tableValue = firstQuantiles[degreesOfFreedom - 1];
  if (tableValue !== undefined) return tableValue;
  const z = 1.959963984540054;
  return (
    z +
    (z ** 3 + z) / (4 * degreesOfFreedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degreesOfFreedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degreesOfFreedom ** 3)
  );
}
