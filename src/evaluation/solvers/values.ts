/** Compares results by what they show: their rows and their plain values. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";

export type Scalar = string | number | boolean;

/** The plain values in a value, in their order; `null` is left out. */
export function* listScalars(value: Json): Generator<Scalar> {
  if (value === null) return;
  if (typeof value === "object") for (const it of Object.values(value)) yield* listScalars(it);
  else yield value;
}

/** The plain fields of every object in a value, an object each. */
export function listRows(value: Json): JsonObject[] {
  const rows: JsonObject[] = [];
  collectRows(value, rows);
  return rows;
}

function collectRows(value: Json, rows: JsonObject[]): void {
  if (Array.isArray(value)) for (const it of value) collectRows(it as Json, rows);
  else if (isJsonObject(value)) {
    const fields = Object.entries(value);
    const plain = fields.filter(([, it]) => it === null || typeof it !== "object");
    if (plain.length > 0) rows.push(Object.fromEntries(plain));
    for (const [, it] of fields) collectRows(it, rows);
  }
}

/** Whether a value shows every row and every plain value of another one. */
export function showsAll(value: Json, wanted: Json): boolean {
  const rows = listRows(value);
  const scalars = new Set(listScalars(value));
  return (
    [...listScalars(wanted)].every(it => scalars.has(it)) &&
    listRows(wanted).every(row => rows.some(it => contains(it, row)))
  );
}

const contains = (row: JsonObject, part: JsonObject): boolean =>
  Object.entries(part).every(([key, it]) => Object.hasOwn(row, key) && row[key] === it);

/** Replaces strings in a value, wherever they are. */
export function replaceStrings(value: Json, replacements: ReadonlyMap<string, string>): Json {
  if (replacements.size === 0) return value;
  if (typeof value === "string") return replacements.get(value) ?? value;
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(it => replaceStrings(it as Json, replacements));
  return Object.fromEntries(
    Object.entries(value).map(([key, it]) => [key, replaceStrings(it, replacements)]),
  );
}

/** Whether a text contains another one that is not part of a longer word or number. */
export function containsWord(text: string, word: string): boolean {
  if (word === "") return false;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + word.length])) return true;
  return false;
}

const isWordCharacter = (character: string | undefined) =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);
