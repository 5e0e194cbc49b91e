/** Finds the entry at a path, or refuses: any entry, a directory, a text file or an archive. */
import { refuse } from "../../environment/server.ts";
import type { Archive, Directory, File, FilesystemState } from "./state.ts";
import { resolvePath, describeKind } from "./paths.ts";
import { type ExistingPath, shorten } from "./pathFormat.ts";
import { requirePermission } from "./permissions.ts";

/** The entry at a path, or a `not_found` refusal. */
export function findEntry(
  state: FilesystemState,
  input: string,
  options?: { follow: boolean },
): ExistingPath {
  const place = resolvePath(state, input, options);
  if (!place.entry)
    refuse(
      "not_found",
      `there is no file or directory ${shorten(input)}`,
      "filesystem_find looks for a name, filesystem_ls shows a directory",
    );
  return place as ExistingPath;
}

/** The directory at a path, or a refusal. */
export function findDirectory(state: FilesystemState, input: string): ExistingPath<Directory> {
  const place = findEntry(state, input);
  if (place.entry.type !== "directory")
    refuse(
      "precondition_failed",
      `${shorten(input)} is not a directory but ${describeKind(place.entry)}`,
    );
  return place as ExistingPath<Directory>;
}

/** The directory at a path, if the user may list it. */
export function findReadableDirectory(
  state: FilesystemState,
  input: string,
): ExistingPath<Directory> {
  const place = findDirectory(state, input);
  requirePermission(state, place.entry, "r", place.segments);
  return place;
}

/** The text file at a path, if the user may read it. */
export function findReadableFile(state: FilesystemState, input: string): ExistingPath<File> {
  const place = findEntry(state, input);
  requireFile(place);
  requirePermission(state, place.entry, "r", place.segments);
  return place;
}

/** Refuses anything but a text file. */
export function requireFile(place: ExistingPath): asserts place is ExistingPath<File> {
  const { entry, input } = place;
  if (entry.type === "directory")
    refuse(
      "precondition_failed",
      `${shorten(input)} is a directory, not a file`,
      "filesystem_ls shows what is in it",
    );
  if (entry.type === "archive")
    refuse(
      "precondition_failed",
      `${shorten(input)} is ${describeKind(entry)}, not a text file`,
      `filesystem_${entry.format === "zip" ? "unzip" : "tar_extract"} takes out what it holds`,
    );
}

/** The archive of that format at a path, if the user may read it. */
export function findArchive(
  state: FilesystemState,
  input: string,
  format: Archive["format"],
): ExistingPath<Archive> {
  const place = findEntry(state, input);
  const { entry } = place;
  if (entry.type !== "archive")
    refuse("precondition_failed", `${shorten(input)} is not an archive but ${describeKind(entry)}`);
  if (entry.format !== format)
    refuse(
      "precondition_failed",
      `${shorten(input)} is ${describeKind(entry)}`,
      `use filesystem_${entry.format === "zip" ? "unzip" : "tar_extract"}`,
    );
  requirePermission(state, entry, "r", place.segments);
  return place as ExistingPath<Archive>;
}
