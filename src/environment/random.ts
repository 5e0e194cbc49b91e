/**
 * Seeded random numbers. The same seed gives the same numbers on every machine. Each algorithm is
 * here once: mulberry32 for streams, MurmurHash3's finalizer for numbers by key and counter.
 */

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, n). */
  integer(n: number): number;
  /** True with this probability. */
  boolean(probability: number): boolean;
  /** An item of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** An item of a list that is not empty, with a probability proportional to its weight. */
  pickWeighted<T>(list: readonly T[], weight: (it: T) => number): T;
  /** A copy of the list in random order. */
  shuffle<T>(list: readonly T[]): T[];
}

/** Creates a generator that depends on the seed and on every part of the key. */
export function createRandom(seed: number, ...key: readonly (string | number)[]): Random {
  const next = mulberry32(hashText(key.join("/"), seed ^ 0x9e3779b9));
  for (let i = 0; i < 4; i++) next();
  const integer = (n: number) => Math.floor(next() * n);
  return {
    next,
    integer,
    boolean: probability => next() < probability,
    pick: list => list[integer(list.length)]!,
    pickWeighted(list, weight) {
      let left = next() * list.reduce((sum, it) => sum + weight(it), 0);
      return list.find(it => (left -= weight(it)) < 0) ?? list.at(-1)!;
    },
    shuffle: list => shuffle(list, next),
  };
}

/** A copy of the list in random order (Fisher and Yates). `next` gives numbers in [0, 1). */
export function shuffle<T>(list: readonly T[], next: () => number): T[] {
  const order = [...list];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

/** A stream of numbers in [0, 1) that depends on the seed only (Tommy Ettinger's mulberry32). */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A stream of numbers in [0, 1), a different one for each list of keys. */
export function createKeyedStream(...keys: readonly number[]): () => number {
  let key = fnvBasis;
  for (const it of keys) key = mixBits((key ^ Math.trunc(it)) >>> 0);
  let n = 0;
  return () => randomAt(key, n++);
}

/** The n-th number of a key's stream, in [0, 1); it depends on nothing else. */
export const randomAt = (key: number, n: number): number =>
  mixBits((key + Math.imul(n + 1, 0x9e3779b9)) >>> 0) / 2 ** 32;

/** The key of a seed and a name. */
export const computeRandomKey = (seed: number, name: string): number =>
  hashText(name, fnvBasis ^ seed);

const fnvBasis = 2166136261;

/** FNV-1a over the text's UTF-16 code units, from a starting value. */
function hashText(text: string, start: number): number {
  let hash = start >>> 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0;
  return hash;
}

/** MurmurHash3's finalizer. */
function mixBits(word: number): number {
  let h = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
