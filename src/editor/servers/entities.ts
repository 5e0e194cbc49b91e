/**
 * Lists the entities of a session for a person to choose from, as ids with short descriptions. They
 * are found in the tables of the state, or else by calling the server's read tools on a fork.
 */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { JsonSchema, Tool } from "../../environment/server.ts";
import type { Session } from "../../environment/session.ts";
import { toSingular } from "../../trajectory/entities.ts";
import { describeEntity, formatJson } from "../shared/jsonValues.ts";

export interface Entity {
  readonly id: string;
  readonly description: string;
}

/** The most entities to choose from; the id of any other can be typed. */
const maxEntities = 500;

/** How many levels of a state are searched for tables. */
const maxDepth = 3;

/** Lists the entities of a kind in a server's part of a session. */
export async function listEntities(
  kind: string,
  server: string,
  session: Session,
): Promise<readonly Entity[]> {
  const tables = findTables(kind, session.state[server]!.world, maxDepth);
  if (tables.length) return tables.flatMap(listTableEntities).slice(0, maxEntities);
  const entities = new Map<string, Entity>();
  for (const tool of session.tools.values())
    if (tool.server === server && requiresNothing(tool))
      for (const it of await listFromTool(tool, kind, session.fork())) entities.set(it.id, it);
  return [...entities.values()].slice(0, maxEntities);
}

const listTableEntities = (table: JsonObject): readonly Entity[] =>
  Object.entries(table).map(([id, row]) => ({ id, description: describeEntity(row) }));

/** Finds the tables that are named after the kind, at most `depth` levels deep. */
function findTables(kind: string, world: JsonObject, depth: number): readonly JsonObject[] {
  const tables = Object.entries(world).filter(
    ([name, it]) =>
      isJsonObject(it) &&
      toSingular(name) === toSingular(kind) &&
      Object.values(it).every(isJsonObject),
  );
  if (tables.length || depth === 1) return tables.map(([, it]) => it as JsonObject);
  return Object.values(world).flatMap(it =>
    isJsonObject(it) ? findTables(kind, it, depth - 1) : [],
  );
}

/** Whether a tool is a read without required arguments. */
const requiresNothing = (tool: Tool) =>
  tool.effect === "read" &&
  ((tool.inputSchema["required"] ?? []) as readonly string[]).length === 0;

async function listFromTool(
  tool: Tool,
  kind: string,
  session: Session,
): Promise<readonly Entity[]> {
  if (!mentionsEntity(tool.outputSchema, kind)) return [];
  const limit = getProperties(tool.inputSchema)["limit"]?.["maximum"];
  const args = typeof limit === "number" ? { limit } : {};
  await session.prepare([{ name: tool.name, arguments: args }]);
  const { outcome } = session.call(tool.name, args);
  return outcome.kind === "ok" ? collectEntities(tool.outputSchema, outcome.value, kind) : [];
}

const mentionsEntity = (schema: JsonSchema, kind: string): boolean =>
  schema["x-entity"] === kind || listSubschemas(schema).some(it => mentionsEntity(it, kind));

const listSubschemas = (schema: JsonSchema): readonly JsonSchema[] => [
  ...Object.values(getProperties(schema)),
  ...(isJsonObject(schema["items"]) ? [schema["items"]] : []),
];

const getProperties = (schema: JsonSchema) =>
  (schema["properties"] ?? {}) as Record<string, JsonSchema>;

/** Collects every id of the kind in a result, with the label beside it. */
function collectEntities(schema: JsonSchema, value: Json, kind: string): readonly Entity[] {
  if (Array.isArray(value))
    return (value as readonly Json[]).flatMap(it =>
      collectEntities((schema["items"] ?? {}) as JsonSchema, it, kind),
    );
  if (!isJsonObject(value))
    return schema["x-entity"] === kind && typeof value === "string"
      ? [{ id: value, description: "" }]
      : [];
  const properties = Object.entries(getProperties(schema)).filter(([key]) =>
    Object.hasOwn(value, key),
  );
  const label = properties.find(([, it]) => it["x-label"] === kind)?.[0];
  return properties.flatMap(([key, it]) =>
    collectEntities(it, value[key]!, kind).map(entity =>
      entity.description || label === undefined
        ? entity
        : { ...entity, description: formatJson(value[label]!) },
    ),
  );
}
