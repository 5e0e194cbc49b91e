/** Finds the entities in a tool's result, with their labels and the plain fields beside them. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { listBranches, getKeyword, removeNull, type ToolDeclaration } from "./declarations.ts";

/** An entity in a result. */
export interface ResultEntity {
  readonly entity: string;
  readonly id: string;
  readonly label?: string;
  /** The plain fields beside the id. */
  readonly facts: JsonObject;
}

/** Finds the entities in a tool's result, in their order. */
export function findEntities(
  { tool, nameOnly, prefix }: ToolDeclaration,
  value: Json,
): ResultEntity[] {
  const entities: ResultEntity[] = [];
  collectEntities(tool.outputSchema, value, nameOnly, entities);
  return prefix === undefined
    ? entities
    : entities.map(it => ({ ...it, entity: `${prefix}${it.entity}` }));
}

function collectEntities(
  schema: JsonSchema,
  value: Json,
  nameOnly: ReadonlySet<string>,
  entities: ResultEntity[],
): void {
  for (const branch of listBranches(schema)) collectEntities(branch, value, nameOnly, entities);
  if (typeof value === "string") {
    const entity = getKeyword(schema, "x-entity");
    const label = getKeyword(schema, "x-label");
    if (entity !== undefined) entities.push({ entity, id: value, facts: {} });
    else if (label !== undefined && nameOnly.has(label))
      entities.push({ entity: label, id: value, label: value, facts: {} });
  } else if (Array.isArray(value)) {
    if (isJsonObject(schema["items"]))
      for (const it of value) collectEntities(schema["items"], it, nameOnly, entities);
  } else if (isJsonObject(value)) collectFromRow(schema, value, nameOnly, entities);
}

/** Collects a row's entities. The label and the facts of the row belong to its first id. */
function collectFromRow(
  schema: JsonSchema,
  row: JsonObject,
  nameOnly: ReadonlySet<string>,
  entities: ResultEntity[],
): void {
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  entities.push(...readRow(properties, row, nameOnly));
  for (const [key, property] of Object.entries(properties)) {
    const it = row[key];
    if (it !== undefined && it !== null && typeof it === "object")
      collectEntities(property, it, nameOnly, entities);
  }
  if (isJsonObject(schema["additionalProperties"]))
    for (const [key, it] of Object.entries(row))
      if (!Object.hasOwn(properties, key))
        collectEntities(schema["additionalProperties"], it, nameOnly, entities);
}

function readRow(
  properties: Readonly<Record<string, JsonSchema>>,
  row: JsonObject,
  nameOnly: ReadonlySet<string>,
): ResultEntity[] {
  const facts: Record<string, Json> = {};
  const labels: Record<string, string> = {};
  const ids: { entity: string; id: string }[] = [];
  for (const [key, published] of Object.entries(properties)) {
    const it = row[key];
    if (it === undefined || it === null) continue;
    const property = removeNull(published);
    const label = getKeyword(property, "x-label");
    const entity =
      getKeyword(property, "x-entity") ??
      (label !== undefined && nameOnly.has(label) ? label : undefined);
    if (entity !== undefined && typeof it === "string") ids.push({ entity, id: it });
    else if (typeof it !== "object") facts[key] = it;
    if (label !== undefined && typeof it === "string") labels[label] ??= it;
  }
  return ids.map(({ entity, id }, i) => ({
    entity,
    id,
    ...(labels[entity] === undefined ? {} : { label: labels[entity] }),
    facts: i === 0 ? facts : {},
  }));
}
