/** Checks what the current user may do with an entry. */
import { refuse } from "../../environment/server.ts";
import {
  maxDepth,
  isValidName,
  maxPathLength,
  type Directory,
  type Entry,
  type FilesystemState,
} from "./state.ts";
import {
  type ResolvedPath,
  type ExistingPath,
  joinSegments,
  formatPath,
  shorten,
} from "./pathFormat.ts";

export type Permission = "r" | "w" | "x";
export const permissionBits = { r: 4, w: 2, x: 1 };
const permissionVerbs = { r: "read", w: "change", x: "enter" };

/**
 * Whether the current user has a permission on an entry: by the digit of the owner, else of the
 * group, else of the others.
 */
export function hasPermission(
  state: FilesystemState,
  entry: Exclude<Entry, { type: "link" }>,
  permission: Permission,
): boolean {
  const { user, users } = state;
  if (user === "root") return true;
  const digits = entry.mode.slice(-3);
  const digit =
    entry.owner === user
      ? digits[0]
      : users[user]!.groups.includes(entry.group)
        ? digits[1]
        : digits[2];
  return (Number(digit) & permissionBits[permission]) !== 0;
}

/** Refuses unless the current user has the permission on the entry. */
export function requirePermission(
  state: FilesystemState,
  entry: Exclude<Entry, { type: "link" }>,
  permission: Permission,
  segments: readonly string[],
): void {
  if (!hasPermission(state, entry, permission))
    refuse(
      "permission_denied",
      `${state.user} may not ${permissionVerbs[permission]} ${formatPath(state, segments)}: it belongs to ${entry.owner}:${entry.group} with mode ${entry.mode}`,
    );
}

/** Refuses unless the user owns the entry: only the owner may change mode, owner or group. */
export function requireOwner(state: FilesystemState, { entry, segments }: ExistingPath): void {
  if (state.user !== "root" && entry.owner !== state.user)
    refuse(
      "permission_denied",
      `only the owner, ${entry.owner}, may do that to ${formatPath(state, segments)}`,
    );
}

/**
 * Refuses to remove, replace or move an entry of a sticky directory that belongs to somebody else,
 * as does the directory.
 */
export function requireStickyRights(
  state: FilesystemState,
  parent: Directory,
  entry: Entry,
  segments: readonly string[],
): void {
  const isSticky = parent.mode.length === 4 && state.user !== "root";
  if (isSticky && entry.owner !== state.user && parent.owner !== state.user)
    refuse(
      "permission_denied",
      `only ${entry.owner} may remove or move ${formatPath(state, segments)}`,
    );
}

/** Refuses unless the user may replace the entry at a path by another one. */
export function requireReplaceable(
  state: FilesystemState,
  { segments, parent, entry }: ExistingPath,
): void {
  requirePermission(state, parent, "w", segments.slice(0, -1));
  requireStickyRights(state, parent, entry, segments);
  if (entry.type !== "link") requirePermission(state, entry, "w", segments);
}

interface Extent {
  readonly levels: number;
  readonly length: number;
}

/** Refuses an entry of this extent at a path where it would be too deep, or its paths too long. */
export function requireFittingExtent(segments: readonly string[], extent: Extent): void {
  if (segments.length + extent.levels > maxDepth)
    refuse("limit_exceeded", `directories go at most ${maxDepth} levels deep`);
  if (joinSegments(segments).length + extent.length > maxPathLength)
    refuse("limit_exceeded", `a path has at most ${maxPathLength} characters`);
}

/** Refuses unless a new entry of this extent may be created at the path. */
export function requireFreePath(
  state: FilesystemState,
  place: ResolvedPath,
  extent: Extent = { levels: 1, length: 0 },
): void {
  const { segments, parent, entry } = place;
  if (entry)
    refuse("conflict", `${formatPath(state, segments)} already exists`, "choose another name");
  if (!isValidName(segments.at(-1)!))
    refuse("invalid_params", `${shorten(segments.at(-1)!)} is not a name that a file can have`);
  requirePermission(state, parent, "w", segments.slice(0, -1));
  requireFittingExtent(segments, extent);
}
