/**
 * Tools that move, copy, rename and link entries, remove and restore them, and change their mode
 * and owner.
 */
import { z } from "zod";
import { createToolFactory, refuse, findEntity } from "../../environment/server.ts";
import {
  copyEntry,
  addEntry,
  setEntry,
  removeEntry,
  reserveSpace,
  requireRemovable,
  requireRemovableContent,
  getDraft,
} from "./treeEdits.ts";
import {
  toAbsolutePath,
  resolvePath,
  shorten,
  joinSegments,
  formatPath,
  type ExistingPath,
  type ResolvedPath,
  requireFittingExtent,
  requirePermission,
  requireFreePath,
  requireReplaceable,
  findEntry,
  findDirectory,
  measureExtent,
  measureSize,
  permissionBits,
  requireOwner,
  type Permission,
} from "./paths.ts";
import {
  maxNameLength,
  maxPathLength,
  type Entry,
  FilesystemState,
  newPathSchema,
  path,
  nameSchema,
} from "./state.ts";
import { id, minute, rowLimit, rowTotal } from "../../environment/fieldSchemas.ts";

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

export const removalTools = {
  rm: tool({
    effect: "write",
    summary:
      "Remove a file, link or archive, or with recursive a directory. It goes to the trash unless permanent is set.",
    destructive: true,
    input: {
      path: path.file.describe("What to remove"),
      recursive: z
        .boolean()
        .optional()
        .describe("Needed for a directory: remove it with all that is in it"),
      permanent: z.boolean().optional().describe("Remove for good, without the trash"),
    },
    returns: { name: nameSchema("trash_item"), trash_id: id("trash_item").optional() },
    run(state, { path: input, recursive = false, permanent = false }, { now, newId }) {
      const place = findEntry(state, input, { follow: false });
      const { entry, segments } = place;
      if (entry.type === "directory" && !recursive)
        refuse(
          "precondition_failed",
          `${shorten(input)} is a directory`,
          "pass recursive: true to remove it with all that is in it, or use filesystem_rmdir if it is empty",
        );
      requireRemovable(state, place);
      if (entry.type === "directory") requireRemovableContent(state, entry, segments);
      removeEntry(state, place, now);
      const name = segments.at(-1)!;
      if (permanent) return { name };
      const trash_id = newId("trash");
      state.trash[trash_id] = { name, from: joinSegments(segments), removed: now, entry };
      return { name, trash_id };
    },
  }),
};

export const trashTools = {
  list_trash: tool({
    effect: "read",
    summary:
      "List what is in the trash, the last removed first, all of it or only names that contain some words.",
    requires: ["rm"],
    input: {
      name: nameSchema("trash_item").optional().describe("Only names that contain this"),
      limit: rowLimit(10),
    },
    returns: {
      count: z.int(),
      total: rowTotal("items"),
      items: z.array(
        z.object({
          name: nameSchema("trash_item"),
          trash_id: id("trash_item"),
          from: z.string(),
          removed: minute(),
        }),
      ),
    },
    run(state, { name = "", limit = 10 }) {
      const part = name.toLowerCase();
      const rows = Object.entries(state.trash).filter(([, it]) =>
        it.name.toLowerCase().includes(part),
      );
      rows.sort(([a, x], [b, y]) =>
        x.removed === y.removed ? (a < b ? -1 : 1) : x.removed < y.removed ? 1 : -1,
      );
      return {
        count: rows.length,
        total: rows.length,
        items: rows.slice(0, limit).map(([trash_id, it]) => ({
          name: it.name,
          trash_id,
          from: formatPath(state, it.from),
          removed: it.removed,
        })),
      };
    },
  }),
  restore_trash: tool({
    effect: "write",
    summary: "Bring something back from the trash to where it was, or into another directory.",
    input: {
      trash_id: id("trash_item").describe("Id of the item, as filesystem_list_trash gives it"),
      directory: path.directory
        .optional()
        .describe("Directory to restore into, where it was if not given"),
    },
    returns: { path: path.file },
    run(state, { trash_id, directory }, { now }) {
      const { name, from, entry } = findEntity(
        state.trash,
        trash_id,
        "item in the trash with id",
        "filesystem_list_trash gives the ids",
      );
      const place = resolvePath(state, directory === undefined ? from : `${directory}/${name}`, {
        follow: false,
      });
      addEntry(state, place, entry, now);
      delete state.trash[trash_id];
      return { path: formatPath(state, place.segments) };
    },
  }),
};

/** A mode after a change such as `640`, `u+x` or `go-w,a+r`. */
function applyModeChange(mode: string, change: string): string {
  if (/^[0-7]+$/.test(change)) return change;
  const digits = mode.slice(-3).split("").map(Number);
  for (const clause of change.split(",")) {
    const [, who = "", sign, letters = ""] = /^([ugoa]*)([+=-])([rwx]+)$/.exec(clause)!;
    const bits = letters.split("").reduce((sum, it) => sum | permissionBits[it as Permission], 0);
    for (const [i, whose] of ["u", "g", "o"].entries()) {
      if (who !== "" && !who.includes("a") && !who.includes(whose)) continue;
      digits[i] = sign === "+" ? digits[i]! | bits : sign === "-" ? digits[i]! & ~bits : bits;
    }
  }
  return `${mode.slice(0, -3)}${digits.join("")}`;
}

export const permissionTools = {
  chmod: tool({
    effect: "write",
    summary:
      "Change who may read, write or enter a path that you own, in octal (640) or as letters (g+w).",
    idempotent: true,
    input: {
      path: path.file.describe("File or directory"),
      mode: z
        .string()
        .regex(/^(1?[0-7]{3}|[ugoa]*[+=-][rwx]+(,[ugoa]*[+=-][rwx]+)*)$/)
        .max(40)
        .describe("New mode: 644, 600, u+x, go-w")
        .meta({
          examples: [
            "600",
            "644",
            "640",
            "664",
            "444",
            "755",
            "700",
            "g+w",
            "o-r",
            "go-w",
            "a-w",
            "u+x",
          ],
        }),
    },
    returns: { path: path.file, mode: z.string() },
    run(state, { path: input, mode }) {
      const place = findEntry(state, input);
      requireOwner(state, place);
      const { entry, segments } = place;
      if (entry.type === "link")
        refuse(
          "precondition_failed",
          `${shorten(input)} is a symbolic link, which has no mode of its own`,
        );
      const changed = applyModeChange(entry.mode, mode);
      getDraft(state, place as ExistingPath<typeof entry>).mode = changed;
      return { path: formatPath(state, segments), mode: changed };
    },
  }),
  chown: tool({
    effect: "write",
    summary: "Give a path that you own to another user, and optionally to a group that you are in.",
    input: {
      path: path.file.describe("File or directory that you own"),
      owner: z
        .string()
        .min(1)
        .max(40)
        .describe("User name of the new owner")
        .meta({ examples: ["ben", "chloe", "david", "emma"] }),
      group: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .describe("New group, one of yours")
        .meta({ examples: ["ana", "team"] }),
    },
    returns: { path: path.file, owner: z.string(), group: z.string() },
    run(state, { path: input, owner, group }) {
      const place = findEntry(state, input);
      const { users, user } = state;
      if (!Object.hasOwn(users, owner))
        refuse(
          "not_found",
          `there is no user ${owner}`,
          `users are ${Object.keys(users).sort().slice(0, 8).join(", ")}`,
        );
      requireOwner(state, place);
      if (group !== undefined && user !== "root" && !users[user]!.groups.includes(group))
        refuse(
          "permission_denied",
          `${user} is not in the group ${group}`,
          `your groups are ${users[user]!.groups.join(", ")}`,
        );
      const entry = getDraft(state, place);
      entry.owner = owner;
      entry.group = group ?? entry.group;
      return { path: formatPath(state, place.segments), owner, group: entry.group };
    },
  }),
};
