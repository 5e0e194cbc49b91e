/**
 * A tool's arguments as fields that a person fills in one by one: what to ask, and whether what was typed fits. Read from
 * the published JSON Schema; knows no editor.
 */
import { misfit } from "../environment/fits.ts";
import type { Json, JsonObject } from "../environment/json.ts";
import type { JsonSchema } from "../environment/server.ts";

export interface Field {
  readonly key: string;
  readonly isRequired: boolean;
  readonly description: string;
  /** The values to choose from, where there are only so many. */
  readonly choices?: readonly Json[];
  readonly example?: string;
  /** The entity that the value identifies. */
  readonly entity?: string;
  readonly schema: JsonSchema;
}

/** The fields of a tool's arguments, required ones first. */
export function fieldsOf(inputSchema: JsonSchema): readonly Field[] {
  const properties = (inputSchema["properties"] ?? {}) as Record<string, JsonSchema>;
  const required = new Set((inputSchema["required"] ?? []) as readonly string[]);
  const fields = Object.entries(properties).map(([key, schema]) => fieldOf(key, schema, required.has(key)));
  return [...fields.filter(it => it.isRequired), ...fields.filter(it => !it.isRequired)];
}

function fieldOf(key: string, schema: JsonSchema, isRequired: boolean): Field {
  const choices = choicesOf(schema);
  const examples = schema["examples"] as readonly Json[] | undefined;
  const entity = schema["x-entity"];
  return {
    key,
    isRequired,
    description: (schema["description"] as string | undefined) ?? typeName(schema),
    schema,
    ...(choices ? { choices } : {}),
    ...(examples?.length ? { example: textOf(examples[0]!) } : {}),
    ...(typeof entity === "string" ? { entity } : {}),
  };
}

function choicesOf(schema: JsonSchema): readonly Json[] | undefined {
  if (Array.isArray(schema["enum"])) return schema["enum"] as Json[];
  if (schema["type"] === "boolean") return [true, false];
  return "const" in schema ? [schema["const"]!] : undefined;
}

export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** What was typed, as the value of a field; or why it does not fit. Text needs no quotes, everything else is JSON. */
export function parseField({ key, schema }: Field, typed: string): { readonly value: Json } | { readonly why: string } {
  const value = isText(schema) ? typed : jsonOf(typed);
  if (value === undefined) return { why: `${key} must be ${typeName(schema)}, written as JSON` };
  const why = misfit(schema, value, key);
  return why ? { why } : { value };
}

const isText = (schema: JsonSchema) => schema["type"] === "string" || ((schema["type"] === undefined) && Array.isArray(schema["enum"]));

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // what a person types is often not JSON: the caller says so
    return undefined;
  }
}

const typeName = (schema: JsonSchema): string => [(schema["type"] as string | string[] | undefined) ?? "a value"].flat().join(" or ");

/** Ids in a world that may fill a field: the keys of the collection that is named after the entity. */
export function idsFor(entity: string, world: JsonObject): readonly { readonly id: string; readonly about: string }[] {
  for (const [name, collection] of Object.entries(world)) {
    if (!isRecord(collection) || !(name === entity || singular(name) === entity)) continue;
    return Object.entries(collection).map(([id, it]) => ({ id, about: aboutOf(it) }));
  }
  return [];
}

const singular = (noun: string) => noun.replace(/ies$/, "y").replace(/s$/, "");
const isRecord = (value: unknown): value is JsonObject => value !== null && typeof value === "object" && !Array.isArray(value);

/** The words by which a person knows an entity, or its first few values. */
export function aboutOf(value: Json): string {
  if (!isRecord(value)) return Array.isArray(value) ? `${value.length} items` : textOf(value);
  for (const key of ["name", "title", "label", "summary", "text", "subject"]) if (typeof value[key] === "string") return value[key];
  return Object.entries(value)
    .filter(([, it]) => it === null || typeof it !== "object")
    .slice(0, 3)
    .map(([, it]) => textOf(it))
    .join(", ");
}
