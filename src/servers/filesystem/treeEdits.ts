/**
 * The basic changes of the tree: add, replace and remove an entry, rewrite a file. Each checks
 * permissions and sets times.
 */
import { refuse } from "../../environment/server.ts";
import { requirePermission, requireFreePath, requireStickyRights } from "./permissions.ts";
import { joinSegments, formatPath, type ExistingPath, type ResolvedPath } from "./pathFormat.ts";
import { measureExtent } from "./entries.ts";
import type { Directory, Entry, File, FilesystemState } from "./state.ts";
import { reserveSpace } from "./quota.ts";

/** The directory at this path in the draft, which a write may change. */
function getDirectory(state: FilesystemState, segments: readonly string[]): Directory {
  let directory: Directory = state.root;
  for (const name of segments) directory = directory.entries[name] as Directory;
  return directory;
}

/** Adds an entry at a free path. The caller has reserved the space. */
export function addEntry(
  state: FilesystemState,
  path: ResolvedPath,
  entry: Entry,
  now: string,
): void {
  requireFreePath(state, path, measureExtent(entry));
  setEntry(state, path.segments, entry, now);
}

/** Sets the entry at a path that the caller has checked. */
export function setEntry(
  state: FilesystemState,
  segments: readonly string[],
  entry: Entry,
  now: string,
): void {
  const directory = getDirectory(state, segments.slice(0, -1));
  directory.entries[segments.at(-1)!] = entry;
  directory.modified = now;
}

/** Refuses unless the user may remove this entry from its directory. */
export function requireRemovable(
  state: FilesystemState,
  { segments, parent, entry }: ExistingPath,
): void {
  const here = joinSegments(segments);
  if (segments.length === 0) refuse("permission_denied", "the root directory stays where it is");
  if (`${state.cwd}/`.startsWith(`${here}/`))
    refuse(
      "precondition_failed",
      `${formatPath(state, segments)} holds the current directory`,
      "filesystem_cd to another directory first",
    );
  requirePermission(state, parent, "w", segments.slice(0, -1));
  requireStickyRights(state, parent, entry, segments);
}

/** Refuses unless the user may remove everything that is in the directory. */
export function requireRemovableContent(
  state: FilesystemState,
  directory: Directory,
  segments: readonly string[],
): void {
  const entries = Object.entries(directory.entries);
  if (entries.length === 0) return;
  for (const permission of ["r", "w", "x"] as const)
    requirePermission(state, directory, permission, segments);
  for (const [name, it] of entries) {
    requireStickyRights(state, directory, it, [...segments, name]);
    if (it.type === "directory") requireRemovableContent(state, it, [...segments, name]);
  }
}

/** Removes an entry from its directory and returns it as a frozen value. */
export function removeEntry(state: FilesystemState, path: ExistingPath, now: string): Entry {
  requireRemovable(state, path);
  const directory = getDirectory(state, path.segments.slice(0, -1));
  delete directory.entries[path.segments.at(-1)!];
  directory.modified = now;
  return path.entry;
}

/** The entry at a path in the draft, which a write may change. */
export function getDraft<T extends Entry>(
  state: FilesystemState,
  { segments }: ExistingPath<T>,
): T {
  return (
    segments.length === 0
      ? state.root
      : getDirectory(state, segments.slice(0, -1)).entries[segments.at(-1)!]
  ) as T;
}

/**
 * Replaces the text of a file by one that is `grown` bytes longer. The space is checked before the
 * text is created.
 */
export function rewriteFile(
  state: FilesystemState,
  path: ExistingPath<File>,
  grown: number,
  text: () => string,
  now: string,
): void {
  requirePermission(state, path.entry, "w", path.segments);
  reserveSpace(state, grown);
  const file = getDraft(state, path);
  file.text = text();
  file.modified = now;
}
