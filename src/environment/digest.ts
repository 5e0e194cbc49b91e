/**
 * The digest of a frozen value: a hash tree that is remembered by object identity, so that after a
 * write only what the write made anew is hashed. Fast and well mixed, not secret: it tells states
 * apart, and guards nothing against forgers.
 */

/** The hash of a state: equal digests mean equal states. 32 hexadecimal characters. */
export type Digest = string & { readonly digest: unique symbol };

/**
 * 128 bits. Of an object: the sum over its entries or items before it is sealed, so that one entry
 * can be taken out and another put in.
 */
interface Words {
  a: number;
  b: number;
  c: number;
  d: number;
}

interface Node extends Words {
  /** Entries or items. */
  n: number;
  /** The digest itself, once somebody has asked for it. */
  text?: Digest;
}

const nodes = new WeakMap<object, Node>();

/** Of a deeply frozen value. The caller promises that it never changes. */
export function computeDigest(frozen: object): Digest {
  const node = nodeOf(frozen);
  return (node.text ??= textOf(sealed(frozen, node)));
}

function nodeOf(value: object): Node {
  let node = nodes.get(value);
  if (!node) nodes.set(value, (node = summed(value)));
  return node;
}

function summed(value: object): Node {
  const node: Node = { a: 0, b: 0, c: 0, d: 0, n: 0 };
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) add(node, i, value[i], 1);
  else
    for (const key of Object.keys(value))
      add(node, key, (value as Record<string, unknown>)[key], 1);
  return node;
}

/**
 * Puts an entry in or takes it out: sums do not depend on the order of keys, and undefined is no
 * entry.
 */
function add(node: Node, key: string | number, value: unknown, sign: 1 | -1): void {
  if (value === undefined) return;
  const words =
    value !== null && typeof value === "object" ? sealed(value, nodeOf(value)) : leaf(value);
  const { a, b, c, d } = typeof key === "number" ? mixed(words, key) : spelled(key, words);
  node.a = (node.a + sign * a) | 0;
  node.b = (node.b + sign * b) | 0;
  node.c = (node.c + sign * c) | 0;
  node.d = (node.d + sign * d) | 0;
  node.n += sign;
}

/**
 * An object's sum as the hash of the object: lists and records, and sums of different lengths,
 * never look alike.
 */
const sealed = (value: object, node: Node): Words =>
  mixed(node, Array.isArray(value) ? -1 - node.n : node.n);

// words are kept as signed integers, which V8 stores in place
const textSeed: Words = { a: 0x243f6a88, b: 0x85a308d3 | 0, c: 0x13198a2e, d: 0x03707344 };
const numberSeed: Words = { a: 0xa4093822 | 0, b: 0x299f31d0, c: 0x082efa98, d: 0xec4e6c89 | 0 };
const constants = new Map<unknown, Words>(
  [null, false, true].map((it, i) => [it, mixed(numberSeed, i + 1)]),
);

function leaf(value: unknown): Words {
  if (typeof value === "string") return spelled(value, textSeed);
  // as JSON writes it: -0 is 0
  if (typeof value === "number") return spelled(String(value), numberSeed);
  return constants.get(value)!;
}

/**
 * A text over a seed: four lanes that feed one another, a character at a time, then mixed to the
 * end.
 */
function spelled(text: string, seed: Words): Words {
  let { a, b, c, d } = seed;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = b ^ Math.imul(a ^ code, 0x239b961b);
    b = c ^ Math.imul(b ^ code, 0xab0e9789);
    c = d ^ Math.imul(c ^ code, 0x38b34ae5);
    d = a ^ Math.imul(d ^ code, 0xa1e38b93);
  }
  return mixed({ a, b, c, d }, text.length);
}

/** MurmurHash3's finalizer on each lane, with the lanes stirred together before and after. */
function mixed({ a, b, c, d }: Words, n: number): Words {
  let w = a ^ Math.imul(n, 0x9e3779b9);
  let x = b ^ Math.imul(w ^ (w >>> 15), 0x85ebca6b);
  let y = c ^ Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  let z = d ^ Math.imul(y ^ (y >>> 16), 0x27d4eb2f);
  w = last(w + z);
  x = last(x + w);
  y = last(y + x);
  z = last(z + y);
  return { a: (w + z) | 0, b: x | 0, c: y | 0, d: z | 0 };
}

function last(word: number): number {
  let h = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

const textOf = ({ a, b, c, d }: Words): Digest => (hex(a) + hex(b) + hex(c) + hex(d)) as Digest;
const hex = (word: number) => (word >>> 0).toString(16).padStart(8, "0");

/** Freezes a JSON value and everything in it, in place, and returns it. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const it of Object.values(value)) deepFreeze(it);
  }
  return value;
}

/**
 * Draws the digest of a record from its predecessor's, when only these keys may differ. So the cost
 * of a write grows with what it changes, not with the table that it changes. Both are deeply
 * frozen.
 */
export function deriveDigest(before: object, after: object, changed: Iterable<string>): void {
  const { a, b, c, d, n } = nodeOf(before);
  const node: Node = { a, b, c, d, n };
  for (const key of changed) {
    const [was, is] = [own(before, key), own(after, key)];
    if (was === is) continue;
    add(node, key, was, -1);
    add(node, key, is, 1);
  }
  nodes.set(after, node);
}

/**
 * The record's own value: JSON has no functions, so a function, like the prototype itself, is only
 * inherited.
 */
function own(record: object, key: string): unknown {
  const value = (record as Record<string, unknown>)[key];
  return typeof value === "function" || value === Object.prototype ? undefined : value;
}
