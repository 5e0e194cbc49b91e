/**
 * Finds the entities in a tool's result or arguments, as the tool's schemas declare them: their
 * ids, their labels, and the plain fields beside them.
 */
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import {
  getKeyword,
  getProperties,
  listBranches,
  removeNull,
} from "../environment/schemaKeywords.ts";
import type { JsonSchema, Tool } from "../environment/server.ts";

/** An entity in a result. */
export interface ResultEntity {
  readonly entity: string;
  readonly id: string;
  readonly label?: string;
  /** The plain fields beside the id. */
  readonly facts: JsonObject;
}

/** The tool of a result, and what is known of the entities of its server. */
export interface ResultSource {
  readonly tool: Pick<Tool, "outputSchema">;
  /** Entities without ids: their label is their id. */
  readonly nameOnly?: ReadonlySet<string>;
  /** Prepended to the names of entities. */
  readonly prefix?: string;
}

/** A text that the schema declares to be an entity's id or name. */
export interface EntityValue {
  readonly entity: string;
  readonly value: string;
  /** People know the id and say it. */
  readonly isSpoken: boolean;
}

const none: ReadonlySet<string> = new Set();

/**
 * Finds the entities in a tool's result, in their order. The label and the facts of a row belong to
 * its first id.
 */
export function findEntities(
  { tool, nameOnly = none, prefix = "" }: ResultSource,
  value: Json,
): ResultEntity[] {
  return listRows(tool.outputSchema, value).flatMap(row => readRow(row, nameOnly, prefix));
}

/** The ids and names of entities in a value, by its schema. */
export function findEntityValues(
  schema: JsonSchema,
  value: Json,
): { readonly ids: readonly EntityValue[]; readonly labels: readonly EntityValue[] } {
  const ids: EntityValue[] = [];
  const labels: EntityValue[] = [];
  for (const row of listRows(schema, value))
    for (const { schema: own, value: text } of row) {
      if (typeof text !== "string") continue;
      const entity = getKeyword(own, "x-entity");
      const label = getKeyword(own, "x-label");
      if (entity !== undefined)
        ids.push({ entity, value: text, isSpoken: own["x-spoken"] === true });
      else if (label !== undefined) labels.push({ entity: label, value: text, isSpoken: true });
    }
  return { ids, labels };
}

/** A plain field of an object, or a text outside of objects, which has no key. */
interface Field {
  readonly key?: string;
  readonly schema: JsonSchema;
  readonly value: string | number | boolean;
}

/** The plain fields of each object in a value; a text that is in no object is a row of its own. */
function listRows(schema: JsonSchema, value: Json): readonly (readonly Field[])[] {
  const rows: (readonly Field[])[] = [];
  addRows(schema, value, rows);
  return rows;
}

function addRows(schema: JsonSchema, value: Json, rows: (readonly Field[])[]): void {
  for (const it of listBranches(schema)) addRows(it, value, rows);
  if (typeof value === "string") rows.push([{ schema, value }]);
  else if (Array.isArray(value)) {
    const { items } = schema;
    if (isJsonObject(items)) for (const it of value) addRows(items, it as Json, rows);
  } else if (isJsonObject(value)) addRowsOfObject(schema, value, rows);
}

function addRowsOfObject(schema: JsonSchema, row: JsonObject, rows: (readonly Field[])[]): void {
  const properties = listProperties(schema);
  const fields: Field[] = [];
  for (const { key, plainSchema } of properties) {
    const it = row[key];
    if (it !== undefined && it !== null && typeof it !== "object")
      fields.push({ key, schema: plainSchema, value: it });
  }
  rows.push(fields);
  for (const { key, schema: own } of properties) {
    const it = row[key];
    if (it !== undefined && it !== null && typeof it === "object") addRows(own, it, rows);
  }
  const others = schema["additionalProperties"];
  if (!isJsonObject(others)) return;
  for (const [key, it] of Object.entries(row))
    if (!properties.some(own => own.key === key)) addRows(others, it, rows);
}

interface Property {
  readonly key: string;
  readonly schema: JsonSchema;
  /** The schema without `null`. */
  readonly plainSchema: JsonSchema;
}

const propertiesBySchema = new WeakMap<JsonSchema, readonly Property[]>();

/** The properties of an object's schema, which are read once for all results. */
function listProperties(schema: JsonSchema): readonly Property[] {
  let properties = propertiesBySchema.get(schema);
  if (!properties) {
    properties = Object.entries(getProperties(schema)).map(([key, it]) => ({
      key,
      schema: it,
      plainSchema: removeNull(it),
    }));
    propertiesBySchema.set(schema, properties);
  }
  return properties;
}

function readRow(
  row: readonly Field[],
  nameOnly: ReadonlySet<string>,
  prefix: string,
): ResultEntity[] {
  const facts: Record<string, Json> = {};
  const labels: Record<string, string> = {};
  const ids: { entity: string; id: string }[] = [];
  for (const { key, schema, value } of row) {
    const label = getKeyword(schema, "x-label");
    const isName = label !== undefined && nameOnly.has(label);
    const entity = getKeyword(schema, "x-entity") ?? (isName ? label : undefined);
    if (entity !== undefined && typeof value === "string") ids.push({ entity, id: value });
    else if (key !== undefined) facts[key] = value;
    const isLabel = label !== undefined && (key !== undefined || entity === label);
    if (isLabel && typeof value === "string") labels[label] ??= value;
  }
  return ids.map(({ entity, id }, i) => ({
    entity: `${prefix}${entity}`,
    id,
    ...(labels[entity] === undefined ? {} : { label: labels[entity] }),
    facts: i === 0 ? facts : {},
  }));
}
