/**
 * The few ways in which the tree changes: put an entry in, take one out, rewrite a file, each with
 * its permissions, the quota and the time. Does not know which tool asked.
 */
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import { allow, free, pathOf, shown, type Found, type Place } from "./resolve.ts";
import { reachOf, sizeOf, type Directory, type Entry, type File, type World } from "./state.ts";

/** What the disk holds, the trash included. */
export function used(world: World): { bytes: number; entries: number; trash: number } {
  const { root, trash } = getOriginal(world);
  const total = { ...sizeOf(root), trash: 0 };
  for (const { entry } of Object.values(trash)) {
    const { bytes, entries } = sizeOf(entry);
    total.bytes += bytes;
    total.entries += entries;
    total.trash += bytes;
  }
  return total;
}

/** Refuses if the disk has no room for as much more. */
export function reserve(world: World, bytes: number, entries = 0): void {
  if (bytes <= 0 && entries <= 0) return;
  const { quota } = getOriginal(world);
  const now = used(world);
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

/** The directory at these names, in the draft that a write may change. */
function directoryAt(world: World, at: readonly string[]): Directory {
  let directory: Directory = world.root;
  for (const name of at) directory = directory.entries[name] as Directory;
  return directory;
}

/** Puts an entry at a free place. The caller has reserved its room. */
export function put(world: World, place: Place, entry: Entry, now: string): void {
  free(world, place, reachOf(entry));
  set(world, place.at, entry, now);
}

/** Sets what stands at a place that the caller has checked. */
export function set(world: World, at: readonly string[], entry: Entry, now: string): void {
  const directory = directoryAt(world, at.slice(0, -1));
  directory.entries[at.at(-1)!] = entry;
  directory.modified = now;
}

/** Refuses unless the user may take this entry out of its directory. */
export function removable(world: World, { at, parent, entry }: Found): void {
  const here = pathOf(at);
  if (at.length === 0) refuse("permission_denied", "the root directory stays where it is");
  if (`${world.cwd}/`.startsWith(`${here}/`))
    refuse(
      "precondition_failed",
      `${shown(world, at)} holds the current directory`,
      "filesystem_cd to another directory first",
    );
  allow(world, parent, "w", at.slice(0, -1));
  const isSticky = parent.mode.length === 4 && world.user !== "root";
  if (isSticky && entry.owner !== world.user && parent.owner !== world.user)
    refuse("permission_denied", `only ${entry.owner} may remove or move ${shown(world, at)}`);
}

/** Takes an entry out of its directory; what it was stays in hand as a frozen value. */
export function take(world: World, place: Found, now: string): Entry {
  removable(world, place);
  const directory = directoryAt(world, place.at.slice(0, -1));
  delete directory.entries[place.at.at(-1)!];
  directory.modified = now;
  return place.entry;
}

/** The entry at a place, in the draft. */
export function draftOf<T extends Entry>(world: World, { at }: Found<T>): T {
  return (
    at.length === 0 ? world.root : directoryAt(world, at.slice(0, -1)).entries[at.at(-1)!]
  ) as T;
}

/**
 * Gives a file another text, `grown` bytes longer: whether there is room is known before the text
 * is made.
 */
export function rewrite(
  world: World,
  place: Found<File>,
  grown: number,
  text: () => string,
  now: string,
): void {
  allow(world, place.entry, "w", place.at);
  reserve(world, grown);
  const file = draftOf(world, place);
  file.text = text();
  file.modified = now;
}

/** The owner and times of what the current user makes. */
export function made(world: World, mode: string, now: string) {
  const { user, users } = getOriginal(world);
  return { owner: user, group: users[user]!.groups[0]!, mode, modified: now };
}

export const emptyDirectory = (world: World, now: string): Directory => ({
  type: "directory",
  ...made(world, "755", now),
  entries: {},
});
export const newFile = (world: World, text: string, now: string): File => ({
  type: "file",
  ...made(world, "644", now),
  text,
});

/** An entry with all that is in it, made the current user's own. */
export function adopted(world: World, entry: Entry, now: string): Entry {
  const { owner, group } = made(world, "644", now);
  const own = { owner, group, modified: now };
  if (entry.type !== "directory") return { ...entry, ...own };
  return {
    ...entry,
    ...own,
    entries: Object.fromEntries(
      Object.entries(entry.entries).map(([name, it]) => [name, adopted(world, it, now)]),
    ),
  };
}

/** A copy that belongs to the current user. Refuses where something in it may not be read. */
export function copyOf(world: World, entry: Entry, at: readonly string[], now: string): Entry {
  readableThrough(world, entry, at);
  return adopted(world, entry, now);
}

function readableThrough(world: World, entry: Entry, at: readonly string[]): void {
  if (entry.type === "link") return;
  allow(world, entry, "r", at);
  if (entry.type !== "directory") return;
  allow(world, entry, "x", at);
  for (const [name, it] of Object.entries(entry.entries)) readableThrough(world, it, [...at, name]);
}
