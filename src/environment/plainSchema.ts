/**
 * Reads the JSON Schemas that other programs publish for their tools into the plain form that
 * forms, type checks, grammars and labels read: references are followed, `allOf` is merged, and
 * what is no schema or no type of JSON is left out, so that the program that runs the tool decides.
 */
import { isDeepStrictEqual } from "node:util";
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "./json.ts";
import type { JsonSchema } from "./server.ts";

const plainTools = new WeakMap<object, object>();

/** A tool with the plain schema of its arguments: the same object each time. */
export function toPlainTool<T extends { readonly inputSchema: JsonSchema }>(tool: T): T {
  let plain = plainTools.get(tool) as T | undefined;
  if (!plain) {
    const read = readInputSchema(tool.inputSchema);
    const isPlain = "reason" in read || isDeepStrictEqual(read.schema, tool.inputSchema);
    plain = isPlain ? tool : { ...tool, inputSchema: read.schema };
    plainTools.set(tool, plain);
  }
  return plain;
}

/** The schema of a tool's arguments, or why no arguments can be read from it. */
export function readInputSchema(
  published: unknown,
): { readonly schema: JsonSchema } | { readonly reason: string } {
  // PHP writes an empty object as a list
  const isEmpty = published === undefined || published === null || published === true;
  if (isEmpty || (Array.isArray(published) && published.length === 0))
    return { schema: { type: "object" } };
  if (!isJsonObject(published))
    return { reason: `its inputSchema is ${describe(published)}, not a schema` };
  const schema = normalize(published);
  const names = [schema["type"] ?? "object"].flat() as readonly string[];
  if (!names.includes("object"))
    return { reason: `its arguments are of type ${names.join(" or ")}, not object` };
  const branches = listBranches(schema);
  if (branches.length === 0) return { schema: { ...schema, type: "object" } };
  const records = branches.filter(it => (it["type"] ?? "object") === "object");
  if (records.length === 0) return { reason: "no alternative of its arguments is an object" };
  const own = isJsonObject(schema["properties"]) ? {} : joinBranches(records);
  return { schema: { ...schema, ...own, type: "object" } };
}

/** The schema of a tool's results; empty if it says nothing that can be read. */
export const readOutputSchema = (published: unknown): JsonSchema =>
  isJsonObject(published) ? normalize(published) : {};

const describe = (value: unknown) =>
  Array.isArray(value) ? "a list" : value === false ? "false" : `a ${typeof value}`;

/** The alternatives of a schema, with those of alternatives. */
function listBranches(schema: JsonSchema): readonly JsonSchema[] {
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  return (branches ?? []).flatMap(it => {
    const inner = listBranches(it);
    return inner.length > 0 && !isJsonObject(it["properties"]) ? inner : [it];
  });
}

/** The arguments of all alternatives, of which those are required that all require. */
function joinBranches(branches: readonly JsonSchema[]): JsonObject {
  const byKey = new Map<string, JsonSchema[]>();
  for (const it of branches)
    for (const [key, schema] of Object.entries((it["properties"] ?? {}) as JsonObject))
      byKey.set(key, [...(byKey.get(key) ?? []), schema as JsonSchema]);
  const join = (schemas: readonly JsonSchema[]): JsonSchema => {
    const distinct = [...new Map(schemas.map(it => [canonicalJson(it), it])).values()];
    return distinct.length === 1 ? distinct[0]! : { anyOf: distinct };
  };
  return {
    properties: Object.fromEntries(Array.from(byKey, ([key, it]) => [key, join(it)])),
    required: [...byKey.keys()].filter(key =>
      branches.every(it => (it["required"] as readonly string[] | undefined)?.includes(key)),
    ),
  };
}

/** Limits, because references can repeat a schema without an end. */
const maxDepth = 40;
const maxSchemas = 20_000;
/** With more alternatives, what stands beside them is not repeated in each. */
const maxBranches = 30;

const types = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
/** Keywords whose value can be null. */
const valueKeywords = new Set(["default", "const", "example"]);
const textKeywords = new Set(["title", "description", "format", "pattern", "$schema"]);
const numberKeywords =
  /^(?:m(?:in|ax)(?:Length|Items|Properties|imum|Contains)|exclusiveM(?:in|ax)imum|multipleOf)$/;
const listKeywords = new Set(["enum", "examples"]);
const schemaKeywords = new Set([
  "items",
  "additionalItems",
  "contains",
  "unevaluatedItems",
  "additionalProperties",
  "propertyNames",
  "unevaluatedProperties",
  "not",
  "if",
  "then",
  "else",
]);
const schemaMapKeywords = new Set(["properties", "patternProperties", "dependentSchemas"]);
const schemaListKeywords = new Set(["anyOf", "oneOf", "prefixItems"]);
/** Keywords that were merged, or that only references need. */
const readKeywords = new Set(["$ref", "allOf", "$defs", "definitions"]);
/** Keywords that say nothing about a value, and stay where they are. */
const isRemark = (key: string) =>
  /^(?:title|description|default|examples?|deprecated|readOnly|writeOnly|\$.*|x-.*)$/.test(key);

function normalize(root: JsonObject): JsonSchema {
  let count = 0;

  function readSchema(schema: unknown, depth: number, references: readonly string[]): JsonSchema {
    if (schema === false) return { not: {} };
    if (!isJsonObject(schema) || depth > maxDepth || ++count > maxSchemas) return {};
    const parts = [readKeys(schema, depth, references)];
    const reference = schema["$ref"];
    // a schema within itself allows everything
    if (typeof reference === "string" && !references.includes(reference))
      parts.push(readSchema(findReferred(root, reference), depth + 1, [...references, reference]));
    if (Array.isArray(schema["allOf"]))
      for (const it of schema["allOf"]) parts.push(readSchema(it, depth + 1, references));
    return splitTypes(repeatInBranches(parts.reduce(merge), depth));
  }

  function readKeys(schema: JsonObject, depth: number, references: readonly string[]): JsonSchema {
    const read = (it: unknown) => readSchema(it, depth + 1, references);
    const entries = Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
      if (readKeywords.has(key) || (value === null && !valueKeywords.has(key))) return [];
      if (schemaKeywords.has(key)) {
        if (Array.isArray(value)) return [[key, value.map(read)]];
        return typeof value === "boolean" || isJsonObject(value)
          ? [[key, typeof value === "boolean" ? value : read(value)]]
          : [];
      }
      if (schemaMapKeywords.has(key))
        return isJsonObject(value) ? [[key, readProperties(value, read)]] : [];
      if (schemaListKeywords.has(key)) {
        const branches = Array.isArray(value) ? value.filter(isSchema).map(read) : [];
        return branches.length > 0 ? [[key, branches]] : [];
      }
      if (key === "type") return readType(value);
      if (key === "required")
        return Array.isArray(value) ? [[key, value.filter(it => isOffered(schema, it))]] : [];
      const isOfKind =
        (!textKeywords.has(key) || typeof value === "string") &&
        (!numberKeywords.test(key) || typeof value === "number") &&
        (!listKeywords.has(key) || Array.isArray(value));
      return isOfKind ? [[key, value]] : [];
    });
    return Object.fromEntries(entries);
  }

  return readSchema(root, 0, ["#"]);
}

const isSchema = (value: unknown) => typeof value === "boolean" || isJsonObject(value);

/** Whether a required key can be given a value. */
const isOffered = ({ properties }: JsonObject, key: Json): boolean =>
  typeof key === "string" && !(isJsonObject(properties) && properties[key] === false);

/** An argument that nothing may be given for is not offered. */
const readProperties = (properties: JsonObject, read: (it: unknown) => JsonSchema): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([key, it]) => (it === false ? [] : [[key, read(it)]])),
  );

/** Types that JSON does not have, such as `float`, are left to the server. */
function readType(value: Json): [string, Json][] {
  const names = [value].flat();
  if (names.length === 0 || !names.every(it => types.has(it as string))) return [];
  return [["type", names.length === 1 ? names[0]! : names]];
}

/** The schema that a JSON pointer within the root leads to. */
function findReferred(root: JsonObject, reference: string): unknown {
  if (!/^#(?:\/|$)/.test(reference)) return undefined;
  return reference
    .split("/")
    .slice(1)
    .reduce<unknown>((value, step) => {
      const key = decode(step).replaceAll("~1", "/").replaceAll("~0", "~");
      return value !== null && typeof value === "object" && Object.hasOwn(value, key)
        ? (value as Readonly<Record<string, unknown>>)[key]
        : undefined;
    }, root);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // a percent sign that stands for itself
    return text;
  }
}

/** A schema that demands what both do, as far as one schema says it; `a` comes first. */
function merge(a: JsonSchema, b: JsonSchema): JsonSchema {
  const required = [a, b].flatMap(it => (it["required"] ?? []) as readonly string[]);
  return {
    ...b,
    ...a,
    ...(isJsonObject(a["properties"]) && isJsonObject(b["properties"])
      ? { properties: { ...b["properties"], ...a["properties"] } }
      : {}),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  };
}

/** Adds what stands beside alternatives to each of them. The arguments of a tool stay as they are. */
function repeatInBranches(schema: JsonSchema, depth: number): JsonSchema {
  const key = schema["anyOf"] ? "anyOf" : "oneOf";
  const branches = schema[key] as readonly JsonSchema[] | undefined;
  if (!branches || depth === 0 || branches.length > maxBranches) return schema;
  const keys = Object.keys(schema).filter(it => it !== "anyOf" && it !== "oneOf");
  const pick = (isPicked: (key: string) => boolean) =>
    Object.fromEntries(keys.filter(isPicked).map(it => [it, schema[it]!]));
  const beside = pick(it => !isRemark(it));
  const repeated = branches.map(it => splitTypes(merge(it, beside)));
  return repeated.length === 1
    ? { ...repeated[0]!, ...pick(isRemark) }
    : { ...pick(isRemark), [key]: repeated };
}

/** A list of types as alternatives, so that a form can ask for one of them. */
function splitTypes(schema: JsonSchema): JsonSchema {
  const names = schema["type"];
  if (!Array.isArray(names) || "enum" in schema || "const" in schema || schema["anyOf"])
    return schema;
  const { type: _, ...rest } = schema;
  const remarks = Object.entries(rest).filter(([key]) => isRemark(key));
  const others = Object.fromEntries(Object.entries(rest).filter(([key]) => !isRemark(key)));
  return {
    ...Object.fromEntries(remarks),
    anyOf: names.map(it => (it === "null" ? { type: it } : { ...others, type: it })),
  };
}
