/**
 * Opens and copies files for writing. A folder may come from somebody else, so nothing is written
 * through a link, which could lead to any file of the user, nor to a pipe or a device.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { UserError } from "../userError.ts";
import { withWriteErrors } from "./fileErrors.ts";
import { createIrregularError } from "./textFiles.ts";

/** Throws a `UserError` if the path names something other than a regular file or nothing. */
export function checkWrittenFile(file: string): void {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink())
    throw new UserError(
      `${file} is a link, and nothing is written through links`,
      "remove it, or name the file that it leads to",
    );
  if (stats && !stats.isFile()) throw createIrregularError(file);
}

/** Opens a file, creating it if necessary. `mode` is that of a new file. */
export function openWrittenFile(file: string, flags: number, mode?: number): number {
  checkWrittenFile(file);
  // Windows has no such flag
  return openSync(file, flags | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), mode);
}

/** Opens a file to append to. */
export const openLogFile = (file: string): number =>
  openWrittenFile(file, constants.O_WRONLY | constants.O_APPEND);

export function appendBytes(file: string, bytes: Uint8Array): void {
  const handle = openLogFile(file);
  try {
    writeAll(handle, bytes);
  } finally {
    closeSync(handle);
  }
}

export function writeAll(handle: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(handle, bytes, done);
}

/** Copies a file over what is there. A file of gigabytes is shared where the file system can. */
export function copyFileOver(from: string, to: string): void {
  // it stays if it is the same one
  if (existsSync(to) && realpathSync(from) === realpathSync(to)) return;
  rmSync(to, { force: true });
  copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
}

/** Writes a file in the place of what is there. `writeFileAtomically` keeps that on a full disk. */
export const writeFileOver = (file: string, text: string): void =>
  withWriteErrors(file, () => {
    rmSync(file, { force: true });
    writeFileSync(file, text, { flag: "wx" });
  });
