/**
 * The menu of a task: the tools that a policy is offered, with the schemas that it sees. A session
 * still checks calls against the full schemas.
 */
import { z } from "zod";
import type { JsonSchema, Tool } from "./server.ts";
import { getJsonType } from "./argumentChecks.ts";
import { minute } from "./fieldSchemas.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";

interface MenuItem {
  readonly name: string;
  readonly enumsStripped?: true | undefined;
}

/** A tool that a menu lists and that no server implements. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/**
 * The tools of a menu, in its order; those marked so have no enum lists in their arguments. Names
 * without a tool, listed or real, are left out.
 */
export const listMenuTools = (
  tools: ReadonlyMap<string, Tool>,
  menu: readonly MenuItem[],
  listed: readonly ListedTool[] = [],
): readonly Tool[] =>
  menu.flatMap(({ name, enumsStripped }) => {
    const listedTool = listed.find(it => it.name === name);
    const tool = tools.get(name) ?? (listedTool && createListedTool(listedTool));
    if (!tool) return [];
    return enumsStripped ? getStrippedTool(tool) : tool;
  });

const strippedTools = new WeakMap<Tool, Tool>();

/** The tool without enum lists in its arguments: the same object each time. */
function getStrippedTool(tool: Tool): Tool {
  let stripped = strippedTools.get(tool);
  if (!stripped) {
    stripped = { ...tool, inputSchema: stripEnums(tool.inputSchema) as JsonSchema };
    strippedTools.set(tool, stripped);
  }
  return stripped;
}

/** A listed tool as a policy sees it. No session has it, so calling it is `unknown-tool`. */
const createListedTool = ({ name, description, parameters }: ListedTool): Tool => ({
  name,
  server: "",
  effect: "write",
  summary: description,
  destructive: false,
  idempotent: false,
  requires: [],
  input: z.record(z.string(), z.json()),
  returns: z.json(),
  inputSchema: parameters,
  outputSchema: {},
  run() {
    throw new Error(`${name} is only listed`);
  },
});

/** A schema without its enum lists. A list that alone gave the type is replaced by the type. */
function stripEnums(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(stripEnums);
  if (schema === null || typeof schema !== "object") return schema;
  const entries = Object.entries(schema).flatMap(([key, it]): [string, unknown][] => {
    if (key === "properties")
      return [
        [
          key,
          Object.fromEntries(
            Object.entries(it as object).map(([name, property]) => [name, stripEnums(property)]),
          ),
        ],
      ];
    if (key === "enum" && Array.isArray(it))
      return "type" in schema ? [] : [["type", [...new Set(it.map(getJsonType))]]];
    return [[key, stripEnums(it)]];
  });
  return Object.fromEntries(entries);
}

// The schema of a tool's arguments as models read it, in prompts, data sets and lists of tools. It
// has what a model needs to write a call; a session checks calls against the whole schema.

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
