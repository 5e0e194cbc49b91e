/**
 * Variants of a fixture: the same state with every id renumbered, and all references to it as well.
 * Training on many variants teaches a model to read ids instead of memorizing them. An id is a key
 * such as `acc_101` that names a row, whatever the server.
 */
import { deepFreeze } from "./digest.ts";
import type { Fixture } from "./fixture.ts";
import type { Json } from "./json.ts";
import { shuffle } from "./random.ts";

const separator = "~";

/** `full~17` is variant 17 of `full`; a name without `~` is not a variant. */
export function parseVariantName(
  name: string,
): { readonly fixture: string; readonly number: number } | undefined {
  const at = name.indexOf(separator);
  const number = name.slice(at + 1);
  return at > 0 && /^[1-9]\d{0,5}$/.test(number)
    ? { fixture: name.slice(0, at), number: Number(number) }
    : undefined;
}

export const formatVariantName = (fixture: string, number: number): string =>
  `${fixture}${separator}${number}`;

/** The fixture with its ids renumbered; equal numbers give equal fixtures. */
export function createVariant(fixture: Fixture, number: number): Fixture {
  const ids = [...collectIds(fixture.state, new Set())].sort();
  const numbers = shuffleNumbers(900, number).map(it => it + 100);
  const newIds = new Map(
    ids.map((id, i) => [
      id,
      `${id.slice(0, id.lastIndexOf("_"))}_${numbers[i % numbers.length]! + 900 * Math.floor(i / numbers.length)}`,
    ]),
  );
  return deepFreeze({
    ...fixture,
    name: formatVariantName(fixture.name, number),
    state: replaceIds(fixture.state, newIds) as Fixture["state"],
  });
}

/**
 * Collects the keys of rows that look like ids: letters, an underscore, digits. A key such as
 * `per_100` whose value is a number is not an id.
 */
function collectIds(value: Json, ids: Set<string>): Set<string> {
  if (Array.isArray(value)) for (const it of value) collectIds(it, ids);
  else if (value !== null && typeof value === "object")
    for (const [key, it] of Object.entries(value)) {
      if (it !== null && typeof it === "object" && /^[a-z]+_\d{1,3}$/.test(key)) ids.add(key);
      collectIds(it, ids);
    }
  return ids;
}

function replaceIds(value: Json, newIds: ReadonlyMap<string, string>): Json {
  if (typeof value === "string") return newIds.get(value) ?? value;
  if (Array.isArray(value)) return value.map((it: Json) => replaceIds(it, newIds));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, it]) => [newIds.get(key) ?? key, replaceIds(it, newIds)]),
  );
}

/** The numbers below n, in an order that depends only on the seed. */
function shuffleNumbers(n: number, seed: number): number[] {
  let state = Math.imul(seed, 0x9e3779b9) >>> 0;
  return shuffle(
    Array.from({ length: n }, (_, i) => i),
    () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32,
  );
}
