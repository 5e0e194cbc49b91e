/**
 * Numbers for tests: seeded random arrays and comparisons; and the folder of the built programs.
 */
import { join } from "node:path";
import { expect } from "vitest";
import { mulberry32 } from "../../src/environment/random.ts";

/** The folder of the built programs and kernels. */
export const programs = join(import.meta.dirname, "../../dist");

export function randomArray(n: number, seed: number): Float32Array {
  const uniform = mulberry32(seed);
  return Float32Array.from({ length: n }, () => uniform() * 2 - 1);
}

/**
 * The norm of the difference divided by the norm of the expected values, which counts as at least
 * 1e-3. NaN if any value is NaN.
 */
function computeDistance(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let [difference, total] = [0, 0];
  for (let i = 0; i < expected.length; i++) {
    difference += (actual[i]! - expected[i]!) ** 2;
    total += expected[i]! ** 2;
  }
  return Math.sqrt(difference / Math.max(total, 1e-6));
}

/**
 * Checks that the lengths are equal and that the values differ by no more than the rounding of sums
 * of a few hundred products in single precision.
 */
export function checkClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance = 1e-5,
  name = "",
): void {
  expect(actual.length, name).toBe(expected.length);
  expect(computeDistance(actual, expected), name).toBeLessThan(tolerance);
}
