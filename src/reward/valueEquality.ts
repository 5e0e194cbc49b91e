/**
 * When two JSON values mean the same: the one notion of equality of the reward. Does not know which
 * tool they were given to.
 */
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import type { JsonSchema } from "../environment/server.ts";

/**
 * Numbers within 1e-6 of each other, relatively; strings after normalization and trimming, case
 * kept; objects whatever the order of their keys; arrays in order, unless the schema says that
 * their items are unique. true is not 1.
 */
export function areEqual(a: Json, b: Json, schema?: JsonSchema): boolean {
  if (a === b) return true;
  if (typeof a === "number" && typeof b === "number")
    return Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b));
  if (typeof a === "string" && typeof b === "string")
    return a.normalize("NFC").trim() === b.normalize("NFC").trim();
  if (Array.isArray(a) && Array.isArray(b))
    return equalArrays(a as readonly Json[], b as readonly Json[], schema);
  return isJsonObject(a) && isJsonObject(b) && equalObjects(a, b, schema);
}

function equalArrays(
  a: readonly Json[],
  b: readonly Json[],
  schema: JsonSchema | undefined,
): boolean {
  if (a.length !== b.length) return false;
  const items = getInnerSchema(schema, "items");
  if (schema?.["uniqueItems"] !== true) return a.every((it, i) => areEqual(it, b[i]!, items));
  const left = [...b];
  return a.every(it => {
    const at = left.findIndex(other => areEqual(it, other, items));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

function equalObjects(a: JsonObject, b: JsonObject, schema: JsonSchema | undefined): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    key => Object.hasOwn(b, key) && areEqual(a[key]!, b[key]!, propertySchema(schema, key)),
  );
}

/** The schema of a property, where there is one. */
export const propertySchema = (
  schema: JsonSchema | undefined,
  key: string,
): JsonSchema | undefined => {
  const properties = getInnerSchema(schema, "properties");
  return properties && Object.hasOwn(properties, key) ? getInnerSchema(properties, key) : undefined;
};

const getInnerSchema = (schema: JsonSchema | undefined, key: string): JsonSchema | undefined => {
  const inner = schema?.[key];
  return isJsonObject(inner) ? inner : undefined;
};
