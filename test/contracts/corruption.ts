/**
 * Corrupts a state in every simple way: each value replaced, each row and field removed, each row
 * repeated, once with another value. Knows nothing of servers.
 */
import type { Json } from "../../src/environment/json.ts";

type Path = readonly string[];

/** How many rows of a table are corrupted; more have the same kinds of values. */
const rowsOfATable = 12;
/** More rows than any limit of a server allows. */
const manyRows = 130;

const isId = (key: string) => /_\d+$/.test(key);

/** The path with `*` for ids and indices. */
const generalize = (path: Path) => path.map(it => (/(_|^)\d+$/.test(it) ? "*" : it)).join(".");

function* listPaths(value: Json, path: Path = []): Generator<[Path, Json]> {
  if (path.length > 0) yield [path, value];
  if (value === null || typeof value !== "object") return;
  for (const [key, it] of Object.entries(value)) yield* listPaths(it, [...path, key]);
}

/** The value with another one at the path; `undefined` removes it. */
function replaceAt(value: Json, [key, ...rest]: Path, replacement: Json | undefined): Json {
  if (key === undefined) return replacement!;
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    const index = Number(key);
    if (rest.length === 0 && replacement === undefined) return list.toSpliced(index, 1);
    return list.with(index, replaceAt(list[index]!, rest, replacement));
  }
  const { [key]: previous, ...others } = value as Record<string, Json>;
  if (rest.length === 0 && replacement === undefined) return others;
  return { ...others, [key]: replaceAt(previous!, rest, replacement) };
}

/** The values that states have, by generalized path. */
export function collectValues(states: readonly Json[]): ReadonlyMap<string, ReadonlySet<Json>> {
  const values = new Map<string, Set<Json>>();
  for (const state of states)
    for (const [path, value] of listPaths(state)) {
      if (value !== null && typeof value === "object") continue;
      const key = generalize(path);
      values.set(key, (values.get(key) ?? new Set()).add(value));
    }
  return values;
}

/** What a value may be replaced by: what others have in its place, and what is a little off. */
function listReplacements(value: Json, known: Iterable<Json>): Json[] {
  if (typeof value === "number") return [value + 1, value - 1, 0, value + 100_000, -value];
  if (typeof value === "boolean") return [!value];
  if (Array.isArray(value)) return [[...(value as Json[]), ...(value as Json[])]];
  if (typeof value !== "string") return [];
  const others = [...known].filter(it => it !== value).slice(0, 40);
  const isDate = /^\d{4}-\d\d-\d\d/.test(value);
  return [...others, ...(isDate ? [`2020${value.slice(4)}`, `2030${value.slice(4)}`] : [])];
}

/** All corruptions of a state, with the values that other states have in the same places. */
export function* listCorruptions(
  state: Json,
  values: ReadonlyMap<string, ReadonlySet<Json>>,
): Generator<Json> {
  const counts = new Map<string, number>();
  for (const [path, value] of listPaths(state)) {
    const key = generalize(path);
    const count = 1 + (counts.get(key) ?? 0);
    counts.set(key, count);
    if (count > rowsOfATable) continue;
    yield replaceAt(state, path, undefined);
    for (const it of listReplacements(value, values.get(key) ?? []))
      yield replaceAt(state, path, it);
    if (Array.isArray(value))
      for (const it of values.get(`${key}.*`) ?? [])
        yield replaceAt(state, path, [...(value as Json[]), it]);
    else if (isId(path.at(-1)!) && value !== null && typeof value === "object")
      yield* listRepeatedRows(state, path, value, values);
  }
}

/** States in which a row is repeated, unchanged or with another value. */
function* listRepeatedRows(
  state: Json,
  path: Path,
  row: Json,
  values: ReadonlyMap<string, ReadonlySet<Json>>,
): Generator<Json> {
  const at = (n: number) => [...path.slice(0, -1), path.at(-1)!.replace(/\d+$/, String(n))];
  yield replaceAt(state, at(900), row);
  for (const [field, value] of listPaths(row))
    for (const it of listReplacements(value, values.get(generalize([...path, ...field])) ?? []))
      yield replaceAt(state, at(900), replaceAt(row, field, it));
  let crowded = state;
  for (let i = 0; i < manyRows; i++) crowded = replaceAt(crowded, at(9000 + i), row);
  yield crowded;
}
