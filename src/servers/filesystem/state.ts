/**
 * The state of the file system: a tree as a JSON value. Directories are records keyed by name, so
 * that a write changes only one short path of the tree.
 */
import { z } from "zod";
import { minute, label, spokenId } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";

/** The most levels of nested directories and archives. */
export const maxDepth = 40;
export const maxNameLength = 255;
export const maxPathLength = 1024;

interface OwnedEntry {
  owner: string;
  group: string;
  /** Octal digits for owner, group and others; a leading 1 is the sticky bit. */
  mode: string;
  modified: string;
}
export interface File extends OwnedEntry {
  type: "file";
  text: string;
}
interface Link extends Omit<OwnedEntry, "mode"> {
  type: "link";
  target: string;
}
export interface Directory extends OwnedEntry {
  type: "directory";
  entries: Record<string, Entry>;
}
/** A packed tree: its content can only be listed and extracted. */
export interface Archive extends OwnedEntry {
  type: "archive";
  format: "zip" | "tar";
  entries: Record<string, Entry>;
}
export type Entry = File | Link | Directory | Archive;

/**
 * Whether an entry can have this name: no slash, no control character, NFC. `__proto__` cannot be a
 * key of a plain record.
 */
export const isValidName = (name: string) =>
  name.length > 0 &&
  name.length <= maxNameLength &&
  !/[/\p{Cc}]/u.test(name) &&
  name !== "." &&
  name !== ".." &&
  name !== "__proto__" &&
  name.normalize("NFC") === name;

const Name = z
  .string()
  .min(1)
  .max(maxNameLength)
  .refine(isValidName, "not a name that an entry can have");
const Absolute = z.string().regex(/^\//).max(maxPathLength);
const Mode = z.string().regex(/^1?[0-7]{3}$/);

const ownership = { owner: z.string(), group: z.string(), mode: Mode, modified: minute() };
const Entries: z.ZodType<Record<string, Entry>> = z.lazy(() => z.record(Name, Entry));
const Directory = z.strictObject({ type: z.literal("directory"), ...ownership, entries: Entries });
export const Entry: z.ZodType<Entry> = z.discriminatedUnion("type", [
  Directory,
  z.strictObject({ type: z.literal("file"), ...ownership, text: z.string() }),
  z.strictObject({
    type: z.literal("link"),
    owner: z.string(),
    group: z.string(),
    modified: minute(),
    target: z.string().min(1).max(maxPathLength),
  }),
  z.strictObject({
    type: z.literal("archive"),
    ...ownership,
    format: z.enum(["zip", "tar"]),
    entries: Entries,
  }),
]);

/** Owners who are no users, and a current directory that does not exist. */
function* findDanglingReferences({
  users,
  cwd,
  root,
  trash,
}: {
  readonly users: object;
  readonly cwd: string;
  readonly root: Entry;
  readonly trash: Readonly<Record<string, { readonly entry: Entry }>>;
}): Generator<[string[], string]> {
  let directory: Entry | undefined = root;
  for (const name of cwd.split("/").filter(it => it !== ""))
    directory =
      directory?.type === "directory" && Object.hasOwn(directory.entries, name)
        ? directory.entries[name]
        : undefined;
  if (directory?.type !== "directory") yield [["cwd"], `there is no directory ${cwd}`];
  const owned: [string[], Entry][] = [
    [["root"], root],
    ...Object.entries(trash).map(([id, it]): [string[], Entry] => [
      ["trash", id, "entry"],
      it.entry,
    ]),
  ];
  for (const [path, entry] of owned)
    for (const [at, owner] of listOwners(entry, path))
      if (!Object.hasOwn(users, owner)) yield [[...at, "owner"], `there is no user ${owner}`];
}

function* listOwners(entry: Entry, path: string[]): Generator<[string[], string]> {
  yield [path, entry.owner];
  if ("entries" in entry)
    for (const [name, it] of Object.entries(entry.entries))
      yield* listOwners(it, [...path, "entries", name]);
}

export const references = { user: "users" } satisfies References;

export const FilesystemState = z
  .strictObject({
    /** The current user, who has the permissions. */
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
  .superRefine((state, context) => {
    for (const [path, message] of findDanglingReferences(state))
      context.addIssue({ code: "custom", path, message });
  });
export type FilesystemState = z.infer<typeof FilesystemState>;

const pathSchema = (entity: string) =>
  z.string().min(1).max(maxPathLength).meta(spokenId(entity).meta()!);
/** Schemas of paths: absolute, below the home as `~/…`, or relative to the current directory. */
export const path = {
  file: pathSchema("file"),
  directory: pathSchema("directory"),
  link: pathSchema("link"),
  zip: pathSchema("zip_archive"),
  tar: pathSchema("tar_archive"),
};
export const nameSchema = (entity: string) =>
  z.string().min(1).max(maxNameLength).meta(label(entity).meta()!);
/** A path that does not exist yet. No tool's result gives it. */
export const newPathSchema = (...examples: string[]) =>
  z.string().min(1).max(maxPathLength).meta({ examples });
