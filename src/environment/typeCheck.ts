/**
 * The first of the two checks of a call: required keys and JSON types, recursively. Ranges, enums
 * and formats are the second's.
 */
import type { JsonSchema } from "./server.ts";
import type { Json, JsonObject } from "./json.ts";

/**
 * Where and why a value does not fit a schema's required keys and JSON types, or undefined.
 * Integers accept 3.0, numbers accept integers, strings are never coerced, null fits only where the
 * schema says so, extra keys fit, any branch of anyOf/oneOf may fit.
 */
export function findTypeMismatch(schema: JsonSchema, value: unknown, at = ""): string | undefined {
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  if (branches) {
    const all = branches.map(it => findTypeMismatch(it, value, at));
    return all.includes(undefined) ? undefined : all[0];
  }
  const wanted = typesOf(schema);
  if (wanted.length > 0 && !wanted.some(it => isOfType(it, value)))
    return `${at || "arguments"} must be ${article(wanted.join(" or "))}, not ${nameOf(value)}`;
  if (isObject(value)) {
    for (const key of (schema["required"] ?? []) as readonly string[])
      if (!Object.hasOwn(value, key)) return `missing required argument ${join(at, key)}`;
    const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
    for (const key of Object.keys(properties)) {
      if (!Object.hasOwn(value, key)) continue;
      const why = findTypeMismatch(properties[key]!, value[key], join(at, key));
      if (why) return why;
    }
  }
  if (Array.isArray(value) && isObject(schema["items"])) {
    for (const [i, it] of value.entries()) {
      const why = findTypeMismatch(schema["items"], it, `${at}[${i}]`);
      if (why) return why;
    }
  }
  return undefined;
}

const join = (at: string, key: string) => (at ? `${at}.${key}` : key);
const article = (noun: string) => `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;
const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

function typesOf(schema: JsonSchema): readonly string[] {
  const type = schema["type"];
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type as string[];
  if ("const" in schema) return [jsonTypeOf(schema["const"])];
  return Array.isArray(schema["enum"])
    ? [...new Set((schema["enum"] as Json[]).map(jsonTypeOf))]
    : [];
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    default:
      return jsonTypeOf(value) === type;
  }
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

const nameOf = (value: unknown) =>
  value === null || typeof value === "number" ? String(value) : article(jsonTypeOf(value));
