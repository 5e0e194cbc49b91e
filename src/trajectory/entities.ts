/**
 * Finds entities: in a tool's result or arguments, as the tool's schemas declare them, with their
 * ids, their labels and the plain fields beside them; and by their ids in the state of a server.
 */
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import {
  getKeyword,
  getProperties,
  listBranches,
  removeNull,
} from "../environment/schemaKeywords.ts";
import type { JsonSchema, Tool } from "../environment/server.ts";

/**
 * The id of an entity, as results have it and arguments take it: a text, or a whole number on
 * servers that count what they have.
 */
export type EntityId = string | number;

/** An entity in a result. */
export interface ResultEntity {
  readonly entity: string;
  readonly id: EntityId;
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

/** What the schema declares to be an entity's id or name. */
interface EntityValue<Value extends EntityId> {
  readonly entity: string;
  readonly value: Value;
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

/** Whether a value can be an entity's id. */
export const isEntityId = (value: Json | undefined): value is EntityId =>
  typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));

/** The id that a text stands for, as an argument or a result of that schema has it. */
export const toEntityId = (text: string, { type }: JsonSchema): EntityId =>
  (type === "integer" || type === "number") && isEntityId(Number(text)) ? Number(text) : text;

/** The ids and names of entities in a value, by its schema. */
export function findEntityValues(
  schema: JsonSchema,
  value: Json,
): {
  readonly ids: readonly EntityValue<EntityId>[];
  readonly labels: readonly EntityValue<string>[];
} {
  const ids: EntityValue<EntityId>[] = [];
  const labels: EntityValue<string>[] = [];
  for (const row of listRows(schema, value))
    for (const { schema: own, value: it } of row) {
      const entity = getKeyword(own, "x-entity");
      const label = getKeyword(own, "x-label");
      if (entity !== undefined && isEntityId(it))
        ids.push({ entity, value: it, isSpoken: own["x-spoken"] === true });
      else if (entity === undefined && label !== undefined && typeof it === "string")
        labels.push({ entity: label, value: it, isSpoken: true });
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
  if (isEntityId(value)) rows.push([{ schema, value }]);
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
  const ids: { entity: string; id: EntityId }[] = [];
  for (const { key, schema, value } of row) {
    const label = getKeyword(schema, "x-label");
    const isName = label !== undefined && nameOnly.has(label);
    const entity = getKeyword(schema, "x-entity") ?? (isName ? label : undefined);
    if (entity !== undefined && isEntityId(value)) ids.push({ entity, id: value });
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

/** The keys that lead to an entity from the state of its server. */
type EntityPath = readonly string[];

/** How many levels of a state are searched for collections. */
const maxDepth = 4;

const indices = new WeakMap<JsonObject, ReadonlyMap<string, readonly EntityPath[]>>();

/**
 * The entities of a state by id: the members of its collections. A collection is an object whose
 * values are all objects.
 */
function indexEntities(world: JsonObject): ReadonlyMap<string, readonly EntityPath[]> {
  const known = indices.get(world);
  if (known) return known;
  const index = new Map<string, EntityPath[]>();
  const visit = (value: JsonObject, path: EntityPath): void => {
    const isCollection = path.length > 0 && Object.values(value).every(it => isJsonObject(it));
    for (const [key, it] of Object.entries(value)) {
      if (!isJsonObject(it)) continue;
      const own = [...path, key];
      const paths = index.get(key);
      if (isCollection && paths) paths.push(own);
      else if (isCollection) index.set(key, [own]);
      if (own.length < maxDepth) visit(it, own);
    }
  };
  visit(world, []);
  indices.set(world, index);
  return index;
}

/** Whether a state has an entity with that id. */
export const hasEntity = (world: JsonObject, id: string): boolean => indexEntities(world).has(id);

/**
 * Finds an entity by its id, such as `acc_101`, or by a field that only it has, such as a booking's
 * reference or the path of a file. Of several, the one in the collection of that kind.
 */
export function findEntityPath(
  world: JsonObject,
  id: string,
  kind?: string,
): EntityPath | undefined {
  const paths = indexEntities(world).get(id);
  if (paths) return paths.find(it => isOfKind(it, kind)) ?? paths[0];
  return findFilePath(world, id) ?? findByField(world, id, kind);
}

/** The value at a path. */
export function getEntity(world: JsonObject, path: EntityPath): Json | undefined {
  let value: Json | undefined = world;
  for (const key of path)
    value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

const isOfKind = (path: EntityPath, kind: string | undefined): boolean =>
  kind !== undefined && path.some(it => toSingular(it) === toSingular(kind));

/** A noun without its plural and its underscores, to compare names of collections and kinds. */
export const toSingular = (noun: string) =>
  noun.toLowerCase().replaceAll("_", "").replace(/ies$/, "y").replace(/s$/, "");

/**
 * Finds a file by its absolute path or its path in the user's home, in a state whose folders have
 * their files in `entries`.
 */
function findFilePath(world: JsonObject, id: string): EntityPath | undefined {
  const home = id.startsWith("~")
    ? getEntity(world, ["users", world["user"] as string, "home"])
    : "";
  const file = typeof home === "string" ? id.replace(/^~/, home) : id;
  if (!file.startsWith("/")) return undefined;
  const keys = file.split("/").filter(it => it !== "");
  const path = ["root", ...keys.flatMap(it => ["entries", it])];
  return getEntity(world, path) === undefined ? undefined : path;
}

/** The only entity with a field of that value; of several, the only one of that kind. */
function findByField(
  world: JsonObject,
  id: string,
  kind: string | undefined,
): EntityPath | undefined {
  const paths = Object.entries(world).flatMap(([name, collection]) =>
    isJsonObject(collection)
      ? Object.entries(collection).flatMap(([key, it]) =>
          isJsonObject(it) && Object.values(it).includes(id) ? [[name, key]] : [],
        )
      : [],
  );
  const own = paths.filter(it => isOfKind(it, kind));
  if (own.length === 1) return own[0];
  return paths.length === 1 ? paths[0] : undefined;
}
