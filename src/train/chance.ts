/**
 * Chance that is the same on every machine: streams of numbers keyed by seeds, and orders to draw
 * from.
 */

/**
 * Numbers in [0, 1), a stream of its own for each list of keys (the finalizer of MurmurHash3 over a
 * counter).
 */
export function chanceOf(...keys: readonly number[]): () => number {
  let key = 2166136261;
  for (const it of keys) key = finalized((key ^ Math.trunc(it)) >>> 0);
  let n = 0;
  return () => finalized((key + Math.imul(++n, 0x9e3779b9)) >>> 0) / 2 ** 32;
}

function finalized(it: number): number {
  let h = Math.imul(it ^ (it >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** 0…n-1 in an order that the keys decide (Fisher and Yates). */
export function shuffled(n: number, ...keys: readonly number[]): number[] {
  const random = chanceOf(...keys);
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

/**
 * Draws without end from 0…n-1: every number once, then every number again in another order. The
 * same draw for the same place, whenever it is asked.
 */
export function drawing(n: number, seed: number): (place: number) => number {
  let epoch = -1;
  let order: readonly number[] = [];
  return place => {
    const wanted = Math.floor(place / n);
    if (wanted !== epoch) order = shuffled(n, seed, (epoch = wanted));
    return order[place % n]!;
  };
}
