/** Creates entries that belong to the current user: empty ones and copies. */
import { getOriginal } from "../../environment/draft.ts";
import { requirePermission } from "./permissions.ts";
import type { Directory, Entry, File, FilesystemState } from "./state.ts";

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
