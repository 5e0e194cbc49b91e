/**
 * JSON values of states as the editor shows them: as short texts, as the levels of a tree that
 * marks the last call's changes, and by their JSON Pointers (RFC 6901).
 */
import { getAt, isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { Patch } from "../../environment/outcome.ts";
import type { State } from "../../environment/state.ts";

/** The keys of a JSON Pointer. */
export const splitPointer = (pointer: string): readonly string[] =>
  pointer
    .slice(1)
    .split("/")
    .map(it => it.replaceAll("~1", "/").replaceAll("~0", "~"));

/** The value at a JSON Pointer; undefined if there is none. */
export const getValueAt = (state: State, pointer: string): Json | undefined =>
  getAt(state as unknown as Json, splitPointer(pointer));

/** The name of what a patch changes, such as `accounts.acc_101.balance`. */
export const formatPatchPath = (path: string): string =>
  path
    .slice(1)
    .replace(/^[^/]+\/world\//, "")
    .replaceAll("/", ".");

/** A string as it is, any other value as JSON. */
export const formatJson = (value: Json): string =>
  typeof value === "string" ? value : JSON.stringify(value);

const nameKeys = ["name", "title", "label", "summary", "text", "subject"];

/** Describes an entity by its name or title, otherwise by its first three plain values. */
export function describeEntity(value: Json): string {
  if (!isJsonObject(value))
    return Array.isArray(value) ? `${value.length} items` : formatJson(value);
  for (const key of nameKeys) if (typeof value[key] === "string") return value[key];
  return Object.entries(value)
    .filter(([, it]) => it === null || typeof it !== "object")
    .slice(0, 3)
    .map(([, it]) => formatJson(it))
    .join(", ");
}

export interface ValueNode {
  readonly key: string;
  /** The JSON pointer from the root of the state, such as `/banking/world/accounts`. */
  readonly path: string;
  readonly value: Json;
  /** `here`: a patch added or replaced the value. `below`: a patch changed a part of it. */
  readonly changed?: "here" | "below";
}

/** Lists the children of a value in its own order. */
export function listChildren(
  value: Json,
  path: string,
  patches: readonly Patch[],
): readonly ValueNode[] {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value as JsonObject).map(([key, child]) => {
    const childPath = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const changed = findChange(childPath, patches);
    return { key, path: childPath, value: child, ...(changed ? { changed } : {}) };
  });
}

function findChange(path: string, patches: readonly Patch[]): "here" | "below" | undefined {
  if (patches.some(it => it.path === path || path.startsWith(`${it.path}/`))) return "here";
  return patches.some(it => it.path.startsWith(`${path}/`)) ? "below" : undefined;
}

/** Formats a value on one short line. */
export function formatInline(value: Json): string {
  if (Array.isArray(value)) return `${value.length} ${value.length === 1 ? "item" : "items"}`;
  if (value !== null && typeof value === "object") return describeEntity(value);
  return formatJson(value);
}

/** Counts the entities of a collection; undefined if the value is not a collection. */
export function countMembers(value: Json): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (value === null || typeof value !== "object") return undefined;
  const members = Object.values(value);
  return members.every(it => it !== null && typeof it === "object") ? members.length : undefined;
}
