/**
 * The basic changes of the tree: new entries and copies, and adding, replacing, removing and
 * rewriting entries. Each checks permissions and the quota and sets times.
 */
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import {
  measureSize,
  requirePermission,
  requireFreePath,
  requireStickyRights,
  joinSegments,
  formatPath,
  type ExistingPath,
  type ResolvedPath,
  measureExtent,
} from "./paths.ts";
import type { FilesystemState, Directory, Entry, File } from "./state.ts";

/** The space used, including the trash. */
export function measureUsage(state: FilesystemState): {
  bytes: number;
  entries: number;
  trash: number;
} {
  const { root, trash } = getOriginal(state);
  const total = { ...measureSize(root), trash: 0 };
  for (const { entry } of Object.values(trash)) {
    const { bytes, entries } = measureSize(entry);
    total.bytes += bytes;
    total.entries += entries;
    total.trash += bytes;
  }
  return total;
}

/** Refuses if the quota does not allow this much more. */
export function reserveSpace(state: FilesystemState, bytes: number, entries = 0): void {
  if (bytes <= 0 && entries <= 0) return;
  const { quota } = getOriginal(state);
  const now = measureUsage(state);
  if (now.bytes + bytes > quota.bytes)
    refuse(
      "limit_exceeded",
      `no space: ${bytes} bytes needed, ${Math.max(0, quota.bytes - now.bytes)} of ${quota.bytes} free`,
      "filesystem_rm with permanent: true frees space, filesystem_du finds large files",
    );
  if (now.entries + entries > quota.entries)
    refuse(
      "limit_exceeded",
      `the disk holds at most ${quota.entries} files and directories`,
      "remove some with permanent: true",
    );
}

/** Owner, group, mode and time of an entry that the current user creates. */
export function createOwnership(state: FilesystemState, mode: string, now: string) {
  const { user, users } = getOriginal(state);
  return { owner: user, group: users[user]!.groups[0]!, mode, modified: now };
}

export const createDirectory = (state: FilesystemState, now: string): Directory => ({
  type: "directory",
  ...createOwnership(state, "755", now),
  entries: {},
});
export const createFile = (state: FilesystemState, text: string, now: string): File => ({
  type: "file",
  ...createOwnership(state, "644", now),
  text,
});

/** A copy of an entry and everything in it that belongs to the current user. */
export function takeOwnership(state: FilesystemState, entry: Entry, now: string): Entry {
  const { owner, group } = createOwnership(state, "644", now);
  const own = { owner, group, modified: now };
  if (entry.type !== "directory") return { ...entry, ...own };
  return {
    ...entry,
    ...own,
    entries: Object.fromEntries(
      Object.entries(entry.entries).map(([name, it]) => [name, takeOwnership(state, it, now)]),
    ),
  };
}

/** As `takeOwnership`, but refuses if the user may not read everything in it. */
export function copyEntry(
  state: FilesystemState,
  entry: Entry,
  segments: readonly string[],
  now: string,
): Entry {
  requireReadableTree(state, entry, segments);
  return takeOwnership(state, entry, now);
}

function requireReadableTree(
  state: FilesystemState,
  entry: Entry,
  segments: readonly string[],
): void {
  if (entry.type === "link") return;
  requirePermission(state, entry, "r", segments);
  if (entry.type !== "directory") return;
  requirePermission(state, entry, "x", segments);
  for (const [name, it] of Object.entries(entry.entries))
    requireReadableTree(state, it, [...segments, name]);
}

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
