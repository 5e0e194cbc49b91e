/**
 * Seeded chance: a stream that depends on a seed and a key only. Knows nothing of what is drawn
 * with it.
 */

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, n). */
  integer(n: number): number;
  /** True with this probability. */
  boolean(probability: number): boolean;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** One of a list that is not empty, each as likely as its weight. */
  pickWeighted<T>(list: readonly T[], weight: (it: T) => number): T;
  /** The list in another order. */
  shuffle<T>(list: readonly T[]): T[];
}

/** A stream that depends on the seed and on every word of the key. */
export function createRandom(seed: number, ...key: readonly (string | number)[]): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const text = key.join("/");
  for (let i = 0; i < text.length; i++)
    state = Math.imul(state ^ text.charCodeAt(i), 0x01000193) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
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
    shuffle(list) {
      const order = [...list];
      for (let i = order.length - 1; i > 0; i--) {
        const j = integer(i + 1);
        [order[i], order[j]] = [order[j]!, order[i]!];
      }
      return order;
    },
  };
}
