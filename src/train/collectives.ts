/**
 * Numbers exchanged between threads through shared memory, with a barrier. Every operation has the
 * same result on every rank.
 */

export interface SharedMemory {
  readonly count: number;
  readonly floats: number;
  /** How many wait at the barrier, and how often it has opened. */
  readonly control: SharedArrayBuffer;
  /** For each turn (even, odd) and rank, the numbers it gives. */
  readonly buffers: SharedArrayBuffer;
  /** For each turn and rank, one number in double precision. */
  readonly scalars: SharedArrayBuffer;
}

export interface Collectives {
  readonly rank: number;
  readonly count: number;
  /** Waits for all. */
  readonly barrier: () => void;
  /** Replaces the values by their sum over all replicas. */
  readonly allReduce: (values: Float32Array) => void;
  /** The number that rank 0 gave: how replicas decide alike whether to stop, pause or save. */
  readonly broadcast: (value: number) => number;
  /** Throws, on every replica, where their values differ: they have drifted apart. */
  readonly assertSame: (values: Float32Array) => void;
}

export const createSharedMemory = (count: number, floats: number): SharedMemory => ({
  count,
  floats,
  control: new SharedArrayBuffer(2 * 4),
  buffers: new SharedArrayBuffer(2 * count * floats * 4),
  scalars: new SharedArrayBuffer(2 * count * 8),
});

export function openCollectives(
  { count, floats, control, buffers, scalars }: SharedMemory,
  rank: number,
): Collectives {
  const cells = new Int32Array(control);
  const [waiting, opened] = [0, 1];
  const barrier = () => {
    const before = Atomics.load(cells, opened);
    if (Atomics.add(cells, waiting, 1) === count - 1) {
      Atomics.store(cells, waiting, 0);
      Atomics.add(cells, opened, 1);
      Atomics.notify(cells, opened);
    } else while (Atomics.load(cells, opened) === before) Atomics.wait(cells, opened, before);
  };
  // two turns take turns, so that one barrier is enough: nobody can write a turn again before all
  // have read it
  let turn = 0;
  const next = () => (turn = 1 - turn) * count;
  const exchangeWord = (value: number): Float64Array => {
    const first = next();
    const all = new Float64Array(scalars, first * 8, count);
    all[rank] = value;
    barrier();
    return all;
  };
  return {
    rank,
    count,
    barrier,
    allReduce(values) {
      if (values.length > floats)
        throw new Error(`${values.length} numbers to sum where there is room for ${floats}`);
      const first = next();
      const partOf = (it: number) =>
        new Float32Array(buffers, (first + it) * floats * 4, values.length);
      partOf(rank).set(values);
      barrier();
      values.set(partOf(0));
      for (let other = 1; other < count; other++) {
        const part = partOf(other);
        for (let i = 0; i < part.length; i++)
          values[i] = (values[i] as number) + (part[i] as number);
      }
    },
    broadcast: value => exchangeWord(value)[0] as number,
    assertSame(values) {
      const digests = exchangeWord(hashBits(values));
      const differs = digests.findIndex(it => it !== digests[0]);
      if (differs > 0) throw new Error(`replica ${differs} holds other numbers than replica 0`);
    },
  };
}

/** A 32-bit digest of the numbers' bits (FNV-1a over words). */
function hashBits(values: Float32Array): number {
  const wordsOf = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return wordsOf.reduce((digest, word) => Math.imul(digest ^ word, 0x01000193) >>> 0, 0x811c9dc5);
}
