/** Tools that create and extract archives, and measure the space that directories use. */
import { z } from "zod";
import { refuse, createToolFactory } from "../../environment/server.ts";
import {
  takeOwnership,
  copyEntry,
  createOwnership,
  addEntry,
  setEntry,
  reserveSpace,
  measureUsage,
} from "./treeEdits.ts";
import {
  requirePermission,
  requireFreePath,
  requireReplaceable,
  findArchive,
  findEntry,
  findDirectory,
  resolvePath,
  shorten,
  formatPath,
  type ResolvedPath,
  countFiles,
  measureExtent,
  measureSize,
  sortEntries,
  findReadableDirectory,
  walkTree,
} from "./paths.ts";
import {
  FilesystemState,
  type Archive,
  type Directory,
  type Entry,
  newPathSchema,
  path,
} from "./state.ts";
import { getOriginal } from "../../environment/draft.ts";

/** Packs a directory or file into a new archive, beside it if no path is requested. */
function createArchive(
  state: FilesystemState,
  input: string,
  requestedPath: string | undefined,
  format: Archive["format"],
  now: string,
): { at: string; files: number } {
  const from = findEntry(state, input);
  const name = from.segments.at(-1) ?? "root";
  if (from.entry.type === "archive")
    refuse("precondition_failed", `${shorten(input)} is an archive already`);
  const place = resolvePath(
    state,
    requestedPath === undefined
      ? `${from.segments
          .slice(0, -1)
          .map(it => `/${it}`)
          .join("")}/${name}.${format}`
      : requestedPath,
  );
  if (!place.segments.at(-1)?.endsWith(`.${format}`))
    refuse(
      "invalid_params",
      `the archive's name must end in .${format}`,
      `for example ${name}.${format}`,
    );
  const archive: Archive = {
    type: "archive",
    ...createOwnership(state, "644", now),
    format,
    entries: { [name]: copyEntry(state, from.entry, from.segments, now) },
  };
  requireFreePath(state, place, measureExtent(archive));
  reserveSpace(state, measureSize(archive).bytes, 1);
  addEntry(state, place, archive, now);
  return { at: formatPath(state, place.segments), files: countFiles(archive.entries) };
}

/** Extracts everything in an archive into a directory. */
function extractArchive(
  state: FilesystemState,
  {
    archive,
    into,
    format,
    mayReplace,
    now,
  }: { archive: string; into: string; format: Archive["format"]; mayReplace: boolean; now: string },
) {
  const from = findArchive(state, archive, format);
  const to = findDirectory(state, into);
  requirePermission(state, to.entry, "x", to.segments);
  const plan = planExtraction(state, from.entry.entries, to.segments, to.entry, mayReplace);
  const extractedEntries = plan.map(({ place, entry }) => ({
    place,
    entry: takeOwnership(state, entry, now),
    old: place.entry ? measureSize(place.entry) : { bytes: 0, entries: 0 },
  }));
  const sizes = extractedEntries.map(({ entry, old }) => ({
    bytes: measureSize(entry).bytes - old.bytes,
    entries: measureSize(entry).entries - old.entries,
  }));
  reserveSpace(
    state,
    sizes.reduce((sum, it) => sum + it.bytes, 0),
    sizes.reduce((sum, it) => sum + it.entries, 0),
  );
  for (const { place, entry } of extractedEntries) setEntry(state, place.segments, entry, now);
  const files = extractedEntries
    .flatMap(({ place, entry }) => listFilePaths(entry, place.segments))
    .map(at => formatPath(state, at));
  return { path: formatPath(state, to.segments), count: files.length, files: files.slice(0, 5) };
}

/**
 * Where each entry is extracted to: whole entries at free paths; into existing directories, the
 * entries that they do not have.
 */
function planExtraction(
  state: FilesystemState,
  entries: Archive["entries"],
  at: readonly string[],
  target: Directory,
  mayReplace: boolean,
): { place: ResolvedPath; entry: Entry }[] {
  return sortEntries(entries).flatMap(([name, entry]) => {
    const existing = Object.hasOwn(target.entries, name) ? target.entries[name] : undefined;
    const place = { input: name, segments: [...at, name], parent: target, entry: existing };
    if (!existing) requireFreePath(state, place, measureExtent(entry));
    else if (existing.type === "directory" && entry.type === "directory") {
      requirePermission(state, existing, "x", place.segments);
      return planExtraction(state, entry.entries, place.segments, existing, mayReplace);
    } else if (!mayReplace || existing.type !== "file" || entry.type !== "file")
      refuse(
        "conflict",
        `${formatPath(state, place.segments)} already exists`,
        mayReplace
          ? "choose another directory"
          : "pass overwrite: true, or choose another directory",
      );
    else requireReplaceable(state, { ...place, entry: existing });
    return [{ place, entry }];
  });
}

const listFilePaths = (entry: Entry, at: readonly string[]): (readonly string[])[] =>
  entry.type === "directory"
    ? sortEntries(entry.entries).flatMap(([name, it]) => listFilePaths(it, [...at, name]))
    : entry.type === "file"
      ? [at]
      : [];

const tool = createToolFactory(FilesystemState);

const source = path.directory.describe("Directory to pack, or a single file");
const destination = path.directory.describe("Directory to unpack into");
const overwrite = z.boolean().optional().describe("Replace files that are already there");
const fileCount = z.int().describe("How many files it holds");
const extractionResult = { path: path.directory, count: z.int(), files: z.array(path.file) };

export const archiveTools = {
  zip: tool({
    effect: "write",
    summary: "Pack a directory or file into a new zip archive.",
    input: {
      source,
      archive: newPathSchema("~/backup.zip", "~/send.zip", "~/march.zip", "~/old.zip", "pack.zip")
        .optional()
        .describe("Path of the archive; beside the source and named after it if not given"),
    },
    returns: { archive: path.zip, files: fileCount },
    run(state, { source: input, archive }, { now }) {
      const { at, files } = createArchive(state, input, archive, "zip", now);
      return { archive: at, files };
    },
  }),
  unzip: tool({
    effect: "write",
    summary: "Unpack a zip archive into a directory.",
    input: { archive: path.zip.describe("Zip archive"), destination, overwrite },
    returns: extractionResult,
    run: (state, { archive, destination: into, overwrite: mayReplace = false }, { now }) =>
      extractArchive(state, { archive, into, format: "zip", mayReplace, now }),
  }),
  tar_create: tool({
    effect: "write",
    summary: "Pack a directory or file into a new tar archive.",
    input: {
      source,
      archive: newPathSchema("~/backup.tar", "~/send.tar", "~/march.tar", "~/old.tar", "pack.tar")
        .optional()
        .describe("Path of the archive; beside the source and named after it if not given"),
    },
    returns: { archive: path.tar, files: fileCount },
    run(state, { source: input, archive }, { now }) {
      const { at, files } = createArchive(state, input, archive, "tar", now);
      return { archive: at, files };
    },
  }),
  tar_extract: tool({
    effect: "write",
    summary: "Unpack a tar archive into a directory.",
    input: { archive: path.tar.describe("Tar archive"), destination, overwrite },
    returns: extractionResult,
    run: (state, { archive, destination: into, overwrite: mayReplace = false }, { now }) =>
      extractArchive(state, { archive, into, format: "tar", mayReplace, now }),
  }),
};

export const spaceTools = {
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
    run(state, { path: input, top = 3 }) {
      const place = findReadableDirectory(state, input);
      const files = walkTree(state, place).filter(([, it]) => it.type !== "directory");
      const sizes = files
        .map(([at, it]) => ({ path: formatPath(state, at), bytes: measureSize(it).bytes }))
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
    run(state) {
      const { quota } = getOriginal(state);
      const { bytes, trash } = measureUsage(state);
      return { size: quota.bytes, used: bytes, free: Math.max(0, quota.bytes - bytes), trash };
    },
  }),
};
