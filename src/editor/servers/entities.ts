/**
 * The entities of a session's world, for a person to choose from: their ids, and the words by which
 * one knows them. Finds them in the world's own tables, else by asking the server's read tools on a
 * fork. Knows no editor.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { JsonSchema, Tool } from "../../environment/server.ts";
import type { Session } from "../../environment/session.ts";
import { textOf } from "./form.ts";

export interface Entity {
  readonly id: string;
  readonly about: string;
}

/** Enough to choose from; who wants another one types its id. */
const most = 500;

/** The entities of that kind that a server's part of a session has. */
export function entitiesOf(kind: string, server: string, session: Session): readonly Entity[] {
  const tables = tablesOf(kind, session.state[server]!.world, 3);
  if (tables.length) return tables.flatMap(rowsOf).slice(0, most);
  const found = new Map<string, Entity>();
  for (const tool of session.tools.values())
    if (tool.server === server && isListing(tool))
      for (const it of listedBy(tool, kind, session.fork())) found.set(it.id, it);
  return [...found.values()].slice(0, most);
}

const rowsOf = (table: JsonObject): readonly Entity[] =>
  Object.entries(table).map(([id, row]) => ({ id, about: aboutOf(row) }));

/** The tables that are named after the kind, at this depth of a world at most. */
function tablesOf(kind: string, world: JsonObject, depth: number): readonly JsonObject[] {
  const named = Object.entries(world).filter(
    ([name, it]) =>
      isRecord(it) && singular(name) === singular(kind) && Object.values(it).every(isRecord),
  );
  if (named.length || depth === 1) return named.map(([, it]) => it as JsonObject);
  return Object.values(world).flatMap(it => (isRecord(it) ? tablesOf(kind, it, depth - 1) : []));
}

const singular = (noun: string) =>
  noun.toLowerCase().replaceAll("_", "").replace(/ies$/, "y").replace(/s$/, "");

const isListing = (tool: Tool) =>
  tool.effect === "read" &&
  ((tool.inputSchema["required"] ?? []) as readonly string[]).length === 0;

function listedBy(tool: Tool, kind: string, session: Session): readonly Entity[] {
  if (!mentions(tool.outputSchema, kind)) return [];
  const limit = (tool.inputSchema["properties"] as Record<string, JsonSchema> | undefined)?.[
    "limit"
  ]?.["maximum"];
  const { outcome } = session.call(tool.name, typeof limit === "number" ? { limit } : {});
  return outcome.kind === "ok" ? gathered(tool.outputSchema, outcome.value, kind) : [];
}

const mentions = (schema: JsonSchema, kind: string): boolean =>
  schema["x-entity"] === kind || partsOf(schema).some(it => mentions(it, kind));

const partsOf = (schema: JsonSchema): readonly JsonSchema[] => [
  ...Object.values((schema["properties"] ?? {}) as Record<string, JsonSchema>),
  ...(isRecord(schema["items"]) ? [schema["items"]] : []),
];

/** Every id of the kind in a result, with the label that stands beside it. */
function gathered(schema: JsonSchema, value: Json, kind: string): readonly Entity[] {
  if (Array.isArray(value))
    return (value as readonly Json[]).flatMap(it =>
      gathered((schema["items"] ?? {}) as JsonSchema, it, kind),
    );
  if (!isRecord(value))
    return schema["x-entity"] === kind && typeof value === "string"
      ? [{ id: value, about: "" }]
      : [];
  const properties = Object.entries(
    (schema["properties"] ?? {}) as Record<string, JsonSchema>,
  ).filter(([key]) => Object.hasOwn(value, key));
  const about = properties.find(([, it]) => it["x-label"] === kind)?.[0];
  return properties.flatMap(([key, it]) =>
    gathered(it, value[key]!, kind).map(found =>
      found.about || about === undefined ? found : { ...found, about: textOf(value[about]!) },
    ),
  );
}

const isRecord = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** The words by which a person knows an entity, or its first few values. */
export function aboutOf(value: Json): string {
  if (!isRecord(value)) return Array.isArray(value) ? `${value.length} items` : textOf(value);
  for (const key of ["name", "title", "label", "summary", "text", "subject"])
    if (typeof value[key] === "string") return value[key];
  return Object.entries(value)
    .filter(([, it]) => it === null || typeof it !== "object")
    .slice(0, 3)
    .map(([, it]) => textOf(it))
    .join(", ");
}
