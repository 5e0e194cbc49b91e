/** Values as rows of a tree that loads the children of a row when it is expanded. */
import type { Json, JsonObject } from "../../../environment/json.ts";

export interface ValueRow {
  readonly name: string;
  readonly text: string;
  readonly rows?: () => readonly ValueRow[];
  /** The expression that evaluates to the value. */
  readonly path?: string;
  readonly value?: Json;
}

/** A row for a value; objects and lists can be expanded. */
export function createValueRow(name: string, value: Json, path?: string): ValueRow {
  const hasChildren = value !== null && typeof value === "object" && Object.keys(value).length > 0;
  return {
    name,
    text: formatInline(value),
    value,
    ...(path === undefined ? {} : { path }),
    ...(hasChildren ? { rows: () => createChildRows(value, path) } : {}),
  };
}

export const createChildRows = (value: Json, path: string | undefined): readonly ValueRow[] =>
  Object.entries(value as JsonObject).map(([key, it]) =>
    createValueRow(key, it, path === undefined ? undefined : appendKey(path, key)),
  );

/** The expression for a key of the value at a path. */
export const appendKey = (path: string, key: string): string =>
  /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

/** A value on one line; a collection is shown by its size, an entity by its first fields. */
export function formatInline(value: Json): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value);
  const isCollection =
    entries.length > 1 &&
    entries.every(([, it]) => it !== null && typeof it === "object" && !Array.isArray(it));
  if (isCollection || entries.length === 0) return `${entries.length} entries`;
  return truncate(
    `{ ${entries.map(([key, it]) => `${key}: ${formatField(it)}`).join(", ")} }`,
    120,
  );
}

function formatField(value: Json): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  return value !== null && typeof value === "object" ? "{…}" : JSON.stringify(value);
}

export const truncate = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
