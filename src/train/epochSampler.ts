/** Seeded orders in which training data is visited. */
import { createKeyedStream, shuffle } from "../environment/random.ts";

/** 0…n-1 in an order that depends on the keys only. */
export const shuffleIndices = (n: number, ...keys: readonly number[]): number[] =>
  shuffle(
    Array.from({ length: n }, (_, i) => i),
    createKeyedStream(...keys),
  );

/**
 * Samples 0…n-1 without replacement, epoch after epoch, each in another order. The index at a
 * position is the same whenever it is asked for.
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
