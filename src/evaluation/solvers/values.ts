/** Compares results by what they show: their rows and their plain values. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { listScalars } from "../../trajectory/valueMatching.ts";

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
