/**
 * Tools that look around: where one is, what is there, and how much room it takes. Only `cd`
 * changes anything.
 */
import { z } from "zod";
import { minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { Refusal, refuse } from "../../environment/server.ts";
import {
  absolute,
  allow,
  brief,
  find,
  findDirectory,
  listed,
  locate,
  may,
  pathOf,
  shown,
  whatIs,
} from "./resolve.ts";
import { used } from "./edit.ts";
import {
  deepest,
  kindOf,
  nameOf,
  path,
  sizeOf,
  sorted,
  tool,
  type Directory,
  type Entry,
  type World,
} from "./state.ts";

/**
 * Paths by what stands there, the empty kinds left out: each list feeds the tools for that kind.
 */
const grouped = {
  files: z.array(path.file).optional(),
  directories: z.array(path.directory).optional(),
  links: z.array(path.link).optional(),
  zips: z.array(path.zip).optional(),
  tars: z.array(path.tar).optional(),
};
const groupOf = {
  file: "files",
  directory: "directories",
  link: "links",
  zip: "zips",
  tar: "tars",
} as const;

function group(entries: readonly (readonly [string, Entry])[]) {
  const groups: Partial<Record<keyof typeof grouped, string[]>> =
    entries.length === 0 ? { files: [] } : {};
  for (const [at, it] of entries) (groups[groupOf[kindOf(it)]] ??= []).push(at);
  return groups;
}

/** Everything below a directory that the user may see, shallow before deep. */
export function below(
  world: World,
  start: { at: readonly string[]; entry: Directory },
  levels = deepest,
): [string[], Entry][] {
  const seen: [string[], Entry][] = [];
  let level: [readonly string[], Directory][] = [[start.at, start.entry]];
  for (let n = 0; n < levels && level.length > 0; n++) {
    const next: typeof level = [];
    for (const [at, directory] of level) {
      if (!may(world, directory, "r") || !may(world, directory, "x")) continue;
      for (const [name, it] of sorted(directory.entries)) {
        seen.push([[...at, name], it]);
        if (it.type === "directory") next.push([[...at, name], it]);
      }
    }
    level = next;
  }
  return seen;
}

/** A name pattern with `*` and `?`, matched in time that a long pattern cannot blow up. */
export function matches(pattern: string, name: string): boolean {
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
const inDirectory = path.directory.optional();

export const placeTools = {
  pwd: tool({
    effect: "read",
    summary: "Print the current directory, from which relative paths start.",
    requires: ["cd"],
    input: {},
    returns: { path: path.directory },
    run: world => ({ path: shown(world, world.cwd) }),
  }),
  cd: tool({
    effect: "write",
    summary: "Change the current directory; relative paths then start there.",
    idempotent: true,
    input: { path: path.directory.describe("Directory to go to") },
    returns: { path: path.directory },
    run(world, { path: given }) {
      const place = findDirectory(world, given);
      allow(world, place.entry, "x", place.at);
      world.cwd = pathOf(place.at);
      return { path: shown(world, place.at) };
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
      ...grouped,
      contains: z.array(z.string()).optional().describe("Names in an archive"),
    },
    run(world, { path: given = ".", order = "name", all = false, limit: most = 20 }) {
      const place = find(world, given);
      const { entry, at } = place;
      if (entry.type === "archive") {
        allow(world, entry, "r", at);
        const names = namesIn(entry.entries);
        return { count: names.length, contains: names.slice(0, most) };
      }
      const { entries } = listed(world, given).entry;
      const rows = sorted(entries).filter(([name]) => all || !name.startsWith("."));
      if (order === "size") rows.sort(([, a], [, b]) => sizeOf(b).bytes - sizeOf(a).bytes);
      if (order === "modified")
        rows.sort(([, a], [, b]) =>
          a.modified === b.modified ? 0 : a.modified < b.modified ? 1 : -1,
        );
      return {
        count: rows.length,
        ...group(rows.slice(0, most).map(([name, it]) => [shown(world, [...at, name]), it])),
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
    run(world, { path: given, depth = 2, limit: most = 30 }) {
      const place = listed(world, given);
      const seen = below(world, place, depth);
      const directories = seen.filter(([, it]) => it.type === "directory").length;
      return {
        directories,
        files: seen.length - directories,
        lines: outline(world, place.entry, depth, "").slice(0, most),
      };
    },
  }),
};

const namesIn = (entries: Readonly<Record<string, Entry>>, prefix = ""): string[] =>
  sorted(entries).flatMap(([name, it]) =>
    it.type === "directory"
      ? [`${prefix}${name}/`, ...namesIn(it.entries, `${prefix}${name}/`)]
      : [`${prefix}${name}`],
  );

function outline(world: World, directory: Directory, depth: number, indent: string): string[] {
  if (!may(world, directory, "r") || !may(world, directory, "x"))
    return [`${indent}(permission denied)`];
  return sorted(directory.entries).flatMap(([name, it]) => {
    if (it.type === "link") return [`${indent}${name} -> ${it.target}`];
    if (it.type !== "directory") return [`${indent}${name}`];
    return [
      `${indent}${name}/`,
      ...(depth > 1 ? outline(world, it, depth - 1, `${indent}  `) : []),
    ];
  });
}

export const lookTools = {
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
    run(world, { path: given }) {
      const { entry, at } = find(world, given, { follow: false });
      const { owner, group: of, modified } = entry;
      return {
        path: shown(world, at),
        kind: kindOf(entry),
        bytes: sizeOf(entry).bytes,
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
    run(world, { path: given }) {
      const entry = entryAt(world, given);
      return entry ? { exists: true, kind: kindOf(entry) } : { exists: false };
    },
  }),
  find: tool({
    effect: "read",
    summary:
      "Find files and directories below a directory by name or by a pattern with * and ?, and get their paths.",
    requires: ["cd"],
    input: {
      name: nameOf("file").optional().describe("Name, or pattern such as *.csv"),
      directory: inDirectory.describe("Directory to search, the current one if not given"),
      kind: z
        .enum(["file", "directory", "link", "zip", "tar"])
        .optional()
        .describe("Only this kind"),
      limit: limit.describe("At most this many, 100 if not given"),
    },
    returns: {
      count: z.int(),
      ...grouped,
      files: z.array(z.object({ name: nameOf("file"), path: path.file })).optional(),
    },
    run(world, { name = "*", directory = ".", kind, limit: most = 100 }) {
      const hits = below(world, listed(world, directory)).filter(
        ([at, it]) => (!kind || kindOf(it) === kind) && matches(name, at.at(-1)!),
      );
      const { files, ...rest } = group(
        hits.slice(0, most).map(([at, it]) => [shown(world, at), it]),
      );
      return {
        count: hits.length,
        ...(files ? { files: files.map(it => ({ name: it.split("/").at(-1)!, path: it })) } : {}),
        ...rest,
      };
    },
  }),
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
    run(world, { path: given }) {
      const { entry, at } = find(world, given, { follow: false });
      if (entry.type !== "link")
        refuse(
          "precondition_failed",
          `${brief(given)} is not a symbolic link but ${whatIs(entry)}`,
        );
      const target = absolute(
        world,
        entry.target.startsWith("/") ? entry.target : `${pathOf(at.slice(0, -1))}/${entry.target}`,
      );
      return { [isDirectory(world, target) ? "directory" : "target"]: shown(world, target) };
    },
  }),
};

/** What is at a path; nothing, where a directory on the way is missing too. */
function entryAt(world: World, given: string): Entry | undefined {
  try {
    return locate(world, given, { follow: false }).entry;
  } catch (error) {
    if (error instanceof Refusal && error.type === "not_found") return undefined;
    throw error;
  }
}

/** Whether a path leads to a directory, whatever stands in the way. */
function isDirectory(world: World, given: string): boolean {
  try {
    return locate(world, given).entry?.type === "directory";
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

export const roomTools = {
  du: tool({
    effect: "read",
    summary: "Add up the size of a directory and name its largest files.",
    input: {
      path: path.directory.describe("Directory to measure"),
      top: z
        .int()
        .min(1)
        .max(20)
        .optional()
        .describe("How many of the largest files, 3 if not given"),
    },
    returns: {
      bytes: z.int(),
      files: z.int(),
      largest: z.array(z.object({ path: path.file, bytes: z.int() })),
    },
    run(world, { path: given, top = 3 }) {
      const place = listed(world, given);
      const files = below(world, place).filter(([, it]) => it.type !== "directory");
      const sizes = files
        .map(([at, it]) => ({ path: shown(world, at), bytes: sizeOf(it).bytes }))
        .sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1));
      return {
        bytes: sizes.reduce((sum, it) => sum + it.bytes, 0),
        files: files.length,
        largest: sizes.slice(0, top),
      };
    },
  }),
  df: tool({
    effect: "read",
    summary:
      "Show the disk quota in bytes: size, used, free, and how much of it lies in the trash.",
    requires: ["rm", "truncate", "cp", "zip", "tar_create"],
    input: {},
    returns: { size: z.int(), used: z.int(), free: z.int(), trash: z.int() },
    run(world) {
      const { quota } = getOriginal(world);
      const { bytes, trash } = used(world);
      return { size: quota.bytes, used: bytes, free: Math.max(0, quota.bytes - bytes), trash };
    },
  }),
};
