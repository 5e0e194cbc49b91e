/**
 * The texts in the arguments of a call, by their paths: `folder`, or `relations[].from` in a list
 * of objects.
 */
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import {
  getItemSchema,
  getProperties,
  listRequired,
  removeNull,
  toSchema,
} from "./schemaKeywords.ts";
import type { JsonSchema } from "./server.ts";

/** The paths of texts and of lists of texts of which any may be given. */
export function listTextPaths(published: JsonSchema, path = ""): string[] {
  const schema = removeNull(published);
  if (path !== "" && isText(schema)) return [path];
  const items = getItemSchema(schema);
  if (items) return items["type"] === "object" ? listTextPaths(items, `${path}[]`) : [];
  const keys = path === "" ? Object.keys(getProperties(schema)) : listRequired(schema);
  return keys.flatMap(key =>
    listTextPaths(getProperties(schema)[key] ?? {}, path === "" ? key : `${path}.${key}`),
  );
}

function isText(schema: JsonSchema): boolean {
  const plain = removeNull(schema);
  if (plain["enum"] !== undefined || plain["const"] !== undefined) return false;
  return plain["type"] === "array" ? isText(toSchema(plain["items"])) : plain["type"] === "string";
}

export const splitPath = (path: string): string[] => path.split(/(\[\])|\./).filter(Boolean);

/** The name of the field at a path: `from` of `relations[].from`. */
export const getFieldName = (path: string): string => path.split(/[.\]]/).at(-1)!;

/** The path of the object that a field is in; undefined for an argument itself. */
export const getObjectPath = (path: string): string | undefined =>
  path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : undefined;

/** What is at a path, in each item of its lists. */
export const listAt = (args: JsonObject, path: string): Json[] =>
  splitPath(path).reduce<Json[]>(
    (found, part) =>
      found.flatMap(it => {
        if (part === "[]") return Array.isArray(it) ? (it as Json[]) : [];
        return isJsonObject(it) && it[part] !== undefined ? [it[part]] : [];
      }),
    [args],
  );

/** What is at a path, in the first item of each list. */
export const getAt = (args: JsonObject, path: string): Json | undefined => listAt(args, path)[0];

/** The text at a path; of a list of texts, the first one. */
export function getText(args: JsonObject, path: string): Json | undefined {
  const found = getAt(args, path);
  return Array.isArray(found) ? (found[0] as Json) : found;
}

/** The arguments with another text or object at a path, in the first item of each list. */
export const setAt = (
  args: JsonObject,
  path: string,
  value: string | number | JsonObject,
): JsonObject => set(args, splitPath(path), value) as JsonObject;

function set(old: Json | undefined, [part, ...rest]: readonly string[], value: Json): Json {
  if (part === undefined) return Array.isArray(old) ? [value] : value;
  if (part === "[]") {
    const [first, ...others] = Array.isArray(old) ? (old as readonly Json[]) : [];
    return [set(first, rest, value), ...others];
  }
  const fields = isJsonObject(old) ? old : {};
  return { ...fields, [part]: set(fields[part], rest, value) };
}
