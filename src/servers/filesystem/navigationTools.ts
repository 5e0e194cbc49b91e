/** Tools for the current directory and listings. */
import { z } from "zod";
import { createToolFactory } from "../../environment/server.ts";
import { joinSegments, formatPath } from "./pathFormat.ts";
import { requirePermission, hasPermission } from "./permissions.ts";
import { findEntry, findDirectory, findReadableDirectory } from "./lookups.ts";
import { type Directory, type Entry, FilesystemState } from "./state.ts";
import { measureSize, sortEntries } from "./entries.ts";
import { path } from "./parameters.ts";
import { pathGroups, groupPaths } from "./pathGroups.ts";
import { walkTree } from "./walkTree.ts";

const tool = createToolFactory(FilesystemState);

const limit = z.int().min(1).max(200).optional();
export const inDirectory = path.directory.optional();

export const navigationTools = {
  pwd: tool({
    effect: "read",
    summary: "Print the current directory, from which relative paths start.",
    requires: ["cd"],
    input: {},
    returns: { path: path.directory },
    run: state => ({ path: formatPath(state, state.cwd) }),
  }),
  cd: tool({
    effect: "write",
    summary: "Change the current directory; relative paths then start there.",
    idempotent: true,
    input: { path: path.directory.describe("Directory to go to") },
    returns: { path: path.directory },
    run(state, { path: input }) {
      const place = findDirectory(state, input);
      requirePermission(state, place.entry, "x", place.segments);
      state.cwd = joinSegments(place.segments);
      return { path: formatPath(state, place.segments) };
    },
  }),
  ls: tool({
    effect: "read",
    summary:
      "List what is in a directory, by kind: files, directories, links and archives. An archive's own listing shows what it holds.",
    requires: ["cd"],
    input: {
      path: inDirectory.describe("Directory to list, the current one if not given"),
      order: z
        .enum(["name", "size", "modified"])
        .optional()
        .describe("By name (the default), largest first, or newest first"),
      all: z.boolean().optional().describe("Also names that begin with a dot"),
      limit: limit.describe("At most this many, 20 if not given"),
    },
    returns: {
      count: z.int().describe("How many there are in all"),
      ...pathGroups,
      contains: z.array(z.string()).optional().describe("Names in an archive"),
    },
    run(state, { path: input = ".", order = "name", all = false, limit: maxRows = 20 }) {
      const place = findEntry(state, input);
      const { entry, segments } = place;
      if (entry.type === "archive") {
        requirePermission(state, entry, "r", segments);
        const names = listArchiveNames(entry.entries);
        return { count: names.length, contains: names.slice(0, maxRows) };
      }
      const { entries } = findReadableDirectory(state, input).entry;
      const rows = sortEntries(entries).filter(([name]) => all || !name.startsWith("."));
      if (order === "size")
        rows.sort(([, a], [, b]) => measureSize(b).bytes - measureSize(a).bytes);
      if (order === "modified")
        rows.sort(([, a], [, b]) =>
          a.modified === b.modified ? 0 : a.modified < b.modified ? 1 : -1,
        );
      return {
        count: rows.length,
        ...groupPaths(
          rows.slice(0, maxRows).map(([name, it]) => [formatPath(state, [...segments, name]), it]),
        ),
      };
    },
  }),
  tree: tool({
    effect: "read",
    summary: "Show the directories and files below a directory as an indented outline.",
    input: {
      path: path.directory.describe("Directory to start from"),
      depth: z.int().min(1).max(8).optional().describe("How many levels, 2 if not given"),
      limit: limit.describe("At most this many lines, 30 if not given"),
    },
    returns: { directories: z.int(), files: z.int(), lines: z.array(z.string()) },
    run(state, { path: input, depth = 2, limit: maxRows = 30 }) {
      const place = findReadableDirectory(state, input);
      const seen = walkTree(state, place, depth);
      const directories = seen.filter(([, it]) => it.type === "directory").length;
      return {
        directories,
        files: seen.length - directories,
        lines: formatOutline(state, place.entry, depth, "").slice(0, maxRows),
      };
    },
  }),
};

const listArchiveNames = (entries: Readonly<Record<string, Entry>>, prefix = ""): string[] =>
  sortEntries(entries).flatMap(([name, it]) =>
    it.type === "directory"
      ? [`${prefix}${name}/`, ...listArchiveNames(it.entries, `${prefix}${name}/`)]
      : [`${prefix}${name}`],
  );

function formatOutline(
  state: FilesystemState,
  directory: Directory,
  depth: number,
  indent: string,
): string[] {
  if (!hasPermission(state, directory, "r") || !hasPermission(state, directory, "x"))
    return [`${indent}(permission denied)`];
  return sortEntries(directory.entries).flatMap(([name, it]) => {
    if (it.type === "link") return [`${indent}${name} -> ${it.target}`];
    if (it.type !== "directory") return [`${indent}${name}`];
    return [
      `${indent}${name}/`,
      ...(depth > 1 ? formatOutline(state, it, depth - 1, `${indent}  `) : []),
    ];
  });
}
