/**
 * Tools that make, move, copy and protect entries. What is written inside files is not their
 * affair.
 */
import { z } from "zod";
import { refuse } from "../../environment/server.ts";
import { copyOf, draftOf, emptyDirectory, newFile, put, reserve, set, take } from "./edit.ts";
import {
  absolute,
  allow,
  brief,
  find,
  findDirectory,
  free,
  locate,
  owning,
  pathOf,
  shown,
  whatIs,
  type Found,
  type Place,
} from "./resolve.ts";
import {
  longestName,
  longestPath,
  newPath,
  path,
  reachOf,
  sizeOf,
  tool,
  type Entry,
  type World,
} from "./state.ts";

/** The place of this name in the directory that a path leads to. */
function placeIn(world: World, given: string, name: string): Place {
  const { entry: directory, at } = findDirectory(world, given);
  allow(world, directory, "x", at);
  return {
    given,
    at: [...at, name],
    parent: directory,
    entry: Object.hasOwn(directory.entries, name) ? directory.entries[name] : undefined,
  };
}

/** Refuses unless the place is free, or holds a file that may be replaced. */
function replaceable(world: World, place: Place, overwrite: boolean, by: Entry): void {
  const { entry, at, parent } = place;
  if (!entry) return free(world, place, reachOf(by));
  if (!overwrite)
    refuse(
      "conflict",
      `${shown(world, at)} already exists`,
      "pass overwrite: true, or choose another name",
    );
  if (entry.type === "directory" || by.type === "directory")
    refuse(
      "conflict",
      `${shown(world, at)} already exists, and a directory is never overwritten`,
      "choose another name",
    );
  allow(world, parent, "w", at.slice(0, -1));
  if (entry.type !== "link") allow(world, entry, "w", at);
}

/** Refuses to put an entry where it is, or a directory into itself. */
function outside(world: World, from: Found, to: Place): void {
  if (pathOf(from.at) === pathOf(to.at))
    refuse(
      "conflict",
      `${shown(world, to.at)} is there already`,
      "choose another directory or another name",
    );
  if (from.at.every((name, i) => to.at[i] === name))
    refuse(
      "precondition_failed",
      `${shown(world, to.at)} is below ${shown(world, from.at)} itself`,
    );
}

const overwrite = z.boolean().optional().describe("Replace a file that is already there");
const into = path.directory.describe("Directory to put it in");
const newName = z
  .string()
  .min(1)
  .max(longestName)
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

export const directoryTools = {
  mkdir: tool({
    effect: "write",
    summary: "Make a directory; with parents also the ones above it that are missing.",
    requires: ["cd"],
    input: {
      path: newPath(
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
    run(world, { path: given, parents = false }, { now }) {
      if (!parents) {
        const place = locate(world, given);
        reserve(world, 0, 1);
        put(world, place, emptyDirectory(world, now), now);
        return { path: shown(world, place.at) };
      }
      const { top, names } = missingAbove(world, given);
      if (top.entry?.type === "directory") return { path: shown(world, top.at) };
      reserve(world, 0, names.length);
      let made = emptyDirectory(world, now);
      for (const name of names.slice(1).toReversed()) {
        free(world, { given, at: [name], parent: made, entry: undefined });
        made = { ...emptyDirectory(world, now), entries: { [name]: made } };
      }
      put(world, top, made, now);
      return { path: shown(world, [...top.at, ...names.slice(1)]) };
    },
  }),
  rmdir: tool({
    effect: "write",
    summary: "Remove a directory that is empty, for good.",
    destructive: true,
    input: { path: path.directory.describe("Empty directory") },
    returns: { removed: z.string() },
    run(world, { path: given }, { now }) {
      const place = find(world, given, { follow: false });
      if (place.entry.type !== "directory")
        refuse(
          "precondition_failed",
          `${brief(given)} is not a directory but ${whatIs(place.entry)}`,
          "filesystem_rm removes it",
        );
      const n = Object.keys(place.entry.entries).length;
      if (n > 0)
        refuse(
          "precondition_failed",
          `${shown(world, place.at)} is not empty: it holds ${n} ${n === 1 ? "entry" : "entries"}`,
          "filesystem_rm with recursive: true removes a directory with all that is in it",
        );
      take(world, place, now);
      return { removed: shown(world, place.at) };
    },
  }),
  touch: tool({
    effect: "write",
    summary: "Make an empty file, or set the time of one that exists to now.",
    requires: ["cd"],
    idempotent: true,
    input: {
      path: newPath(
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
    run(world, { path: given }, { now }) {
      const place = locate(world, given);
      const { entry, at } = place;
      if (entry) {
        if (entry.type !== "link") allow(world, entry, "w", at);
        draftOf(world, place as Found).modified = now;
      } else {
        reserve(world, 0, 1);
        put(world, place, newFile(world, "", now), now);
      }
      return { path: shown(world, at), created: !entry };
    },
  }),
};

/**
 * The first directory of a path that is missing, and the names from there on; the path's own end
 * where none is.
 */
function missingAbove(world: World, given: string): { top: Place; names: string[] } {
  const all = absolute(world, given).slice(1).split("/");
  for (let n = 1; n < all.length; n++) {
    const top = locate(world, `/${all.slice(0, n).join("/")}`);
    if (!top.entry) return { top, names: [top.at.at(-1)!, ...all.slice(n)] };
  }
  const top = locate(world, given);
  return { top, names: top.at.slice(-1) };
}

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
    run(world, { source, destination, name, overwrite: mayReplace = false }, { now }) {
      const from = find(world, source, { follow: false });
      const to = placeIn(world, destination, name ?? from.at.at(-1) ?? "root");
      outside(world, from, to);
      replaceable(world, to, mayReplace, from.entry);
      set(world, to.at, take(world, from, now), now);
      return { path: shown(world, to.at) };
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
      world,
      { source, destination, name, recursive = false, overwrite: mayReplace = false },
      { now },
    ) {
      const from = find(world, source);
      if (from.entry.type === "directory" && !recursive)
        refuse(
          "precondition_failed",
          `${brief(source)} is a directory`,
          "pass recursive: true to copy it with all that is in it",
        );
      const to = placeIn(world, destination, name ?? from.at.at(-1) ?? "root");
      outside(world, from, to);
      replaceable(world, to, mayReplace, from.entry);
      const copy = copyOf(world, from.entry, from.at, now);
      const [size, freed] = [sizeOf(copy), to.entry ? sizeOf(to.entry) : { bytes: 0, entries: 0 }];
      reserve(world, size.bytes - freed.bytes, size.entries - freed.entries);
      set(world, to.at, copy, now);
      return { path: shown(world, to.at) };
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
    run(world, { path: given, name }, { now }) {
      const from = find(world, given, { follow: false });
      const to = {
        given: name,
        at: [...from.at.slice(0, -1), name],
        parent: from.parent,
        entry: Object.hasOwn(from.parent.entries, name) ? from.parent.entries[name] : undefined,
      };
      free(world, to, reachOf(from.entry));
      set(world, to.at, take(world, from, now), now);
      return { path: shown(world, to.at) };
    },
  }),
  ln: tool({
    effect: "write",
    summary: "Make a symbolic link that leads to another path. The target need not exist.",
    input: {
      target: path.file.describe("Path that the link leads to"),
      path: newPath(
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
    run(world, { target, path: given }, { now }) {
      const leads = absolute(world, target);
      if (leads.length > longestPath)
        refuse("limit_exceeded", `a path has at most ${longestPath} characters`);
      const place = locate(world, given, { follow: false });
      reserve(world, 0, 1);
      const { user, users } = world;
      put(
        world,
        place,
        { type: "link", owner: user, group: users[user]!.groups[0]!, modified: now, target: leads },
        now,
      );
      return { path: shown(world, place.at) };
    },
  }),
};

const rights = { r: 4, w: 2, x: 1 } as const;

/** A mode after a change such as `640`, `u+x` or `go-w,a+r`. */
export function modeAfter(mode: string, change: string): string {
  if (/^[0-7]+$/.test(change)) return change;
  const digits = mode.slice(-3).split("").map(Number);
  for (const clause of change.split(",")) {
    const [, who = "", sign, letters = ""] = /^([ugoa]*)([+=-])([rwx]+)$/.exec(clause)!;
    const bits = letters.split("").reduce((sum, it) => sum | rights[it as keyof typeof rights], 0);
    for (const [i, whose] of ["u", "g", "o"].entries()) {
      if (who !== "" && !who.includes("a") && !who.includes(whose)) continue;
      digits[i] = sign === "+" ? digits[i]! | bits : sign === "-" ? digits[i]! & ~bits : bits;
    }
  }
  return `${mode.slice(0, -3)}${digits.join("")}`;
}

export const ownerTools = {
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
    run(world, { path: given, mode }) {
      const place = find(world, given);
      owning(world, place);
      const { entry, at } = place;
      if (entry.type === "link")
        refuse(
          "precondition_failed",
          `${brief(given)} is a symbolic link, which has no mode of its own`,
        );
      const changed = modeAfter(entry.mode, mode);
      draftOf(world, place as Found<typeof entry>).mode = changed;
      return { path: shown(world, at), mode: changed };
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
    run(world, { path: given, owner, group }) {
      const place = find(world, given);
      const { users, user } = world;
      if (!Object.hasOwn(users, owner))
        refuse(
          "not_found",
          `there is no user ${owner}`,
          `users are ${Object.keys(users).sort().slice(0, 8).join(", ")}`,
        );
      owning(world, place);
      if (group !== undefined && user !== "root" && !users[user]!.groups.includes(group))
        refuse(
          "permission_denied",
          `${user} is not in the group ${group}`,
          `your groups are ${users[user]!.groups.join(", ")}`,
        );
      const entry = draftOf(world, place);
      entry.owner = owner;
      entry.group = group ?? entry.group;
      return { path: shown(world, place.at), owner, group: entry.group };
    },
  }),
};
