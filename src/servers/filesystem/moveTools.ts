/** Tools that move, copy, rename and link entries. */
import { z } from "zod";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { copyEntry } from "./newEntries.ts";
import { addEntry, setEntry, removeEntry } from "./treeEdits.ts";
import { reserveSpace } from "./quota.ts";
import { toAbsolutePath, resolvePath } from "./paths.ts";
import {
  shorten,
  joinSegments,
  formatPath,
  type ExistingPath,
  type ResolvedPath,
} from "./pathFormat.ts";
import {
  requireFittingExtent,
  requirePermission,
  requireFreePath,
  requireReplaceable,
} from "./permissions.ts";
import { findEntry, findDirectory } from "./lookups.ts";
import { maxNameLength, maxPathLength, type Entry, FilesystemState } from "./state.ts";
import { newPathSchema, path } from "./parameters.ts";
import { measureExtent, measureSize } from "./entries.ts";

const tool = createToolFactory(FilesystemState);

/** The path of an entry with this name in the directory that a path leads to. */
function resolveInDirectory(state: FilesystemState, input: string, name: string): ResolvedPath {
  const { entry: directory, segments } = findDirectory(state, input);
  requirePermission(state, directory, "x", segments);
  return {
    input,
    segments: [...segments, name],
    parent: directory,
    entry: Object.hasOwn(directory.entries, name) ? directory.entries[name] : undefined,
  };
}

/** Refuses unless the path is free, or leads to a file that may be replaced. */
function requirePlaceFor(
  state: FilesystemState,
  path: ResolvedPath,
  overwrite: boolean,
  replacement: Entry,
): void {
  const { entry, segments } = path;
  if (!entry) return requireFreePath(state, path, measureExtent(replacement));
  if (!overwrite)
    refuse(
      "conflict",
      `${formatPath(state, segments)} already exists`,
      "pass overwrite: true, or choose another name",
    );
  if (entry.type === "directory" || replacement.type === "directory")
    refuse(
      "conflict",
      `${formatPath(state, segments)} already exists, and a directory is never overwritten`,
      "choose another name",
    );
  requireReplaceable(state, { ...path, entry });
  requireFittingExtent(segments, measureExtent(replacement));
}

/** Refuses to move an entry to its own path, or a directory into itself. */
function requireOutside(state: FilesystemState, from: ExistingPath, to: ResolvedPath): void {
  if (joinSegments(from.segments) === joinSegments(to.segments))
    refuse(
      "conflict",
      `${formatPath(state, to.segments)} is there already`,
      "choose another directory or another name",
    );
  if (from.segments.every((name, i) => to.segments[i] === name))
    refuse(
      "precondition_failed",
      `${formatPath(state, to.segments)} is below ${formatPath(state, from.segments)} itself`,
    );
}

const overwrite = z.boolean().optional().describe("Replace a file that is already there");
const into = path.directory.describe("Directory to put it in");
const newName = z
  .string()
  .min(1)
  .max(maxNameLength)
  .meta({
    examples: [
      "final.txt",
      "old.md",
      "notes-v2.md",
      "copy.csv",
      "done.txt",
      "march.txt",
      "for-ben.md",
      "draft2.md",
      "checked.csv",
      "latest.txt",
    ],
  });
const asName = newName.optional().describe("Its name there, the one it has if not given");

export const moveTools = {
  mv: tool({
    effect: "write",
    summary: "Move a file or directory into another directory, where it may get another name.",
    input: {
      source: path.file.describe("File or directory to move"),
      destination: into,
      name: asName,
      overwrite,
    },
    returns: { path: path.file },
    run(state, { source, destination, name, overwrite: mayReplace = false }, { now }) {
      const from = findEntry(state, source, { follow: false });
      const to = resolveInDirectory(state, destination, name ?? from.segments.at(-1) ?? "root");
      requireOutside(state, from, to);
      requirePlaceFor(state, to, mayReplace, from.entry);
      const isSameDirectory =
        joinSegments(from.segments.slice(0, -1)) === joinSegments(to.segments.slice(0, -1));
      // a directory that moves gets another "..", which changes it
      if (from.entry.type === "directory" && !isSameDirectory)
        requirePermission(state, from.entry, "w", from.segments);
      setEntry(state, to.segments, removeEntry(state, from, now), now);
      return { path: formatPath(state, to.segments) };
    },
  }),
  cp: tool({
    effect: "write",
    summary:
      "Copy a file, or with recursive a directory, into a directory, where it may get another name. The copy belongs to you.",
    input: {
      source: path.file.describe("File or directory to copy"),
      destination: into,
      name: asName,
      recursive: z.boolean().optional().describe("Needed for a directory"),
      overwrite,
    },
    returns: { path: path.file },
    run(
      state,
      { source, destination, name, recursive = false, overwrite: mayReplace = false },
      { now },
    ) {
      const from = findEntry(state, source);
      if (from.entry.type === "directory" && !recursive)
        refuse(
          "precondition_failed",
          `${shorten(source)} is a directory`,
          "pass recursive: true to copy it with all that is in it",
        );
      const to = resolveInDirectory(state, destination, name ?? from.segments.at(-1) ?? "root");
      requireOutside(state, from, to);
      requirePlaceFor(state, to, mayReplace, from.entry);
      const copy = copyEntry(state, from.entry, from.segments, now);
      const [size, freed] = [
        measureSize(copy),
        to.entry ? measureSize(to.entry) : { bytes: 0, entries: 0 },
      ];
      reserveSpace(state, size.bytes - freed.bytes, size.entries - freed.entries);
      setEntry(state, to.segments, copy, now);
      return { path: formatPath(state, to.segments) };
    },
  }),
  rename: tool({
    effect: "write",
    summary: "Give a file or directory another name in the directory it is in.",
    input: {
      path: path.file.describe("File or directory to rename"),
      name: newName.describe("New name, without slashes"),
    },
    returns: { path: path.file },
    run(state, { path: input, name }, { now }) {
      const from = findEntry(state, input, { follow: false });
      const to = {
        input: name,
        segments: [...from.segments.slice(0, -1), name],
        parent: from.parent,
        entry: Object.hasOwn(from.parent.entries, name) ? from.parent.entries[name] : undefined,
      };
      requireFreePath(state, to, measureExtent(from.entry));
      setEntry(state, to.segments, removeEntry(state, from, now), now);
      return { path: formatPath(state, to.segments) };
    },
  }),
  ln: tool({
    effect: "write",
    summary: "Make a symbolic link that leads to another path. The target need not exist.",
    input: {
      target: path.file.describe("Path that the link leads to"),
      path: newPathSchema(
        "~/latest",
        "~/current",
        "~/shortcut",
        "~/today",
        "~/work",
        "~/pinned",
        "latest",
        "current",
      ).describe("Path of the new link"),
    },
    returns: { path: path.link },
    run(state, { target, path: input }, { now }) {
      const leads = toAbsolutePath(state, target);
      if (leads.length > maxPathLength)
        refuse("limit_exceeded", `a path has at most ${maxPathLength} characters`);
      const place = resolvePath(state, input, { follow: false });
      reserveSpace(state, 0, 1);
      const { user, users } = state;
      addEntry(
        state,
        place,
        { type: "link", owner: user, group: users[user]!.groups[0]!, modified: now, target: leads },
        now,
      );
      return { path: formatPath(state, place.segments) };
    },
  }),
};
