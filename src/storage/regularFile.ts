/**
 * Refuses devices, named pipes and folders where a file was listed in somebody else's folder.
 * Opening a named pipe blocks one of the few threads that read files until a writer appears.
 */
import { constants } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { UserError } from "../userError.ts";

/** Opens for reading without waiting for the writer of a named pipe. Windows has no such flag. */
export const readWithoutWaiting = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export const createIrregularError = (file: string): UserError =>
  new UserError(`${file} is not a regular file`, "replace it by a file, or remove it");

export const megabyte = 2 ** 20;

export const createSizeError = (file: string, bytes: number, maxBytes: number): UserError =>
  new UserError(
    `${file} has ${Math.ceil(bytes / megabyte)} MB, more than the ${maxBytes / megabyte} MB that are read`,
    "use a smaller file",
  );

/**
 * Throws a `UserError` if the path names something other than a regular file, or one of more than
 * `maxBytes`. A file that is missing or may not be read is left to the caller, which opens it.
 */
export async function checkRegularFile(file: string, maxBytes = Infinity): Promise<void> {
  const stats = await stat(file).catch(() => undefined);
  if (!stats) return;
  if (!stats.isFile()) throw createIrregularError(file);
  if (stats.size > maxBytes) throw createSizeError(file, stats.size, maxBytes);
}

/** Opens a regular file for reading. Throws a `UserError` if it is something else. */
export async function openRegularFile(file: string): Promise<FileHandle> {
  const handle = await open(file, readWithoutWaiting);
  try {
    if ((await handle.stat()).isFile()) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw createIrregularError(file);
}
