/**
 * How values are compared: the equality of JSON values that goals and all parts of the reward use,
 * the plain values in a value, and values and free texts within a text.
 */
import { getAt, isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import type { JsonSchema } from "../environment/server.ts";

/**
 * Whether two values are equal. Numbers may differ by a relative 1e-6; strings are normalized (NFC)
 * and trimmed, and case counts; the order of keys does not matter; the order of array items matters
 * unless the schema says that they are unique. true is not 1.
 */
export function areEqual(a: Json, b: Json, schema?: JsonSchema): boolean {
  if (a === b) return true;
  // the next number is the id of something else
  if (schema?.["x-entity"] !== undefined && typeof a === "number") return false;
  if (typeof a === "number" && typeof b === "number")
    return Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b));
  if (typeof a === "string" && typeof b === "string")
    return a.normalize("NFC").trim() === b.normalize("NFC").trim();
  if (Array.isArray(a) && Array.isArray(b))
    return areArraysEqual(a as readonly Json[], b as readonly Json[], schema);
  return isJsonObject(a) && isJsonObject(b) && areObjectsEqual(a, b, schema);
}

function areArraysEqual(
  a: readonly Json[],
  b: readonly Json[],
  schema: JsonSchema | undefined,
): boolean {
  if (a.length !== b.length) return false;
  const items = getInnerSchema(schema, "items");
  if (schema?.["uniqueItems"] !== true) return a.every((it, i) => areEqual(it, b[i]!, items));
  const remaining = [...b];
  return a.every(it => {
    const at = remaining.findIndex(other => areEqual(it, other, items));
    if (at >= 0) remaining.splice(at, 1);
    return at >= 0;
  });
}

function areObjectsEqual(a: JsonObject, b: JsonObject, schema: JsonSchema | undefined): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    key => Object.hasOwn(b, key) && areEqual(a[key]!, b[key]!, getPropertySchema(schema, key)),
  );
}

/** The schema of a property, or undefined. */
export const getPropertySchema = (
  schema: JsonSchema | undefined,
  key: string,
): JsonSchema | undefined => {
  const properties = getInnerSchema(schema, "properties");
  return properties && Object.hasOwn(properties, key) ? getInnerSchema(properties, key) : undefined;
};

/** The value of an argument, or of a path in one, such as `lines/0/description`. */
export const getArgumentAt = (args: Json, path: string): Json | undefined =>
  isJsonObject(args) && Object.hasOwn(args, path) ? args[path] : getAt(args, path.split("/"));

const getInnerSchema = (schema: JsonSchema | undefined, key: string): JsonSchema | undefined => {
  const inner = schema?.[key];
  return isJsonObject(inner) ? inner : undefined;
};

export type Scalar = string | number | boolean;

/** The plain values in a value, in their order; `null` is left out. */
export function listScalars(value: Json): readonly Scalar[] {
  const scalars: Scalar[] = [];
  addScalars(value, scalars);
  return scalars;
}

function addScalars(value: Json, scalars: Scalar[]): void {
  if (value === null) return;
  if (typeof value === "object")
    for (const it of Object.values<Json>(value)) addScalars(it, scalars);
  else scalars.push(value);
}

/**
 * Whether a value does not occur by chance: not a boolean, a small whole number or a word of one or
 * two letters.
 */
export const isDistinctive = (value: Scalar): boolean =>
  typeof value === "number"
    ? !isCommonNumber(value)
    : typeof value === "string" && value.length >= 3;

/** Whether a value is a small whole number, which says nothing unless it is an id. */
export const isCommonNumber = (value: Json): value is number =>
  typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 10;

/** Whether a text contains a value that is neither preceded nor followed by a letter or digit. */
export function containsToken(text: string, value: string): boolean {
  if (value === "") return false;
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1))
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + value.length])) return true;
  return false;
}

const isWordCharacter = (char: string | undefined): boolean =>
  char !== undefined && /[\p{L}\p{N}_]/u.test(char);

/** The text in lower case, with single spaces for punctuation and without articles. */
export const normalizeText = (text: string): string =>
  text
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .replaceAll(/\b(?:a|an|the)\b/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
