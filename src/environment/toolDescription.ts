/**
 * What models read of a tool, in prompts, data sets and lists of tools: its name, what it does,
 * and a schema with what a model needs to write a call. A session checks calls against the whole
 * schema.
 */
import { z } from "zod";
import { minute } from "./fieldSchemas.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import type { JsonSchema, Tool } from "./server.ts";

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonSchema;
}

const described = new WeakMap<object, ToolDescription>();

/** The description of a tool: the same object each time. */
export function describeTool(
  tool: Pick<Tool, "name" | "summary" | "inputSchema">,
): ToolDescription {
  let description = described.get(tool);
  if (!description) {
    const { name, summary, inputSchema } = tool;
    description = { name, description: summary, parameters: toModelSchema(inputSchema) };
    described.set(tool, description);
  }
  return description;
}

/** Keywords whose values are not schemas. */
const plain = new Set(["enum", "const", "default"]);

/** Keywords whose values are schemas by name. */
const named = new Set(["properties", "patternProperties", "$defs", "definitions"]);

const omitted = new Set([
  "$schema",
  "$id",
  "$comment",
  "examples",
  "example",
  "minLength",
  "maxLength",
]);

/** A bound of this size or more only keeps out what nobody asks for. */
const hugeNumber = 10_000;

/** A longer pattern takes more tokens than it explains. */
const longestPattern = 40;

const { pattern: minutePattern } = z.toJSONSchema(minute());

/**
 * The schema without our own keywords (`x-…`), examples, lengths, and bounds that say nothing.
 * Types, descriptions, enums, formats, defaults and required keys stay. A title stays where it is
 * more than the name, and a pattern where nothing else says how the text is written.
 */
export function toModelSchema(schema: JsonSchema, name = ""): JsonSchema {
  const entries = Object.entries(schema)
    .filter(([key, it]) => !isOmitted(key, it, schema, name))
    .map(([key, it]): [string, Json] => [key, simplifyValue(key, it)]);
  const simplified: JsonObject = Object.fromEntries(entries);
  const { description } = simplified;
  if (typeof description !== "string") return simplified;
  const text = shorten(description);
  // only the pattern says how it is written
  return schema["pattern"] === minutePattern && !text.includes("YYYY")
    ? { ...simplified, description: `${text}; YYYY-MM-DDTHH:MM` }
    : { ...simplified, description: text };
}

function simplifyValue(key: string, value: Json): Json {
  if (plain.has(key)) return value;
  if (named.has(key) && isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, it]) => [name, simplify(it, name)]),
    );
  return Array.isArray(value)
    ? (value as readonly Json[]).map(it => simplify(it))
    : simplify(value);
}

const simplify = (value: Json, name?: string): Json =>
  isJsonObject(value) ? toModelSchema(value, name) : value;

function isOmitted(key: string, value: Json, schema: JsonSchema, name: string): boolean {
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
    case "default":
      return value === null;
    case "title":
      return (
        typeof value === "string" &&
        (name === "" || schema["description"] !== undefined || toWords(value) === toWords(name))
      );
    case "pattern":
      return (
        schema["description"] !== undefined ||
        schema["format"] !== undefined ||
        typeof value !== "string" ||
        value.length > longestPattern ||
        value === String.raw`\S`
      );
    default:
      return omitted.has(key) || key.startsWith("x-");
  }
}

const toWords = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\d]/gu, "");

/** What the descriptions of our servers often say, in fewer words. */
const shorten = (description: string): string =>
  description
    .replace(/, as (\w+(?: or \w+)?) gives (?:it|them)\b/, " from $1")
    .replace(/, (\d+) if not given\b/, ", default $1")
    .replace(/ if not given\b/, " by default");
