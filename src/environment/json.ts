/** JSON as a type, its canonical text, and the digest of a frozen value. Knows nothing of servers or sessions. */
import { hash } from "node:crypto";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The hash of a state: equal digests mean equal states. 32 hexadecimal characters. */
export type Digest = string & { readonly digest: unique symbol };

/** JSON with sorted keys and without undefined values: equal values give equal bytes. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, it]) => it !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, it]) => `${JSON.stringify(key)}:${canonical(it)}`).join(",")}}`;
}

const known = new WeakMap<object, Digest>();

/**
 * A hash tree over a deeply frozen value, remembered by object identity: after a write only the changed path is
 * hashed again. The caller promises that the value never changes.
 */
export function digestOf(frozen: object): Digest {
  let digest = known.get(frozen);
  if (!digest) known.set(frozen, (digest = hashed(Array.isArray(frozen) ? listText(frozen) : recordText(frozen))));
  return digest;
}

const hashed = (text: string) => hash("sha256", text, "hex").slice(0, 32) as Digest;

const listText = (list: readonly unknown[]) => `[${list.map(leafOrDigest).join(",")}]`;

function recordText(record: object): string {
  const entries = Object.entries(record);
  if (entries.length >= wide) return wideText(entries);
  const present = entries.filter(([, it]) => it !== undefined);
  present.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${present.map(entryText).join(",")}}`;
}

const entryText = ([key, it]: [string, unknown]) => `${JSON.stringify(key)}:${leafOrDigest(it)}`;

const leafOrDigest = (value: unknown) => (value !== null && typeof value === "object" ? `#${digestOf(value)}` : JSON.stringify(value));

/** From this many keys on, a record is hashed as a sum over its entries, which needs neither order nor long texts. */
const wide = 24;

interface EntrySum {
  readonly key: string;
  readonly words: readonly [number, number, number, number];
}

/** By the entry's value: one entry of a table changes, the others' hashes stand. */
const entrySums = new WeakMap<object, EntrySum>();

function wideText(entries: [string, unknown][]): string {
  let [a, b, c, d, n] = [0, 0, 0, 0, 0];
  for (const [key, value] of entries) {
    if (value === undefined) continue;
    const { words } = entrySum(key, value);
    a = (a + words[0]) >>> 0;
    b = (b + words[1]) >>> 0;
    c = (c + words[2]) >>> 0;
    d = (d + words[3]) >>> 0;
    n++;
  }
  return `{${n}:${a},${b},${c},${d}}`;
}

function entrySum(key: string, value: unknown): EntrySum {
  const remembered = value !== null && typeof value === "object" ? entrySums.get(value) : undefined;
  if (remembered?.key === key) return remembered;
  const text = hashed(entryText([key, value]));
  const word = (i: number) => Number.parseInt(text.slice(8 * i, 8 * i + 8), 16);
  const sum: EntrySum = { key, words: [word(0), word(1), word(2), word(3)] };
  if (value !== null && typeof value === "object") entrySums.set(value, sum);
  return sum;
}

/** Freezes a JSON value and everything in it, in place, and returns it. */
export function freeze<T>(value: T): T {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const it of Object.values(value)) freeze(it);
  }
  return value;
}
