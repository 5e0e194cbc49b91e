/**
 * The digest of a deeply frozen value: a hash tree, cached by object identity, so that after a
 * write only new objects are hashed. It is fast and mixes well, but is not cryptographic: it tells
 * states apart and does not protect against forgery.
 */

/** The hash of a state: equal digests mean equal states. 32 hexadecimal characters. */
export type Digest = string & { readonly digest: unique symbol };

/** A hash of 128 bits, as four signed 32-bit integers, which V8 stores without allocating. */
export interface Hash {
  a: number;
  b: number;
  c: number;
  d: number;
  /** The approximate length of the value as JSON text. It is not part of the hash. */
  size: number;
}

/**
 * The hash of an object before it is finalized: the sum of the hashes of its entries or items, so
 * that one entry can be subtracted and another added.
 */
export interface EntrySum extends Hash {
  /** The number of entries or items. */
  count: number;
  /** The digest as text, once it has been asked for. */
  digest?: Digest;
}

const entrySums = new WeakMap<object, EntrySum>();
const deferredSums = new WeakMap<object, () => EntrySum>();

/** The digest of a deeply frozen value. The caller guarantees that the value never changes. */
export function computeDigest(frozen: object): Digest {
  const sum = getEntrySum(frozen);
  return (sum.digest ??= formatHash(computeContainerHash(sum, Array.isArray(frozen))));
}

/**
 * Derives the digest of a record from the digest of its predecessor, from which it may differ only
 * in these keys. The cost of a write then depends on what it changes, not on the size of the table.
 * Both records are deeply frozen.
 */
export function deriveDigest(before: object, after: object, changedKeys: Iterable<string>): void {
  const { a, b, c, d, size, count } = getEntrySum(before);
  const sum: EntrySum = { a, b, c, d, size, count };
  for (const key of changedKeys) {
    const [oldValue, newValue] = [getOwnValue(before, key), getOwnValue(after, key)];
    if (oldValue === newValue) continue;
    addEntry(sum, key, oldValue, -1);
    addEntry(sum, key, newValue, 1);
  }
  entrySums.set(after, sum);
}

/** The approximate length of a deeply frozen value as JSON text. It is as cheap as the digest. */
export const measureJson = (frozen: object): number => getEntrySum(frozen).size;

/** Registers how the sum of a deeply frozen object is computed once its digest is needed. */
export function deferDigest(object: object, computeSum: () => EntrySum): void {
  deferredSums.set(object, computeSum);
}

/** Freezes a JSON value and everything in it, in place, and returns it. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const it of Object.values(value)) deepFreeze(it);
  }
  return value;
}

function getEntrySum(value: object): EntrySum {
  let sum = entrySums.get(value);
  if (!sum) entrySums.set(value, (sum = deferredSums.get(value)?.() ?? sumEntries(value)));
  return sum;
}

export const createEntrySum = (): EntrySum => ({
  a: 0,
  b: 0,
  c: 0,
  d: 0,
  size: 2,
  count: 0,
});

function sumEntries(value: object): EntrySum {
  const sum = createEntrySum();
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) addEntry(sum, i, value[i], 1);
  else
    for (const key of Object.keys(value))
      addEntry(sum, key, (value as Record<string, unknown>)[key], 1);
  return sum;
}

/**
 * Adds an entry to a sum, or subtracts it. Sums do not depend on the order of keys, and an
 * undefined value counts as no entry.
 */
export function addEntry(sum: EntrySum, key: string | number, value: unknown, sign: 1 | -1): void {
  if (value !== undefined) addHashedEntry(sum, key, computeValueHash(value), sign);
}

/** Adds an entry whose value is given by its hash. */
export function addHashedEntry(
  sum: EntrySum,
  key: string | number,
  hash: Hash,
  sign: 1 | -1 = 1,
): void {
  const { a, b, c, d } = typeof key === "number" ? mixHash(hash, key, 0) : hashText(key, hash);
  sum.a = (sum.a + sign * a) | 0;
  sum.b = (sum.b + sign * b) | 0;
  sum.c = (sum.c + sign * c) | 0;
  sum.d = (sum.d + sign * d) | 0;
  // a comma, and for a record the key in quotation marks with a colon
  sum.size += sign * (hash.size + (typeof key === "number" ? 1 : key.length + 4));
  sum.count += sign;
}

/** The hash of a JSON value, deeply frozen. */
export const computeValueHash = (value: unknown): Hash =>
  value !== null && typeof value === "object"
    ? computeContainerHash(getEntrySum(value), Array.isArray(value))
    : hashPrimitive(value);

/** The hash of a record or list. Its kind and its length are part of it. */
export const computeContainerHash = (sum: EntrySum, isList: boolean): Hash =>
  mixHash(sum, isList ? -1 - sum.count : sum.count, sum.size);

const textSeed: Hash = { a: 0x243f6a88, b: 0x85a308d3 | 0, c: 0x13198a2e, d: 0x03707344, size: 0 };
const numberSeed: Hash = {
  a: 0xa4093822 | 0,
  b: 0x299f31d0,
  c: 0x082efa98,
  d: 0xec4e6c89 | 0,
  size: 0,
};
const constantHashes = new Map<unknown, Hash>(
  [null, false, true].map((it, i) => [it, mixHash(numberSeed, i + 1, 5)]),
);

function hashPrimitive(value: unknown): Hash {
  if (typeof value === "string") return hashText(value, textSeed);
  // String(-0) is "0", as in JSON
  if (typeof value === "number") return hashText(String(value), numberSeed);
  return constantHashes.get(value)!;
}

/** The hash of a text over a seed: four lanes that feed one another, one character at a time. */
function hashText(text: string, seed: Hash): Hash {
  let { a, b, c, d } = seed;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = b ^ Math.imul(a ^ code, 0x239b961b);
    b = c ^ Math.imul(b ^ code, 0xab0e9789);
    c = d ^ Math.imul(c ^ code, 0x38b34ae5);
    d = a ^ Math.imul(d ^ code, 0xa1e38b93);
  }
  return mixHash({ a, b, c, d, size: 0 }, text.length, text.length + 2);
}

/** MurmurHash3's finalizer on each lane, with the lanes mixed with one another before and after. */
function mixHash({ a, b, c, d }: Hash, n: number, size: number): Hash {
  let w = a ^ Math.imul(n, 0x9e3779b9);
  let x = b ^ Math.imul(w ^ (w >>> 15), 0x85ebca6b);
  let y = c ^ Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  let z = d ^ Math.imul(y ^ (y >>> 16), 0x27d4eb2f);
  w = finalizeLane(w + z);
  x = finalizeLane(x + w);
  y = finalizeLane(y + x);
  z = finalizeLane(z + y);
  return { a: (w + z) | 0, b: x | 0, c: y | 0, d: z | 0, size };
}

function finalizeLane(lane: number): number {
  let h = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

const formatHash = ({ a, b, c, d }: Hash): Digest =>
  (formatLane(a) + formatLane(b) + formatLane(c) + formatLane(d)) as Digest;
const formatLane = (lane: number) => (lane >>> 0).toString(16).padStart(8, "0");

/**
 * A record's own value. JSON has no functions, so a function, like the prototype itself, can only
 * be inherited.
 */
function getOwnValue(record: object, key: string): unknown {
  const value = (record as Record<string, unknown>)[key];
  return typeof value === "function" || value === Object.prototype ? undefined : value;
}
