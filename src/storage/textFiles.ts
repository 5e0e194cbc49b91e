/**
 * Reads whole text files that come from outside, such as fixtures and configurations, and refuses
 * devices, named pipes and folders where a file was expected.
 */
import { constants, closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { UserError } from "../userError.ts";

/** Opens for reading without waiting for the writer of a named pipe. Windows has no such flag. */
export const readWithoutWaiting = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export const createIrregularError = (file: string): UserError =>
  new UserError(`${file} is not a regular file`, "replace it by a file, or remove it");

export const megabyte = 2 ** 20;

const createSizeError = (file: string, bytes: number, maxBytes: number): UserError =>
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

// Reads whole text files that come from outside, such as fixtures and configurations.

const defaultLimit = 32 * megabyte;

/** The limit for logs, which grow with a run: V8 has no longer strings. */
export const maxLogBytes = 500 * megabyte;

/**
 * The text of a regular file of at most `maxBytes`. Throws a `UserError` for a device, a named
 * pipe, which would block for ever, and a file that is too large; errors of the operating system
 * are thrown as they are.
 */
export function readTextFile(file: string, maxBytes: number = defaultLimit): string {
  const descriptor = openSync(file, readWithoutWaiting);
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFile()) {
      if (stats.size <= maxBytes) return readFileSync(descriptor, "utf8");
      throw createSizeError(file, stats.size, maxBytes);
    }
  } finally {
    closeSync(descriptor);
  }
  throw createIrregularError(file);
}
