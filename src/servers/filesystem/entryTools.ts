/**
 * Tools for the current directory, and tools that list, find, create and remove files and
 * directories.
 */
import { z } from "zod";
import { createToolFactory, Refusal, refuse } from "../../environment/server.ts";
import {
  joinSegments,
  formatPath,
  requirePermission,
  hasPermission,
  findEntry,
  findDirectory,
  findReadableDirectory,
  measureSize,
  sortEntries,
  pathGroups,
  pathGroupNames,
  groupPaths,
  walkTree,
  toAbsolutePath,
  resolvePath,
  describeKind,
  shorten,
  getKind,
  type ExistingPath,
  type ResolvedPath,
  requireFreePath,
} from "./paths.ts";
import {
  type Directory,
  type Entry,
  FilesystemState,
  path,
  nameSchema,
  newPathSchema,
} from "./state.ts";
import { minute, rowTotal } from "../../environment/fieldSchemas.ts";
import {
  createDirectory,
  createFile,
  getDraft,
  addEntry,
  removeEntry,
  reserveSpace,
} from "./treeEdits.ts";

const tool = createToolFactory(FilesystemState);

const limit = z.int().min(1).max(200).optional();
const inDirectory = path.directory.optional();

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
      total: rowTotal(...pathGroupNames, "contains"),
      ...pathGroups,
      contains: z.array(z.string()).optional().describe("Names in an archive"),
    },
    run(state, { path: input = ".", order = "name", all = false, limit: maxRows = 20 }) {
      const place = findEntry(state, input);
      const { entry, segments } = place;
      if (entry.type === "archive") {
        requirePermission(state, entry, "r", segments);
        const names = listArchiveNames(entry.entries);
        const total = names.length;
        return { count: total, total, contains: names.slice(0, maxRows) };
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
        total: rows.length,
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
    returns: {
      directories: z.int(),
      files: z.int(),
      total: rowTotal("lines"),
      lines: z.array(z.string()),
    },
    run(state, { path: input, depth = 2, limit: maxRows = 30 }) {
      const place = findReadableDirectory(state, input);
      const seen = walkTree(state, place, depth);
      const directories = seen.filter(([, it]) => it.type === "directory").length;
      const lines = formatOutline(state, place.entry, depth, "");
      return {
        directories,
        files: seen.length - directories,
        total: lines.length,
        lines: lines.slice(0, maxRows),
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

/** Matches a name against a pattern with `*` and `?` in at most quadratic time. */
function matchesPattern(pattern: string, name: string): boolean {
  let [p, n, star, back] = [0, 0, -1, 0];
  while (n < name.length) {
    if (p < pattern.length && (pattern[p] === "?" || pattern[p] === name[n]) && pattern[p] !== "*")
      [p, n] = [p + 1, n + 1];
    else if (pattern[p] === "*") [star, back, p] = [p, n, p + 1];
    else if (star >= 0) [p, n, back] = [star + 1, back + 1, back + 1];
    else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

export const entryQueries = {
  stat: tool({
    effect: "read",
    summary:
      "Show what a path is: kind, size in bytes, mode, owner, group and when it changed. A link is shown itself, not what it leads to.",
    input: { path: path.file.describe("File, directory, link or archive") },
    returns: {
      path: path.file,
      kind: z.enum(["file", "directory", "link", "zip", "tar"]),
      bytes: z.int(),
      mode: z.string(),
      owner: z.string(),
      group: z.string(),
      modified: minute(),
    },
    run(state, { path: input }) {
      const { entry, segments } = findEntry(state, input, { follow: false });
      const { owner, group: of, modified } = entry;
      return {
        path: formatPath(state, segments),
        kind: getKind(entry),
        bytes: measureSize(entry).bytes,
        mode: entry.type === "link" ? "777" : entry.mode,
        owner,
        group: of,
        modified,
      };
    },
  }),
  exists: tool({
    effect: "read",
    summary: "Tell whether there is anything at a path, and what kind of thing.",
    input: { path: path.file.describe("Path to try") },
    returns: {
      exists: z.boolean(),
      kind: z.enum(["file", "directory", "link", "zip", "tar"]).optional(),
    },
    run(state, { path: input }) {
      const entry = findEntryIfPresent(state, input);
      return entry ? { exists: true, kind: getKind(entry) } : { exists: false };
    },
  }),
  find: tool({
    effect: "read",
    summary:
      "Find files and directories below a directory by name or by a pattern with * and ?, and get their paths.",
    requires: ["cd"],
    input: {
      name: nameSchema("file").optional().describe("Name, or pattern such as *.csv"),
      directory: inDirectory.describe("Directory to search, the current one if not given"),
      kind: z
        .enum(["file", "directory", "link", "zip", "tar"])
        .optional()
        .describe("Only this kind"),
      limit: limit.describe("At most this many, 100 if not given"),
    },
    returns: {
      count: z.int(),
      total: rowTotal(...pathGroupNames),
      ...pathGroups,
      files: z.array(z.object({ name: nameSchema("file"), path: path.file })).optional(),
    },
    run(state, { name = "*", directory = ".", kind, limit: maxRows = 100 }) {
      const matches = walkTree(state, findReadableDirectory(state, directory)).filter(
        ([at, it]) => (!kind || getKind(it) === kind) && matchesPattern(name, at.at(-1)!),
      );
      const { files, ...rest } = groupPaths(
        matches.slice(0, maxRows).map(([at, it]) => [formatPath(state, at), it]),
      );
      return {
        count: matches.length,
        total: matches.length,
        ...(files ? { files: files.map(it => ({ name: it.split("/").at(-1)!, path: it })) } : {}),
        ...rest,
      };
    },
  }),
};

export const linkQueries = {
  readlink: tool({
    effect: "read",
    summary: "Show where a symbolic link leads. There need not be anything at its target.",
    input: { path: path.link.describe("Symbolic link") },
    returns: {
      target: path.file.optional(),
      directory: path.directory
        .optional()
        .describe("In place of target, where it leads to a directory"),
    },
    run(state, { path: input }) {
      const { entry, segments } = findEntry(state, input, { follow: false });
      if (entry.type !== "link")
        refuse(
          "precondition_failed",
          `${shorten(input)} is not a symbolic link but ${describeKind(entry)}`,
        );
      const target = toAbsolutePath(
        state,
        entry.target.startsWith("/")
          ? entry.target
          : `${joinSegments(segments.slice(0, -1))}/${entry.target}`,
      );
      return {
        [leadsToDirectory(state, target) ? "directory" : "target"]: formatPath(state, target),
      };
    },
  }),
};

/** The entry at a path. Undefined if it, or a directory of the path, does not exist. */
function findEntryIfPresent(state: FilesystemState, input: string): Entry | undefined {
  try {
    return resolvePath(state, input, { follow: false }).entry;
  } catch (error) {
    if (error instanceof Refusal && error.type === "not_found") return undefined;
    throw error;
  }
}

/** Whether a path leads to a directory that the user can reach. */
function leadsToDirectory(state: FilesystemState, input: string): boolean {
  try {
    return resolvePath(state, input).entry?.type === "directory";
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

export const directoryTools = {
  mkdir: tool({
    effect: "write",
    summary: "Make a directory; with parents also the ones above it that are missing.",
    requires: ["cd"],
    input: {
      path: newPathSchema(
        "reports",
        "drafts",
        "backup",
        "old",
        "2027",
        "inbox",
        "samples",
        "handover",
        "~/archive",
        "~/contracts",
        "~/notes/private",
        "~/invoices/april",
        "~/logs/march",
      ).describe("Path of the new directory"),
      parents: z.boolean().optional().describe("Also make missing directories above it"),
    },
    returns: { path: path.directory },
    run(state, { path: input, parents = false }, { now }) {
      if (!parents) {
        const place = resolvePath(state, input);
        reserveSpace(state, 0, 1);
        addEntry(state, place, createDirectory(state, now), now);
        return { path: formatPath(state, place.segments) };
      }
      const { top, names } = findMissingDirectories(state, input);
      if (top.entry?.type === "directory") return { path: formatPath(state, top.segments) };
      reserveSpace(state, 0, names.length);
      let directory = createDirectory(state, now);
      for (const name of names.slice(1).toReversed()) {
        requireFreePath(state, { input, segments: [name], parent: directory, entry: undefined });
        directory = { ...createDirectory(state, now), entries: { [name]: directory } };
      }
      addEntry(state, top, directory, now);
      return { path: formatPath(state, [...top.segments, ...names.slice(1)]) };
    },
  }),
  rmdir: tool({
    effect: "write",
    summary: "Remove a directory that is empty, for good.",
    destructive: true,
    input: { path: path.directory.describe("Empty directory") },
    returns: { removed: z.string() },
    run(state, { path: input }, { now }) {
      const place = findEntry(state, input, { follow: false });
      if (place.entry.type !== "directory")
        refuse(
          "precondition_failed",
          `${shorten(input)} is not a directory but ${describeKind(place.entry)}`,
          "filesystem_rm removes it",
        );
      const n = Object.keys(place.entry.entries).length;
      if (n > 0)
        refuse(
          "precondition_failed",
          `${formatPath(state, place.segments)} is not empty: it holds ${n} ${n === 1 ? "entry" : "entries"}`,
          "filesystem_rm with recursive: true removes a directory with all that is in it",
        );
      removeEntry(state, place, now);
      return { removed: formatPath(state, place.segments) };
    },
  }),
  touch: tool({
    effect: "write",
    summary: "Make an empty file, or set the time of one that exists to now.",
    requires: ["cd"],
    idempotent: true,
    input: {
      path: newPathSchema(
        "todo.md",
        "draft.txt",
        "log.txt",
        "ideas.md",
        "agenda.txt",
        "summary.md",
        "list.csv",
        "~/readme.md",
        "~/notes/monday.md",
        "~/plan.md",
      ).describe("Path of the file"),
    },
    returns: { path: path.file, created: z.boolean() },
    run(state, { path: input }, { now }) {
      const place = resolvePath(state, input);
      const { entry, segments } = place;
      if (entry) {
        if (entry.type !== "link") requirePermission(state, entry, "w", segments);
        getDraft(state, place as ExistingPath).modified = now;
      } else {
        reserveSpace(state, 0, 1);
        addEntry(state, place, createFile(state, "", now), now);
      }
      return { path: formatPath(state, segments), created: !entry };
    },
  }),
};

/**
 * The first missing directory of a path, and the names from there on. If none is missing, the end
 * of the path.
 */
function findMissingDirectories(
  state: FilesystemState,
  input: string,
): { top: ResolvedPath; names: string[] } {
  const names = toAbsolutePath(state, input).slice(1).split("/");
  for (let n = 1; n < names.length; n++) {
    const top = resolvePath(state, `/${names.slice(0, n).join("/")}`);
    if (!top.entry) return { top, names: [top.segments.at(-1)!, ...names.slice(n)] };
  }
  const top = resolvePath(state, input);
  return { top, names: top.segments.slice(-1) };
}
