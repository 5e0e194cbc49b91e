/** Infers the schema of a value from examples of it. */
import { isJsonObject, type Json } from "./json.ts";
import type { JsonSchema } from "./server.ts";

/** The schema of a value; for a list, the combined schema of its rows. */
export function inferSchema(value: Json): JsonSchema {
  if (Array.isArray(value)) return { type: "array", items: combineSchemas(value.map(inferSchema)) };
  if (value === null) return { type: "null" };
  if (typeof value !== "object") return { type: typeof value };
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(value).map(([key, it]) => [key, inferSchema(it)]),
    ),
  };
}

/** A schema that describes what all of them do, as far as they agree. */
export function combineSchemas(schemas: readonly JsonSchema[]): JsonSchema {
  const known = schemas.filter(it => it["type"] !== "null" && Object.keys(it).length > 0);
  const [first, ...rest] = known.length > 0 ? known : schemas;
  return rest.reduce((all, it) => combine(all, it), first ?? {});
}

function combine(a: JsonSchema, b: JsonSchema): JsonSchema {
  if (a["type"] !== b["type"]) return {};
  if (a["type"] === "array")
    return { type: "array", items: combineSchemas([a["items"], b["items"]].filter(isJsonObject)) };
  if (a["type"] !== "object") return a;
  const [ours, theirs] = [a, b].map(it => (it["properties"] ?? {}) as Record<string, JsonSchema>);
  const keys = new Set([...Object.keys(ours!), ...Object.keys(theirs!)]);
  return {
    type: "object",
    properties: Object.fromEntries(
      Array.from(keys, key => [
        key,
        combineSchemas([ours![key], theirs![key]].filter(it => it !== undefined)),
      ]),
    ),
  };
}
