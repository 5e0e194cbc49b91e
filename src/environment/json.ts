/** JSON as types, the guard for its objects, and its canonical text. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether a value is an object with keys: neither null nor a list. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** The value under these keys, one within the other; undefined if there is none. */
export function getAt(value: Json, keys: readonly string[]): Json | undefined {
  let inner: Json | undefined = value;
  for (const key of keys)
    inner =
      inner !== null && typeof inner === "object" && Object.hasOwn(inner, key)
        ? (inner as JsonObject)[key]
        : undefined;
  return inner;
}

/** A copy of an object without the keys whose values are undefined. */
export const omitUndefined = <T extends object>(
  value: T,
): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

/** JSON with sorted keys and without undefined values: equal values give equal bytes. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, it]) => it !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, it]) => `${JSON.stringify(key)}:${canonicalJson(it)}`).join(",")}}`;
}
