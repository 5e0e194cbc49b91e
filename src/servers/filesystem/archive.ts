/**
 * Tools that pack and unpack. An archive is a sealed tree with a size of its own; what it holds
 * gets a new owner when it is taken out.
 */
import { z } from "zod";
import { refuse } from "../../environment/server.ts";
import { adopted, copyOf, made, put, reserve, set } from "./edit.ts";
import {
  allow,
  archiveAt,
  brief,
  find,
  findDirectory,
  free,
  locate,
  shown,
  type Place,
} from "./resolve.ts";
import {
  filesIn,
  newPath,
  path,
  reachOf,
  sizeOf,
  sorted,
  tool,
  type Archive,
  type Directory,
  type Entry,
  type World,
} from "./state.ts";

const source = path.directory.describe("Directory to pack, or a single file");
const destination = path.directory.describe("Directory to unpack into");
const overwrite = z.boolean().optional().describe("Replace files that are already there");
const holds = z.int().describe("How many files it holds");
const unpacked = { path: path.directory, count: z.int(), files: z.array(path.file) };

/** Packs a directory or file into a new archive beside it, or where the caller says. */
function pack(
  world: World,
  given: string,
  wanted: string | undefined,
  format: Archive["format"],
  now: string,
): { at: string; files: number } {
  const from = find(world, given);
  const name = from.at.at(-1) ?? "root";
  if (from.entry.type === "archive")
    refuse("precondition_failed", `${brief(given)} is an archive already`);
  const place = locate(
    world,
    wanted === undefined
      ? `${from.at
          .slice(0, -1)
          .map(it => `/${it}`)
          .join("")}/${name}.${format}`
      : wanted,
  );
  if (!place.at.at(-1)?.endsWith(`.${format}`))
    refuse(
      "invalid_params",
      `the archive's name must end in .${format}`,
      `for example ${name}.${format}`,
    );
  const archive: Archive = {
    type: "archive",
    ...made(world, "644", now),
    format,
    entries: { [name]: copyOf(world, from.entry, from.at, now) },
  };
  free(world, place, reachOf(archive));
  reserve(world, sizeOf(archive).bytes, 1);
  put(world, place, archive, now);
  return { at: shown(world, place.at), files: filesIn(archive.entries) };
}

/** Takes out all that an archive holds, into directories that exist or are made. */
function unpack(
  world: World,
  {
    archive,
    into,
    format,
    mayReplace,
    now,
  }: { archive: string; into: string; format: Archive["format"]; mayReplace: boolean; now: string },
) {
  const from = archiveAt(world, archive, format);
  const to = findDirectory(world, into);
  allow(world, to.entry, "x", to.at);
  const landing = landingOf(world, from.entry.entries, to.at, to.entry, mayReplace);
  const fresh = landing.map(({ place, entry }) => ({
    place,
    entry: adopted(world, entry, now),
    old: place.entry ? sizeOf(place.entry) : { bytes: 0, entries: 0 },
  }));
  const sizes = fresh.map(({ entry, old }) => ({
    bytes: sizeOf(entry).bytes - old.bytes,
    entries: sizeOf(entry).entries - old.entries,
  }));
  reserve(
    world,
    sizes.reduce((sum, it) => sum + it.bytes, 0),
    sizes.reduce((sum, it) => sum + it.entries, 0),
  );
  for (const { place, entry } of fresh) set(world, place.at, entry, now);
  const files = fresh
    .flatMap(({ place, entry }) => filePaths(entry, place.at))
    .map(at => shown(world, at));
  return { path: shown(world, to.at), count: files.length, files: files.slice(0, 5) };
}

/**
 * What lands where: whole entries at free places, and into directories that exist what they do not
 * have yet.
 */
function landingOf(
  world: World,
  entries: Archive["entries"],
  at: readonly string[],
  target: Directory,
  mayReplace: boolean,
): { place: Place; entry: Entry }[] {
  return sorted(entries).flatMap(([name, entry]) => {
    const there = Object.hasOwn(target.entries, name) ? target.entries[name] : undefined;
    const place = { given: name, at: [...at, name], parent: target, entry: there };
    if (!there) free(world, place, reachOf(entry));
    else if (there.type === "directory" && entry.type === "directory")
      return landingOf(world, entry.entries, place.at, there, mayReplace);
    else if (!mayReplace || there.type !== "file" || entry.type !== "file")
      refuse(
        "conflict",
        `${shown(world, place.at)} already exists`,
        mayReplace
          ? "choose another directory"
          : "pass overwrite: true, or choose another directory",
      );
    else allow(world, there, "w", place.at);
    return [{ place, entry }];
  });
}

const filePaths = (entry: Entry, at: readonly string[]): (readonly string[])[] =>
  entry.type === "directory"
    ? sorted(entry.entries).flatMap(([name, it]) => filePaths(it, [...at, name]))
    : entry.type === "file"
      ? [at]
      : [];

export const archiveTools = {
  zip: tool({
    effect: "write",
    summary: "Pack a directory or file into a new zip archive.",
    input: {
      source,
      archive: newPath("~/backup.zip", "~/send.zip", "~/march.zip", "~/old.zip", "pack.zip")
        .optional()
        .describe("Path of the archive; beside the source and named after it if not given"),
    },
    returns: { archive: path.zip, files: holds },
    run(world, { source: given, archive }, { now }) {
      const { at, files } = pack(world, given, archive, "zip", now);
      return { archive: at, files };
    },
  }),
  unzip: tool({
    effect: "write",
    summary: "Unpack a zip archive into a directory.",
    input: { archive: path.zip.describe("Zip archive"), destination, overwrite },
    returns: unpacked,
    run: (world, { archive, destination: into, overwrite: mayReplace = false }, { now }) =>
      unpack(world, { archive, into, format: "zip", mayReplace, now }),
  }),
  tar_create: tool({
    effect: "write",
    summary: "Pack a directory or file into a new tar archive.",
    input: {
      source,
      archive: newPath("~/backup.tar", "~/send.tar", "~/march.tar", "~/old.tar", "pack.tar")
        .optional()
        .describe("Path of the archive; beside the source and named after it if not given"),
    },
    returns: { archive: path.tar, files: holds },
    run(world, { source: given, archive }, { now }) {
      const { at, files } = pack(world, given, archive, "tar", now);
      return { archive: at, files };
    },
  }),
  tar_extract: tool({
    effect: "write",
    summary: "Unpack a tar archive into a directory.",
    input: { archive: path.tar.describe("Tar archive"), destination, overwrite },
    returns: unpacked,
    run: (world, { archive, destination: into, overwrite: mayReplace = false }, { now }) =>
      unpack(world, { archive, into, format: "tar", mayReplace, now }),
  }),
};
