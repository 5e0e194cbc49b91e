/**
 * Formats JSON values as plain text for a small student, as a user would write them, so that a
 * value has the same tokens in a message, a result and a call. With the tool's schema, an argument
 * is parsed back exactly.
 */
import type { Call } from "../../environment/outcome.ts";
import { isJsonObject } from "../../environment/json.ts";
import { findTotalField, isCut } from "../../environment/listTotals.ts";
import { listBranches, toSchema } from "../../environment/schemaKeywords.ts";
import type { Conversation } from "../../policy/policy.ts";
import { isTooDeep } from "../../storage/jsonDepth.ts";

export type Tool = Conversation["tools"][number];
export type JsonSchema = Tool["inputSchema"];
type Json = Call["arguments"];

/** An argument as text, or as JSON if the text would be parsed as another value. */
export function formatArgument(value: Json, schema: JsonSchema | undefined): string {
  const bare =
    Array.isArray(value) && value.length > 0
      ? value.map(it => (typeof it === "string" ? it : JSON.stringify(it))).join(", ")
      : formatBare(value);
  return areEqual(parseArgument(bare, schema), value) ? bare : JSON.stringify(value);
}

/**
 * Parses a text as a value of a schema. A text that does not match stays a string, which the
 * environment then refuses with an explanation.
 */
export function parseArgument(text: string, schema: JsonSchema | undefined): Json {
  const types = typesOf(schema);
  const json = /^["[{]/.test(text) ? tryParseJson(text) : undefined;
  if (json !== undefined && (types.size === 0 || types.has(typeOf(json)))) return json;
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

const keptTypes = new WeakMap<JsonSchema, ReadonlySet<string>>();

/** The types of a schema's values, which are listed once: it may have a hundred thousand values. */
function typesOf(schema: JsonSchema | undefined): ReadonlySet<string> {
  if (!isJsonObject(schema)) return new Set();
  let types = keptTypes.get(schema);
  if (!types) keptTypes.set(schema, (types = listTypes(schema)));
  return types;
}

function listTypes(schema: JsonSchema): ReadonlySet<string> {
  const branches = listBranches(schema);
  if (branches.length > 0) return new Set(branches.flatMap(it => [...typesOf(it)]));
  const type = schema["type"];
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type as string[]);
  const values = (schema["enum"] ??
    ("const" in schema ? [schema["const"]] : [])) as readonly Json[];
  return new Set(values.map(typeOf));
}

export function itemsOf(schema: JsonSchema | undefined): JsonSchema | undefined {
  const branches = listBranches(toSchema(schema)).map(toSchema);
  return (branches.find(it => "items" in it) ?? schema)?.["items"] as JsonSchema | undefined;
}

const typeOf = (value: Json): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

function tryParseJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isTooDeep(value, "value") ? undefined : value;
  } catch {
    return undefined; // text that only begins like JSON
  }
}

const areEqual = (a: Json, b: Json) => JSON.stringify(a) === JSON.stringify(b);

/**
 * Formats a result as rows of text: the name, the id, then the other properties with their keys.
 * With `brief`, rows that have a name or an id leave the others out.
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
  // rows that are all there need no total
  const total = schema && !isCut(schema, value) ? findTotalField(schema)?.key : undefined;
  const keys = Object.keys(value).filter(it => it !== total);
  const onlyValue = keys.length === 1 ? value[keys[0]!] : undefined;
  if (Array.isArray(onlyValue))
    return formatResultRows(onlyValue, propertyOf(schema, keys[0]!), brief);
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
  const leading = [label, id].filter(key => key !== undefined);
  const others =
    brief && leading.length > 0
      ? []
      : keys.filter(key => !leading.includes(key) && value[key] !== null);
  const format = (it: Json): string =>
    isJsonObject(it)
      ? `(${formatRow(it, undefined, false)})`
      : Array.isArray(it)
        ? it.length
          ? it.map(format).join(", ")
          : "none"
        : formatBare(it);
  return [
    ...leading.map(key => formatBare(value[key]!)),
    ...others.map(key => `${key} ${format(value[key]!)}`),
  ].join(" ");
}

const propertyOf = (schema: JsonSchema | undefined, key: string) =>
  (schema?.["properties"] as Record<string, JsonSchema> | undefined)?.[key];
const hasKeyword = (schema: JsonSchema | undefined, key: string, word: string) =>
  propertyOf(schema, key)?.[word] !== undefined;
