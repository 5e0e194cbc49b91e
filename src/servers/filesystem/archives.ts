/** Creates and extracts archives. Extracted entries belong to the current user. */
import { refuse } from "../../environment/server.ts";
import { takeOwnership, copyEntry, createOwnership } from "./newEntries.ts";
import { addEntry, setEntry } from "./treeEdits.ts";
import { reserveSpace } from "./quota.ts";
import { requirePermission, requireFreePath, requireReplaceable } from "./permissions.ts";
import { findArchive, findEntry, findDirectory } from "./lookups.ts";
import { resolvePath } from "./paths.ts";
import { shorten, formatPath, type ResolvedPath } from "./pathFormat.ts";
import { countFiles, measureExtent, measureSize, sortEntries } from "./entries.ts";
import type { FilesystemState } from "./state.ts";
import { type Archive, type Directory, type Entry } from "./state.ts";

/** Packs a directory or file into a new archive, beside it if no path is requested. */
export function createArchive(
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
export function extractArchive(
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
