/** Lists the nodes of a JSON value as a tree, level by level, and marks the last call's changes. */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Patch } from "../../environment/outcome.ts";
import { describeEntity, formatJson } from "./valueText.ts";

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
