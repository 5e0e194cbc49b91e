/**
 * Numbers for tests: where the built programs lie, seeded random arrays, and how far two arrays are
 * apart.
 */
import { join } from "node:path";
import { expect } from "vitest";
import { mulberry32 } from "../../src/environment/random.ts";

/** The build puts the kernels there. */
export const programs = join(import.meta.dirname, "../../dist");

export function randomArray(n: number, seed: number): Float32Array {
  const uniform = mulberry32(seed);
  return Float32Array.from({ length: n }, () => uniform() * 2 - 1);
}

/**
 * The length of the difference over the length of what is expected, which counts as at least 1e-3;
 * NaN anywhere makes it NaN.
 */
export function distance(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  let [difference, whole] = [0, 0];
  for (let i = 0; i < expected.length; i++) {
    difference += (found[i]! - expected[i]!) ** 2;
    whole += expected[i]! ** 2;
  }
  return Math.sqrt(difference / Math.max(whole, 1e-6));
}

/**
 * Both hold as many numbers and are as close as single precision lets sums of a few hundred
 * products be.
 */
export function checkClose(
  found: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance = 1e-5,
  name = "",
): void {
  expect(found.length, name).toBe(expected.length);
  expect(distance(found, expected), name).toBeLessThan(tolerance);
}
