/**
 * A fixture under other ids: the same world, with every id numbered anew and all that refers to it
 * along. What is learned on many variants is to read an id, not to know it by heart. Knows no
 * server: an id is a key such as `acc_101` that names a row.
 */
import type { Fixture } from "./fixture.ts";
import { deepFreeze } from "./digest.ts";
import type { Json } from "./json.ts";
import { shuffle } from "./random.ts";

const mark = "~";

/** `full~17` is variant 17 of `full`; a name without `~` is a fixture of its own. */
export function parseVariantName(
  name: string,
): { readonly of: string; readonly number: number } | undefined {
  const at = name.indexOf(mark);
  const number = name.slice(at + 1);
  return at > 0 && /^[1-9]\d{0,5}$/.test(number)
    ? { of: name.slice(0, at), number: Number(number) }
    : undefined;
}

export const formatVariantName = (fixture: string, number: number): string =>
  `${fixture}${mark}${number}`;

/** The fixture with its ids renumbered, by number: equal numbers give equal fixtures. */
export function createVariant(fixture: Fixture, number: number): Fixture {
  const ids = [...idsIn(fixture.state, new Set())].sort();
  const numbers = shuffled(900, number).map(it => it + 100);
  const renamed = new Map(
    ids.map((id, i) => [
      id,
      `${id.slice(0, id.lastIndexOf("_"))}_${numbers[i % numbers.length]! + 900 * Math.floor(i / numbers.length)}`,
    ]),
  );
  return deepFreeze({
    ...fixture,
    name: formatVariantName(fixture.name, number),
    state: rewritten(fixture.state, renamed) as Fixture["state"],
  });
}

/**
 * Keys of rows that look like ids: letters, an underscore, digits. A key such as `per_100` that
 * holds a number is none.
 */
function idsIn(value: Json, found: Set<string>): Set<string> {
  if (Array.isArray(value)) for (const it of value) idsIn(it, found);
  else if (value !== null && typeof value === "object")
    for (const [key, it] of Object.entries(value)) {
      if (it !== null && typeof it === "object" && /^[a-z]+_\d{1,3}$/.test(key)) found.add(key);
      idsIn(it, found);
    }
  return found;
}

function rewritten(value: Json, renamed: ReadonlyMap<string, string>): Json {
  if (typeof value === "string") return renamed.get(value) ?? value;
  if (Array.isArray(value)) return value.map((it: Json) => rewritten(it, renamed));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, it]) => [renamed.get(key) ?? key, rewritten(it, renamed)]),
  );
}

/** The numbers below n in an order that depends on the seed. */
function shuffled(n: number, seed: number): number[] {
  let state = Math.imul(seed, 0x9e3779b9) >>> 0;
  return shuffle(
    Array.from({ length: n }, (_, i) => i),
    () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32,
  );
}
