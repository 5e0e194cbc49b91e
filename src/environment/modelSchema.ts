/**
 * The schema of a tool's arguments as models read it, in prompts, data sets and lists of tools. It
 * has what a model needs to write a call; a session checks calls against the whole schema.
 */
import { z } from "zod";
import { minute } from "./fieldSchemas.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import type { JsonSchema } from "./server.ts";

/** Keywords whose values are not schemas. */
const plain = new Set(["enum", "const", "default"]);

/** Keywords whose values are schemas by name. */
const named = new Set(["properties", "patternProperties", "$defs", "definitions"]);

const omitted = new Set([
  "$schema",
  "$id",
  "$comment",
  "examples",
  "pattern",
  "minLength",
  "maxLength",
]);

/** A bound of this size or more only keeps out what nobody asks for. */
const hugeNumber = 10_000;

const { pattern: minutePattern } = z.toJSONSchema(minute());

/**
 * The schema without our own keywords (`x-…`), patterns, examples, lengths, and bounds that say
 * nothing. Types, descriptions, enums, formats, defaults and required keys stay.
 */
export const toModelSchema = (schema: JsonSchema): JsonSchema => {
  const entries = Object.entries(schema)
    .filter(([key, it]) => !isOmitted(key, it))
    .map(([key, it]): [string, Json] => [key, simplifyValue(key, it)]);
  const simplified: JsonObject = Object.fromEntries(entries);
  const { description } = simplified;
  // only the pattern says how it is written
  return schema["pattern"] === minutePattern &&
    typeof description === "string" &&
    !description.includes("YYYY")
    ? { ...simplified, description: `${description}; YYYY-MM-DDTHH:MM` }
    : simplified;
};

function simplifyValue(key: string, value: Json): Json {
  if (plain.has(key)) return value;
  if (named.has(key) && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, simplify(it)]));
  return Array.isArray(value) ? (value as readonly Json[]).map(simplify) : simplify(value);
}

const simplify = (value: Json): Json => (isJsonObject(value) ? toModelSchema(value) : value);

function isOmitted(key: string, value: Json): boolean {
  switch (key) {
    case "minimum":
    case "exclusiveMinimum":
      return typeof value === "number" && ((value >= 0 && value <= 1) || value <= -hugeNumber);
    case "maximum":
    case "exclusiveMaximum":
      return typeof value === "number" && value >= hugeNumber;
    case "minItems":
      return value === 0 || value === 1;
    case "additionalProperties":
      return typeof value === "boolean";
    default:
      return omitted.has(key) || key.startsWith("x-");
  }
}
