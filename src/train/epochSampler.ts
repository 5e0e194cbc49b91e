/** Seeded orders in which training visits its data. */
import { createKeyedStream, shuffle } from "../environment/random.ts";

/** The indices 0…n-1 in an order that depends only on the keys. */
export const shuffleIndices = (n: number, ...keys: readonly number[]): number[] =>
  shuffle(
    Array.from({ length: n }, (_, i) => i),
    createKeyedStream(...keys),
  );

/**
 * Samples the indices 0…n-1 without replacement, in a different order each epoch. The index at a
 * position does not depend on earlier calls.
 */
export function createEpochSampler(n: number, seed: number): (position: number) => number {
  let currentEpoch = -1;
  let order: readonly number[] = [];
  return position => {
    const epoch = Math.floor(position / n);
    if (epoch !== currentEpoch) order = shuffleIndices(n, seed, (currentEpoch = epoch));
    return order[position % n]!;
  };
}
