/**
 * Resolves paths: home, current directory, `..`, symbolic links, and the permissions of the
 * directories on the way. Reads the state as of before the call.
 */
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import { maxNameLength, type Directory, type Entry, type FilesystemState } from "./state.ts";
import { requirePermission } from "./permissions.ts";
import type { ResolvedPath } from "./pathFormat.ts";
import { formatPath } from "./pathFormat.ts";
import { shorten } from "./pathFormat.ts";

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
