/**
 * How a path is followed: home, current directory, `..`, symbolic links, and the permissions on the
 * way. Reads the world as it was before the call; does not change it.
 */
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import {
  deepest,
  isName,
  longestName,
  longestPath,
  type Archive,
  type Directory,
  type Entry,
  type File,
  type World,
} from "./state.ts";

/** Where a path leads, links resolved. The directory it is in exists; the entry itself may not. */
export interface Place {
  /** As the caller wrote it, for messages. */
  readonly given: string;
  /** Names from the root; empty for the root itself. */
  readonly at: readonly string[];
  /** The directory it is in; the root is in itself. */
  readonly parent: Directory;
  readonly entry: Entry | undefined;
}

/** A place at which there is something. */
export type Found<T extends Entry = Entry> = Place & { readonly entry: T };

const mostLinks = 40;

/**
 * Follows a path to its end. With `follow: false` a symbolic link at the very end is the place
 * itself.
 */
export function locate(world: World, given: string, { follow = true } = {}): Place {
  const { root } = getOriginal(world);
  const todo = namesOf(world, given).toReversed();
  const at: string[] = [];
  const on: Directory[] = [root];
  let links = 0;
  while (todo.length > 0) {
    const name = todo.pop()!;
    const here = on.at(-1)!;
    allow(world, here, "x", at);
    if (name === "..") {
      if (at.pop() !== undefined) on.pop();
      continue;
    }
    if (name.length > longestName)
      refuse(
        "invalid_params",
        `a name has at most ${longestName} characters, one in this path has ${name.length}`,
      );
    const entry = Object.hasOwn(here.entries, name) ? here.entries[name]! : undefined;
    const isLast = todo.length === 0;
    if (entry?.type === "link" && (follow || !isLast)) {
      if (++links > mostLinks)
        refuse(
          "precondition_failed",
          `too many levels of symbolic links at ${brief(given)} (ELOOP)`,
          "the links lead in a circle: filesystem_readlink shows where one leads",
        );
      if (entry.target.startsWith("/")) {
        at.length = 0;
        on.length = 1;
      }
      todo.push(...split(entry.target).toReversed());
    } else if (isLast && entry?.type !== "directory") {
      return { given, at: [...at, name], parent: here, entry };
    } else if (!entry) {
      refuse(
        "not_found",
        `there is no directory ${shown(world, [...at, name])}`,
        `filesystem_ls shows what is in ${shown(world, at)}`,
      );
    } else if (entry.type !== "directory") {
      refuse(
        "precondition_failed",
        `${shown(world, [...at, name])} is ${whatIs(entry)}, not a directory`,
      );
    } else {
      at.push(name);
      on.push(entry);
    }
  }
  return { given, at, parent: on.at(-2) ?? root, entry: on.at(-1)! };
}

const split = (path: string) => path.split("/").filter(it => it !== "" && it !== ".");

/** The names a path goes through from the root, before links and `..` are followed. */
function namesOf(world: World, given: string): string[] {
  if (/\p{Cc}/u.test(given)) refuse("invalid_params", "a path holds no control characters");
  const { cwd, users, user } = world;
  if (given === "~" || given.startsWith("~/"))
    return [...split(users[user]!.home), ...split(given.slice(1))];
  return given.startsWith("/") ? split(given) : [...split(cwd), ...split(given)];
}

/**
 * The absolute path that was meant, without a look at the tree: what a symbolic link keeps as its
 * target.
 */
export function absolute(world: World, given: string): string {
  const names: string[] = [];
  for (const name of namesOf(world, given))
    if (name === "..") names.pop();
    else names.push(name);
  return `/${names.join("/")}`;
}

export const pathOf = (at: readonly string[]) => `/${at.join("/")}`;

/**
 * A path as tools give it: from the home as `~/…`, else absolute; good in any current directory.
 */
export function shown(world: World, at: readonly string[] | string): string {
  const path = typeof at === "string" ? at : pathOf(at);
  const { home } = world.users[world.user]!;
  return path === home ? "~" : path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Text of a caller in a message, cut where it is long. */
export const brief = (given: string) => (given.length > 80 ? `${given.slice(0, 77)}…` : given);

/** An entry in words: `a zip archive`. */
export const whatIs = (entry: Entry) =>
  entry.type === "archive"
    ? `a ${entry.format} archive`
    : entry.type === "link"
      ? "a symbolic link"
      : `a ${entry.type}`;

/** What is at a path, or a `not_found` refusal. */
export function find(world: World, given: string, options?: { follow: boolean }): Found {
  const place = locate(world, given, options);
  if (!place.entry)
    refuse(
      "not_found",
      `there is no file or directory ${brief(given)}`,
      "filesystem_find looks for a name, filesystem_ls shows a directory",
    );
  return place as Found;
}

export function findDirectory(world: World, given: string): Found<Directory> {
  const place = find(world, given);
  if (place.entry.type !== "directory")
    refuse("precondition_failed", `${brief(given)} is not a directory but ${whatIs(place.entry)}`);
  return place as Found<Directory>;
}

/** A directory whose names the user may list. */
export function listed(world: World, given: string): Found<Directory> {
  const place = findDirectory(world, given);
  allow(world, place.entry, "r", place.at);
  return place;
}

/** A text file that the user may read. */
export function readable(world: World, given: string): Found<File> {
  const place = find(world, given);
  onlyFile(place);
  allow(world, place.entry, "r", place.at);
  return place;
}

export function onlyFile(place: Found): asserts place is Found<File> {
  const { entry, given } = place;
  if (entry.type === "directory")
    refuse(
      "precondition_failed",
      `${brief(given)} is a directory, not a file`,
      "filesystem_ls shows what is in it",
    );
  if (entry.type === "archive")
    refuse(
      "precondition_failed",
      `${brief(given)} is ${whatIs(entry)}, not a text file`,
      `filesystem_${entry.format === "zip" ? "unzip" : "tar_extract"} takes out what it holds`,
    );
}

/** An archive of the asked format that the user may read. */
export function archiveAt(world: World, given: string, format: Archive["format"]): Found<Archive> {
  const place = find(world, given);
  const { entry } = place;
  if (entry.type !== "archive")
    refuse("precondition_failed", `${brief(given)} is not an archive but ${whatIs(entry)}`);
  if (entry.format !== format)
    refuse(
      "precondition_failed",
      `${brief(given)} is ${whatIs(entry)}`,
      `use filesystem_${entry.format === "zip" ? "unzip" : "tar_extract"}`,
    );
  allow(world, entry, "r", place.at);
  return place as Found<Archive>;
}

type Right = "r" | "w" | "x";
const bit = { r: 4, w: 2, x: 1 };
const verb = { r: "read", w: "change", x: "enter" };

/**
 * Whether the current user has a right on an entry: the owner's digit, else the group's, else the
 * others'.
 */
export function may(world: World, entry: Exclude<Entry, { type: "link" }>, right: Right): boolean {
  const { user, users } = world;
  if (user === "root") return true;
  const digits = entry.mode.slice(-3);
  const digit =
    entry.owner === user
      ? digits[0]
      : users[user]!.groups.includes(entry.group)
        ? digits[1]
        : digits[2];
  return (Number(digit) & bit[right]) !== 0;
}

export function allow(
  world: World,
  entry: Exclude<Entry, { type: "link" }>,
  right: Right,
  at: readonly string[],
): void {
  if (!may(world, entry, right))
    refuse(
      "permission_denied",
      `${world.user} may not ${verb[right]} ${shown(world, at)}: it belongs to ${entry.owner}:${entry.group} with mode ${entry.mode}`,
    );
}

/** Refuses unless the user owns the entry: only an owner changes mode, owner or group. */
export function owning(world: World, { entry, at }: Found): void {
  if (world.user !== "root" && entry.owner !== world.user)
    refuse(
      "permission_denied",
      `only the owner, ${entry.owner}, may do that to ${shown(world, at)}`,
    );
}

/** Refuses unless a new entry of this reach may be made at a free place. */
export function free(world: World, place: Place, reach = { levels: 1, length: 0 }): void {
  const { at, parent, entry } = place;
  if (entry) refuse("conflict", `${shown(world, at)} already exists`, "choose another name");
  if (!isName(at.at(-1)!))
    refuse("invalid_params", `${brief(at.at(-1)!)} is not a name that a file can have`);
  allow(world, parent, "w", at.slice(0, -1));
  if (at.length + reach.levels > deepest)
    refuse("limit_exceeded", `directories go at most ${deepest} levels deep`);
  if (pathOf(at).length + reach.length > longestPath)
    refuse("limit_exceeded", `a path has at most ${longestPath} characters`);
}
