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
  const remembered = known.get(frozen);
  if (remembered) return remembered;
  const text = Array.isArray(frozen)
    ? `[${frozen.map(leafOrDigest).join(",")}]`
    : `{${Object.entries(frozen)
        .filter(([, it]) => it !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, it]) => `${JSON.stringify(key)}:${leafOrDigest(it)}`)
        .join(",")}}`;
  const digest = hash("sha256", text, "hex").slice(0, 32) as Digest;
  known.set(frozen, digest);
  return digest;
}

const leafOrDigest = (value: unknown) =>
  value !== null && typeof value === "object" ? `#${digestOf(value)}` : JSON.stringify(value);

/** Freezes a JSON value and everything in it, in place, and returns it. */
export function freeze<T>(value: T): T {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const it of Object.values(value)) freeze(it);
  }
  return value;
}
