/**
 * Paths, permissions and lookups: how a path is written and resolved, what the current user may
 * do with an entry, and what a path must lead to. Reads the state as of before the call.
 */
import { z } from "zod";
import {
  type Directory,
  type Entry,
  type FilesystemState,
  maxDepth,
  isValidName,
  maxPathLength,
  maxNameLength,
  path,
  type Archive,
  type File,
} from "./state.ts";
import { refuse } from "../../environment/server.ts";
import { getOriginal } from "../../environment/draft.ts";

/** A path with links resolved. Its parent directory exists; the entry may not. */
export interface ResolvedPath {
  /** The path as the caller wrote it, for messages. */
  readonly input: string;
  /** Names from the root; empty for the root itself. */
  readonly segments: readonly string[];
  /** The parent directory; the root is its own parent. */
  readonly parent: Directory;
  readonly entry: Entry | undefined;
}

/** A path at which there is an entry. */
export type ExistingPath<T extends Entry = Entry> = ResolvedPath & { readonly entry: T };

export const joinSegments = (segments: readonly string[]) => `/${segments.join("/")}`;

/** A path as tools return it: `~/…` below the home, otherwise absolute. */
export function formatPath(state: FilesystemState, at: readonly string[] | string): string {
  const path = typeof at === "string" ? at : joinSegments(at);
  const { home } = state.users[state.user]!;
  return path === home ? "~" : path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** A text of the caller for a message, truncated if long. */
export const shorten = (text: string) => (text.length > 80 ? `${text.slice(0, 77)}…` : text);

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

const maxLinks = 40;

/** Resolves a path. With `follow: false`, a symbolic link at its end is not followed. */
export function resolvePath(
  state: FilesystemState,
  input: string,
  { follow = true } = {},
): ResolvedPath {
  const { root } = getOriginal(state);
  const remaining = listSegments(state, input).toReversed();
  const segments: string[] = [];
  const directories: Directory[] = [root];
  let links = 0;
  while (remaining.length > 0) {
    const name = remaining.pop()!;
    const directory = directories.at(-1)!;
    requirePermission(state, directory, "x", segments);
    if (name === "..") {
      if (segments.pop() !== undefined) directories.pop();
      continue;
    }
    if (name.length > maxNameLength)
      refuse(
        "invalid_params",
        `a name has at most ${maxNameLength} characters, one in this path has ${name.length}`,
      );
    const entry = Object.hasOwn(directory.entries, name) ? directory.entries[name]! : undefined;
    const isLast = remaining.length === 0;
    if (entry?.type === "link" && (follow || !isLast)) {
      if (++links > maxLinks)
        refuse(
          "precondition_failed",
          `too many levels of symbolic links at ${shorten(input)} (ELOOP)`,
          "the links lead in a circle: filesystem_readlink shows where one leads",
        );
      if (entry.target.startsWith("/")) {
        segments.length = 0;
        directories.length = 1;
      }
      remaining.push(...splitPath(entry.target).toReversed());
    } else if (isLast && entry?.type !== "directory") {
      return { input, segments: [...segments, name], parent: directory, entry };
    } else if (!entry) {
      refuse(
        "not_found",
        `there is no directory ${formatPath(state, [...segments, name])}`,
        `filesystem_ls shows what is in ${formatPath(state, segments)}`,
      );
    } else if (entry.type !== "directory") {
      refuse(
        "precondition_failed",
        `${formatPath(state, [...segments, name])} is ${describeKind(entry)}, not a directory`,
      );
    } else {
      segments.push(name);
      directories.push(entry);
    }
  }
  return { input, segments, parent: directories.at(-2) ?? root, entry: directories.at(-1)! };
}

const splitPath = (path: string) => path.split("/").filter(it => it !== "" && it !== ".");

/** The names of a path from the root, before links and `..` are followed. */
function listSegments(state: FilesystemState, input: string): string[] {
  if (/\p{Cc}/u.test(input)) refuse("invalid_params", "a path holds no control characters");
  const { cwd, users, user } = state;
  if (input === "~" || input.startsWith("~/"))
    return [...splitPath(users[user]!.home), ...splitPath(input.slice(1))];
  return input.startsWith("/") ? splitPath(input) : [...splitPath(cwd), ...splitPath(input)];
}

/** The absolute form of a path, without resolving links: the target that a symbolic link stores. */
export function toAbsolutePath(state: FilesystemState, input: string): string {
  const names: string[] = [];
  for (const name of listSegments(state, input))
    if (name === "..") names.pop();
    else names.push(name);
  return `/${names.join("/")}`;
}

/** The kind of an entry for a message: `a zip archive`. */
export const describeKind = (entry: Entry) =>
  entry.type === "archive"
    ? `a ${entry.format} archive`
    : entry.type === "link"
      ? "a symbolic link"
      : `a ${entry.type}`;

export const getKind = (entry: Entry) => (entry.type === "archive" ? entry.format : entry.type);

/** Entries of a directory in code point order, which is the same on every machine. */
export const sortEntries = (entries: Readonly<Record<string, Entry>>): [string, Entry][] =>
  Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1));

export const countBytes = (text: string) => Buffer.byteLength(text, "utf8");

/** The size of an entry with everything in it. */
export function measureSize(entry: Entry): { bytes: number; entries: number } {
  const { bytes, entries } = measureContent(entry);
  return { bytes, entries };
}

/** The size of an entry, and how many of its bytes are compressed already. */
function measureContent(entry: Entry): { bytes: number; compressed: number; entries: number } {
  if (entry.type === "file") return { bytes: countBytes(entry.text), compressed: 0, entries: 1 };
  if (entry.type === "link") return { bytes: 0, compressed: 0, entries: 1 };
  const content = { bytes: 0, compressed: 0, entries: 1 };
  for (const it of Object.values(entry.entries)) {
    const { bytes, compressed, entries } = measureContent(it);
    content.bytes += bytes;
    content.compressed += compressed;
    content.entries += entries;
  }
  if (entry.type === "directory") return content;
  const { compressed } = content;
  // a tar has blocks of 512 bytes
  if (entry.format === "tar")
    return {
      bytes: 512 * (content.entries + Math.ceil(content.bytes / 512)),
      compressed,
      entries: 1,
    };
  // a zip compresses text to about half, once, and adds a directory
  const bytes =
    22 + 60 * (content.entries - 1) + compressed + Math.ceil((content.bytes - compressed) / 2);
  return { bytes, compressed: bytes, entries: 1 };
}

/** The number of files; an archive counts as one. */
export const countFiles = (entries: Readonly<Record<string, Entry>>): number =>
  Object.values(entries).reduce(
    (n, it) => n + (it.type === "directory" ? countFiles(it.entries) : 1),
    0,
  );

/** The number of levels of an entry, and the length of the longest path below it. */
export function measureExtent(entry: Entry): { levels: number; length: number } {
  const extent = { levels: 1, length: 0 };
  if (!("entries" in entry)) return extent;
  for (const [name, it] of Object.entries(entry.entries)) {
    const { levels, length } = measureExtent(it);
    extent.levels = Math.max(extent.levels, levels + 1);
    extent.length = Math.max(extent.length, length + name.length + 1);
  }
  return extent;
}

/** All entries below a directory that the user may read, breadth first. */
export function walkTree(
  state: FilesystemState,
  start: { segments: readonly string[]; entry: Directory },
  levels = maxDepth,
): [string[], Entry][] {
  const entries: [string[], Entry][] = [];
  let level: [readonly string[], Directory][] = [[start.segments, start.entry]];
  for (let n = 0; n < levels && level.length > 0; n++) {
    const next: typeof level = [];
    for (const [at, directory] of level) {
      if (!hasPermission(state, directory, "r") || !hasPermission(state, directory, "x")) continue;
      for (const [name, it] of sortEntries(directory.entries)) {
        entries.push([[...at, name], it]);
        if (it.type === "directory") next.push([[...at, name], it]);
      }
    }
    level = next;
  }
  return entries;
}

/** Paths by kind, without empty lists. Each list gives the inputs of the tools for that kind. */
export const pathGroups = {
  files: z.array(path.file).optional(),
  directories: z.array(path.directory).optional(),
  links: z.array(path.link).optional(),
  zips: z.array(path.zip).optional(),
  tars: z.array(path.tar).optional(),
};
export const pathGroupNames = ["files", "directories", "links", "zips", "tars"] as const;
const groupNames = {
  file: "files",
  directory: "directories",
  link: "links",
  zip: "zips",
  tar: "tars",
} as const;

export function groupPaths(entries: readonly (readonly [string, Entry])[]) {
  const groups: Partial<Record<keyof typeof pathGroups, string[]>> =
    entries.length === 0 ? { files: [] } : {};
  for (const [at, it] of entries) (groups[groupNames[getKind(it)]] ??= []).push(at);
  return groups;
}

/** The entry at a path, or a `not_found` refusal. */
export function findEntry(
  state: FilesystemState,
  input: string,
  options?: { follow: boolean },
): ExistingPath {
  const place = resolvePath(state, input, options);
  if (!place.entry)
    refuse(
      "not_found",
      `there is no file or directory ${shorten(input)}`,
      "filesystem_find looks for a name, filesystem_ls shows a directory",
    );
  return place as ExistingPath;
}

/** The directory at a path, or a refusal. */
export function findDirectory(state: FilesystemState, input: string): ExistingPath<Directory> {
  const place = findEntry(state, input);
  if (place.entry.type !== "directory")
    refuse(
      "precondition_failed",
      `${shorten(input)} is not a directory but ${describeKind(place.entry)}`,
    );
  return place as ExistingPath<Directory>;
}

/** The directory at a path, if the user may list it. */
export function findReadableDirectory(
  state: FilesystemState,
  input: string,
): ExistingPath<Directory> {
  const place = findDirectory(state, input);
  requirePermission(state, place.entry, "r", place.segments);
  return place;
}

/** The text file at a path, if the user may read it. */
export function findReadableFile(state: FilesystemState, input: string): ExistingPath<File> {
  const place = findEntry(state, input);
  requireFile(place);
  requirePermission(state, place.entry, "r", place.segments);
  return place;
}

/** Refuses anything but a text file. */
export function requireFile(place: ExistingPath): asserts place is ExistingPath<File> {
  const { entry, input } = place;
  if (entry.type === "directory")
    refuse(
      "precondition_failed",
      `${shorten(input)} is a directory, not a file`,
      "filesystem_ls shows what is in it",
    );
  if (entry.type === "archive")
    refuse(
      "precondition_failed",
      `${shorten(input)} is ${describeKind(entry)}, not a text file`,
      `filesystem_${entry.format === "zip" ? "unzip" : "tar_extract"} takes out what it holds`,
    );
}

/** The archive of that format at a path, if the user may read it. */
export function findArchive(
  state: FilesystemState,
  input: string,
  format: Archive["format"],
): ExistingPath<Archive> {
  const place = findEntry(state, input);
  const { entry } = place;
  if (entry.type !== "archive")
    refuse("precondition_failed", `${shorten(input)} is not an archive but ${describeKind(entry)}`);
  if (entry.format !== format)
    refuse(
      "precondition_failed",
      `${shorten(input)} is ${describeKind(entry)}`,
      `use filesystem_${entry.format === "zip" ? "unzip" : "tar_extract"}`,
    );
  requirePermission(state, entry, "r", place.segments);
  return place as ExistingPath<Archive>;
}
