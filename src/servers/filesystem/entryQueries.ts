/** Tools that find entries and show what they are. */
import { z } from "zod";
import { minute } from "../../environment/fieldSchemas.ts";
import { createToolFactory, Refusal, refuse } from "../../environment/server.ts";
import { toAbsolutePath, resolvePath, describeKind } from "./paths.ts";
import { shorten, joinSegments, formatPath } from "./pathFormat.ts";
import { findEntry, findReadableDirectory } from "./lookups.ts";
import { type Entry, FilesystemState } from "./state.ts";
import { getKind, measureSize } from "./entries.ts";
import { nameSchema, path } from "./parameters.ts";
import { inDirectory } from "./navigationTools.ts";
import { pathGroups, groupPaths } from "./pathGroups.ts";
import { walkTree } from "./walkTree.ts";

const tool = createToolFactory(FilesystemState);

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

const limit = z.int().min(1).max(200).optional();

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
