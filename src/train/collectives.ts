/**
 * Collective operations of threads over shared memory: a barrier, sums and broadcasts. Every
 * operation has the same result on every rank.
 */

export interface SharedMemory {
  /** How many threads take part. */
  readonly count: number;
  /** The most numbers that can be summed at once. */
  readonly floats: number;
  /**
   * How many threads wait at the barrier, how often it has opened, and whether the main thread has
   * interrupted the others.
   */
  readonly control: SharedArrayBuffer;
  /** The numbers that each rank contributes, in two sets for alternating operations. */
  readonly buffers: SharedArrayBuffer;
  /** The same for a single number in double precision. */
  readonly scalars: SharedArrayBuffer;
}

export interface Collectives {
  readonly rank: number;
  readonly count: number;
  /** Blocks until all ranks have called it. */
  readonly barrier: () => void;
  /** Replaces the values by their sum over all ranks, added in the order of ranks. */
  readonly allReduce: (values: Float32Array) => void;
  /** Returns the bytes of every rank, by rank. They can be of any length. */
  readonly gather: (bytes: Uint8Array) => Uint8Array[];
  /** Returns rank 0's value on every rank, so that all make the same decisions. */
  readonly broadcast: (value: number) => number;
  /** Whether any rank says so, on every rank. */
  readonly anyOf: (value: boolean) => boolean;
  /** Whether `interrupt` was called. Ranks may see it at different times. */
  readonly isInterrupted: () => boolean;
  /** Throws on every rank if their values differ. */
  readonly assertSame: (values: Float32Array) => void;
}

export const createSharedMemory = (count: number, floats: number): SharedMemory => ({
  count,
  floats,
  control: new SharedArrayBuffer(3 * 4),
  buffers: new SharedArrayBuffer(2 * count * floats * 4),
  scalars: new SharedArrayBuffer(2 * count * 8),
});

/** The cells of `control`. */
const [waiting, opened, interrupted] = [0, 1, 2];

/** Asks all threads to stop what they are doing. */
export const interrupt = ({ control }: SharedMemory): void =>
  void Atomics.store(new Int32Array(control), interrupted, 1);

export function openCollectives(
  { count, floats, control, buffers, scalars }: SharedMemory,
  rank: number,
): Collectives {
  const cells = new Int32Array(control);
  const barrier = () => {
    const before = Atomics.load(cells, opened);
    if (Atomics.add(cells, waiting, 1) === count - 1) {
      Atomics.store(cells, waiting, 0);
      Atomics.add(cells, opened, 1);
      Atomics.notify(cells, opened);
    } else while (Atomics.load(cells, opened) === before) Atomics.wait(cells, opened, before);
  };
  // two sets of buffers alternate, so that one barrier per operation is enough: no rank can write a
  // set again before all have read it
  let set = 0;
  const nextSet = () => (set = 1 - set) * count;
  /** Every rank's value, by rank. */
  const gatherScalars = (value: number): Float64Array => {
    const all = new Float64Array(scalars, nextSet() * 8, count);
    all[rank] = value;
    barrier();
    return all;
  };
  return {
    rank,
    count,
    barrier,
    allReduce(values) {
      if (count === 1) return; // there is nothing to add
      if (values.length > floats)
        throw new Error(`${values.length} numbers to sum where there is room for ${floats}`);
      const first = nextSet();
      const getPart = (of: number) =>
        new Float32Array(buffers, (first + of) * floats * 4, values.length);
      getPart(rank).set(values);
      barrier();
      values.set(getPart(0));
      for (let other = 1; other < count; other++) {
        const part = getPart(other);
        for (let i = 0; i < part.length; i++)
          values[i] = (values[i] as number) + (part[i] as number);
      }
    },
    gather(bytes) {
      if (count === 1) return [bytes];
      const parts = [...gatherScalars(bytes.length)].map(it => new Uint8Array(it));
      const room = floats * 4;
      const longest = Math.max(...parts.map(it => it.length));
      for (let at = 0; at < longest; at += room) {
        const first = nextSet();
        const getPart = (of: number) =>
          new Uint8Array(buffers, (first + of) * room, clamp(parts[of]!.length - at, room));
        getPart(rank).set(bytes.subarray(at, at + room));
        barrier();
        for (const [of, part] of parts.entries()) if (part.length > at) part.set(getPart(of), at);
      }
      return parts;
    },
    broadcast: value => gatherScalars(value)[0] as number,
    anyOf: value => gatherScalars(Number(value)).includes(1),
    isInterrupted: () => Atomics.load(cells, interrupted) === 1,
    assertSame(values) {
      const digests = gatherScalars(hashBits(values));
      const differs = digests.findIndex(it => it !== digests[0]);
      if (differs > 0) throw new Error(`replica ${differs} holds other numbers than replica 0`);
    },
  };
}

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, most));

/** A 32-bit digest of the bits of the numbers (FNV-1a over words). */
function hashBits(values: Float32Array): number {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return words.reduce((digest, word) => Math.imul(digest ^ word, 0x01000193) >>> 0, 0x811c9dc5);
}
