/** Reads JSON schemas of tools: their branches, and the keywords with which servers annotate them. */
import { isJsonObject, type Json } from "./json.ts";
import type { JsonSchema } from "./server.ts";

/** A schema's first branch that is not `null`, with the keywords beside the branches. */
export function removeNull(schema: JsonSchema): JsonSchema {
  const first = listBranches(schema).find(it => it["type"] !== "null");
  if (!first) return schema;
  const { anyOf: _, oneOf: __, ...rest } = schema as Record<string, Json>;
  return { ...rest, ...removeNull(first) };
}

export const getKeyword = (schema: JsonSchema, keyword: string): string | undefined =>
  schema[keyword] as string | undefined;

/** A schema as an object. `true`, and what is no schema, allow every value. */
export const toSchema = (value: unknown): JsonSchema => (isJsonObject(value) ? value : {});

export function listBranches(schema: JsonSchema): readonly JsonSchema[] {
  const branches = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(branches) ? (branches as readonly JsonSchema[]) : [];
}

/** The schema of a list's items without `null`; undefined for what is no list. */
export const getItemSchema = (schema: JsonSchema): JsonSchema | undefined =>
  schema["type"] === "array" ? removeNull(toSchema(schema["items"])) : undefined;

/** The keys that an object must have. */
export const listRequired = ({ required }: JsonSchema): readonly string[] =>
  Array.isArray(required) ? (required as readonly string[]) : [];

export const getProperties = ({ properties }: JsonSchema): Readonly<Record<string, JsonSchema>> =>
  isJsonObject(properties) ? (properties as Readonly<Record<string, JsonSchema>>) : {};
