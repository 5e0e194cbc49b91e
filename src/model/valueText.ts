/**
 * How JSON values look in a small student's text: bare, as a user would write them, so that the
 * same value is the same tokens in a message, a result and a call. Written values read back
 * exactly, with the help of the tool's schema.
 */
import { isJsonObject } from "../environment/json.ts";
import type { Call, Conversation } from "../policy/policy.ts";

export type Tool = Conversation["tools"][number];
export type JsonSchema = Tool["inputSchema"];
type Json = Call["arguments"];

/** An argument as text. What would read back as something else is written as JSON. */
export function formatArgument(value: Json, schema: JsonSchema | undefined): string {
  const bare =
    Array.isArray(value) && value.length > 0
      ? value.map(it => (typeof it === "string" ? it : JSON.stringify(it))).join(", ")
      : formatBare(value);
  return areEqual(parseArgument(bare, schema), value) ? bare : JSON.stringify(value);
}

/**
 * The value a text means under a schema; a text that means none stays a string, and the environment
 * says what is wrong with it.
 */
export function parseArgument(text: string, schema: JsonSchema | undefined): Json {
  const types = typesOf(schema);
  const quoted = /^["[{]/.test(text) ? tryParseJson(text) : undefined;
  if (quoted !== undefined && (types.size === 0 || types.has(typeOf(quoted)))) return quoted;
  if (types.has("null") && text === "null") return null;
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if (
    (types.has("number") || types.has("integer")) &&
    /^-?\d{1,400}(\.\d{1,400})?(e[+-]?\d{1,3})?$/.test(text)
  )
    return Number(text);
  if (types.has("array")) return text.split(", ").map(it => parseArgument(it, itemsOf(schema)));
  return text;
}

const formatBare = (value: Json): string =>
  typeof value === "string" ? value : JSON.stringify(value);

function typesOf(schema: JsonSchema | undefined): ReadonlySet<string> {
  if (!schema) return new Set();
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  if (branches) return new Set(branches.flatMap(it => [...typesOf(it)]));
  const type = schema["type"];
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type as string[]);
  const values = (schema["enum"] ??
    ("const" in schema ? [schema["const"]] : [])) as readonly Json[];
  return new Set(values.map(typeOf));
}

function itemsOf(schema: JsonSchema | undefined): JsonSchema | undefined {
  const branches = (schema?.["anyOf"] ?? schema?.["oneOf"]) as readonly JsonSchema[] | undefined;
  return (branches?.find(it => "items" in it) ?? schema)?.["items"] as JsonSchema | undefined;
}

const typeOf = (value: Json): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // a text that only begins like JSON is a text
  }
}

const areEqual = (a: Json, b: Json) => JSON.stringify(a) === JSON.stringify(b);

/**
 * A result as rows of text, name first, then id, then the rest by key. `brief` leaves the rest out
 * of rows, which keeps lists short enough to be read whole.
 */
export function formatResultRows(
  value: Json,
  schema: JsonSchema | undefined,
  brief: boolean,
): readonly string[] {
  if (Array.isArray(value))
    return value.length
      ? value.map(it => formatRow(it, schema?.["items"] as JsonSchema | undefined, brief))
      : ["none"];
  if (!isJsonObject(value)) return [formatBare(value)];
  const keys = Object.keys(value);
  const only = keys.length === 1 ? value[keys[0]!] : undefined;
  if (Array.isArray(only)) return formatResultRows(only, propertyOf(schema, keys[0]!), brief);
  const lists = keys.filter(
    key => Array.isArray(value[key]) && (value[key] as readonly Json[]).some(isJsonObject),
  );
  const head = formatRow(
    Object.fromEntries(keys.filter(key => !lists.includes(key)).map(key => [key, value[key]!])),
    schema,
    false,
  );
  return [
    head,
    ...lists.flatMap(key => formatResultRows(value[key]!, propertyOf(schema, key), brief)),
  ];
}

function formatRow(value: Json, schema: JsonSchema | undefined, brief: boolean): string {
  if (!isJsonObject(value)) return formatBare(value);
  const keys = Object.keys(value);
  const label = keys.find(key => hasKeyword(schema, key, "x-label"));
  const id = keys.find(key => hasKeyword(schema, key, "x-entity"));
  const bare = [label, id].filter(key => key !== undefined);
  const rest =
    brief && bare.length > 0 ? [] : keys.filter(key => !bare.includes(key) && value[key] !== null);
  const shown = (it: Json): string =>
    isJsonObject(it)
      ? `(${formatRow(it, undefined, false)})`
      : Array.isArray(it)
        ? it.length
          ? it.map(shown).join(", ")
          : "none"
        : formatBare(it);
  return [
    ...bare.map(key => formatBare(value[key]!)),
    ...rest.map(key => `${key} ${shown(value[key]!)}`),
  ].join(" ");
}

const propertyOf = (schema: JsonSchema | undefined, key: string) =>
  (schema?.["properties"] as Record<string, JsonSchema> | undefined)?.[key];
const hasKeyword = (schema: JsonSchema | undefined, key: string, word: string) =>
  propertyOf(schema, key)?.[word] !== undefined;
