/**
 * A JSON value as a tree that opens one level at a time, with what the last call changed marked.
 * Knows no editor.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Patch } from "../../environment/outcome.ts";
import { aboutOf } from "../servers/entities.ts";
import { textOf } from "../servers/form.ts";

export interface ValueNode {
  readonly key: string;
  /** JSON pointer from the state's root, `/banking/world/accounts`. */
  readonly path: string;
  readonly value: Json;
  /** `here`: a patch replaced or added it. `below`: one did so within it. */
  readonly changed?: "here" | "below";
}

/** The children of a value, in its own order. */
export function listChildren(
  value: Json,
  path: string,
  patches: readonly Patch[],
): readonly ValueNode[] {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value as JsonObject).map(([key, it]) => {
    const at = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const changed = findChange(at, patches);
    return { key, path: at, value: it, ...(changed ? { changed } : {}) };
  });
}

function findChange(path: string, patches: readonly Patch[]): "here" | "below" | undefined {
  if (patches.some(it => it.path === path || path.startsWith(`${it.path}/`))) return "here";
  return patches.some(it => it.path.startsWith(`${path}/`)) ? "below" : undefined;
}

/** A value in one short line. */
export function formatInline(value: Json): string {
  if (Array.isArray(value)) return `${value.length} ${value.length === 1 ? "item" : "items"}`;
  if (value !== null && typeof value === "object") return aboutOf(value);
  return textOf(value);
}

/** How many entities a collection holds; undefined where it is none. */
export function countMembers(value: Json): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (value === null || typeof value !== "object") return undefined;
  const members = Object.values(value);
  return members.every(it => it !== null && typeof it === "object") ? members.length : undefined;
}
