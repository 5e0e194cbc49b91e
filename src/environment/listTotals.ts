/** Reads the field of a list result that says how many rows match in all; see `rowTotal`. */
import { canonicalJson, isJsonObject, type Json } from "./json.ts";
import type { JsonSchema } from "./server.ts";

/** The field of a tool's result with the number of all rows, and the fields with the rows. */
interface TotalField {
  readonly key: string;
  readonly lists: readonly string[];
}

const totalFields = new WeakMap<JsonSchema, TotalField | null>();

/** The field with the number of all rows; undefined if the tool gives no list. */
export function findTotalField(outputSchema: JsonSchema): TotalField | undefined {
  let field = totalFields.get(outputSchema);
  if (field === undefined) totalFields.set(outputSchema, (field = readTotalField(outputSchema)));
  return field ?? undefined;
}

function readTotalField({ properties }: JsonSchema): TotalField | null {
  if (!isJsonObject(properties)) return null;
  for (const [key, it] of Object.entries(properties)) {
    const lists = isJsonObject(it) ? it["x-total-of"] : undefined;
    if (Array.isArray(lists)) return { key, lists: lists as readonly string[] };
  }
  return null;
}

/** How many rows a list result shows and how many there are; undefined if it is no list. */
export function countRows(
  outputSchema: JsonSchema,
  value: Json | undefined,
): { readonly shown: number; readonly total: number } | undefined {
  const field = findTotalField(outputSchema);
  if (!field || !isJsonObject(value)) return undefined;
  const total = value[field.key];
  if (typeof total !== "number") return undefined;
  const lists = field.lists.map(it => value[it]).filter(it => Array.isArray(it));
  return { shown: lists.reduce((sum, it) => sum + it.length, 0), total };
}

/** Whether a list result leaves rows out. */
export function isCut(outputSchema: JsonSchema, value: Json | undefined): boolean {
  const rows = countRows(outputSchema, value);
  return rows !== undefined && rows.shown < rows.total;
}

/**
 * Whether a call returns what was recorded. Results that were recorded before lists had a `total`
 * lack it.
 */
export function isSameResult(recorded: Json | undefined, executed: Json | undefined): boolean {
  if (canonicalJson(recorded) === canonicalJson(executed)) return true;
  if (!isJsonObject(recorded) || !isJsonObject(executed) || Object.hasOwn(recorded, "total"))
    return false;
  const { total, ...rest } = executed;
  return total !== undefined && canonicalJson(recorded) === canonicalJson(rest);
}
