/**
 * The tree as a JSON value: directories are records keyed by name, so a write touches one short
 * path of it.
 */
import { z } from "zod";
import { label, minute, spokenId } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";

/**
 * Levels of directories and archives in each other, which keeps every walk over the tree shallow.
 */
export const deepest = 40;
export const longestName = 255;
export const longestPath = 1024;

interface Owned {
  owner: string;
  group: string;
  /** Octal digits for owner, group and others; a leading 1 is the sticky bit. */
  mode: string;
  modified: string;
}
export interface File extends Owned {
  type: "file";
  text: string;
}
export interface Link extends Omit<Owned, "mode"> {
  type: "link";
  target: string;
}
export interface Directory extends Owned {
  type: "directory";
  entries: Record<string, Entry>;
}
/** A sealed tree: what it holds is read by listing and extracting only. */
export interface Archive extends Owned {
  type: "archive";
  format: "zip" | "tar";
  entries: Record<string, Entry>;
}
export type Entry = File | Link | Directory | Archive;

/** No slash, no control character, NFC; `__proto__` could not be a key of a plain record. */
export const isName = (name: string) =>
  name.length > 0 &&
  name.length <= longestName &&
  !/[/\p{Cc}]/u.test(name) &&
  name !== "." &&
  name !== ".." &&
  name !== "__proto__" &&
  name.normalize("NFC") === name;

const Name = z.string().min(1).max(longestName).refine(isName, "not a name that an entry can have");
const Absolute = z.string().regex(/^\//).max(longestPath);
const Mode = z.string().regex(/^1?[0-7]{3}$/);

const owned = { owner: z.string(), group: z.string(), mode: Mode, modified: minute() };
const Entries: z.ZodType<Record<string, Entry>> = z.lazy(() => z.record(Name, Entry));
const Directory = z.strictObject({ type: z.literal("directory"), ...owned, entries: Entries });
const Entry: z.ZodType<Entry> = z.discriminatedUnion("type", [
  Directory,
  z.strictObject({ type: z.literal("file"), ...owned, text: z.string() }),
  z.strictObject({
    type: z.literal("link"),
    owner: z.string(),
    group: z.string(),
    modified: minute(),
    target: z.string().min(1).max(longestPath),
  }),
  z.strictObject({
    type: z.literal("archive"),
    ...owned,
    format: z.enum(["zip", "tar"]),
    entries: Entries,
  }),
]);

export const World = z
  .strictObject({
    /** Who calls: permissions are this user's. */
    user: z.string(),
    users: z.record(
      z.string(),
      z.strictObject({ name: z.string(), home: Absolute, groups: z.array(z.string()).min(1) }),
    ),
    cwd: Absolute,
    quota: z.strictObject({
      bytes: z.int().min(0).max(10_000_000),
      entries: z.int().min(1).max(20_000),
    }),
    root: Directory,
    trash: z.record(
      z.string(),
      z.strictObject({ name: Name, from: Absolute, removed: minute(), entry: Entry }),
    ),
  })
  .refine(it => Object.hasOwn(it.users, it.user), {
    path: ["user"],
    message: "must be one of users",
  });
export type World = z.infer<typeof World>;

export const tool = createToolFactory(World);

const pathTo = (entity: string) =>
  z.string().min(1).max(longestPath).meta(spokenId(entity).meta()!);
/**
 * A path as tools give and take it: absolute, from the home as `~/…`, or from the current
 * directory.
 */
export const path = {
  file: pathTo("file"),
  directory: pathTo("directory"),
  link: pathTo("link"),
  zip: pathTo("zip_archive"),
  tar: pathTo("tar_archive"),
};
export const nameOf = (entity: string) =>
  z.string().min(1).max(longestName).meta(label(entity).meta()!);
/** A path that does not exist yet, so that no result can give it. */
export const newPath = (...examples: string[]) =>
  z.string().min(1).max(longestPath).meta({ examples });

export const kindOf = (entry: Entry) => (entry.type === "archive" ? entry.format : entry.type);

/** Entries of a directory in the order of their code points, on every machine the same. */
export const sorted = (entries: Readonly<Record<string, Entry>>): [string, Entry][] =>
  Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1));

export const bytesIn = (text: string) => Buffer.byteLength(text, "utf8");

/** What an entry weighs on the disk, with all that is below it. */
export function sizeOf(entry: Entry): { bytes: number; entries: number } {
  if (entry.type === "file") return { bytes: bytesIn(entry.text), entries: 1 };
  if (entry.type === "link") return { bytes: 0, entries: 1 };
  const held = { bytes: 0, entries: 1 };
  for (const it of Object.values(entry.entries)) {
    const { bytes, entries } = sizeOf(it);
    held.bytes += bytes;
    held.entries += entries;
  }
  if (entry.type === "directory") return held;
  // a tar keeps every byte in blocks of 512, a zip packs text to about half behind a directory of
  // its own
  const bytes =
    entry.format === "tar"
      ? 512 * (held.entries + Math.ceil(held.bytes / 512))
      : 22 + 60 * (held.entries - 1) + Math.ceil(held.bytes / 2);
  return { bytes, entries: 1 };
}

/** The files of a tree, archives closed. */
export const filesIn = (entries: Readonly<Record<string, Entry>>): number =>
  Object.values(entries).reduce(
    (n, it) => n + (it.type === "directory" ? filesIn(it.entries) : 1),
    0,
  );

/** Levels below an entry, and the length of the longest path below it. */
export function reachOf(entry: Entry): { levels: number; length: number } {
  const reach = { levels: 1, length: 0 };
  if (!("entries" in entry)) return reach;
  for (const [name, it] of Object.entries(entry.entries)) {
    const { levels, length } = reachOf(it);
    reach.levels = Math.max(reach.levels, levels + 1);
    reach.length = Math.max(reach.length, length + name.length + 1);
  }
  return reach;
}
