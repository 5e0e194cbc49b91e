/**
 * What solvers read from the schemas of offered tools: which arguments are required, which values
 * are ids of entities or names of them, and which of them occur in a value.
 */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { JsonSchema, Tool } from "../../environment/server.ts";

export interface Argument {
  readonly key: string;
  readonly isRequired: boolean;
  /** The argument's schema, or the schema of its items if it is a list, without `null`. */
  readonly schema: JsonSchema;
  readonly isList: boolean;
  /** The entity that the argument identifies. */
  readonly entity: string | undefined;
  /** The entity whose name the argument is. */
  readonly label: string | undefined;
}

/** A string in a value that the schema declares to be an entity's id or name. */
export interface EntityValue {
  readonly entity: string;
  readonly value: string;
  /** People know the id and say it. */
  readonly isSpoken: boolean;
}

export interface EntityValues {
  readonly ids: readonly EntityValue[];
  readonly labels: readonly EntityValue[];
}

const argumentsByTool = new WeakMap<Tool, readonly Argument[]>();

/** The arguments that a tool takes. */
export function listArguments(tool: Tool): readonly Argument[] {
  let list = argumentsByTool.get(tool);
  if (!list) argumentsByTool.set(tool, (list = readArguments(tool.inputSchema)));
  return list;
}

function readArguments(inputSchema: JsonSchema): readonly Argument[] {
  const required = (inputSchema["required"] ?? []) as readonly string[];
  return Object.entries((inputSchema["properties"] ?? {}) as Record<string, JsonSchema>).map(
    ([key, published]) => {
      const whole = removeNull(published);
      const isList = whole["type"] === "array";
      const schema = isList ? removeNull((whole["items"] ?? {}) as JsonSchema) : whole;
      const readKeyword = (keyword: string) =>
        (whole[keyword] ?? schema[keyword]) as string | undefined;
      return {
        key,
        isRequired: required.includes(key),
        schema,
        isList,
        entity: readKeyword("x-entity"),
        label: readKeyword("x-label"),
      };
    },
  );
}

/** The ids and names of entities in a value, by its schema, in their order. */
export function findEntityValues(schema: JsonSchema, value: Json): EntityValues {
  const found = { ids: [] as EntityValue[], labels: [] as EntityValue[] };
  collectEntityValues(schema, value, found);
  return found;
}

function collectEntityValues(
  schema: JsonSchema,
  value: Json,
  found: { ids: EntityValue[]; labels: EntityValue[] },
): void {
  for (const it of listBranches(schema)) collectEntityValues(it, value, found);
  if (typeof value === "string") {
    const entity = schema["x-entity"] as string | undefined;
    const label = schema["x-label"] as string | undefined;
    const isSpoken = schema["x-spoken"] === true;
    if (entity !== undefined) found.ids.push({ entity, value, isSpoken });
    else if (label !== undefined) found.labels.push({ entity: label, value, isSpoken: true });
  } else if (Array.isArray(value)) {
    const items = schema["items"];
    if (isJsonObject(items)) for (const it of value) collectEntityValues(items, it as Json, found);
  } else if (isJsonObject(value)) {
    const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
    const others = schema["additionalProperties"];
    for (const [key, it] of Object.entries(value)) {
      const property = Object.hasOwn(properties, key) ? properties[key] : others;
      if (isJsonObject(property)) collectEntityValues(property, it, found);
    }
  }
}

/** Whether a tool's results have rows: a list of objects. */
export function returnsRows({ outputSchema }: Tool): boolean {
  const properties = Object.values(
    (outputSchema["properties"] ?? {}) as Record<string, JsonSchema>,
  );
  return properties.some(it => {
    const items = removeNull(it)["items"];
    return isJsonObject(items) && isJsonObject(removeNull(items)["properties"]);
  });
}

/** The names of all fields in a schema, at any depth. */
export function listFieldNames(schema: JsonSchema): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (it: Json | undefined): void => {
    if (!isJsonObject(it)) return;
    for (const branch of listBranches(it)) visit(branch);
    for (const [key, property] of Object.entries((it["properties"] ?? {}) as JsonObject)) {
      names.add(key);
      visit(property);
    }
    visit(it["items"]);
    visit(it["additionalProperties"]);
  };
  visit(schema);
  return names;
}

const listBranches = (schema: JsonSchema): readonly JsonSchema[] =>
  ((schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined) ?? [];

/** A schema's first branch that is not `null`, with the keywords beside the branches. */
function removeNull(schema: JsonSchema): JsonSchema {
  const first = listBranches(schema).find(it => it["type"] !== "null");
  return first ? { ...schema, ...removeNull(first) } : schema;
}
