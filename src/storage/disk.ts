/**
 * Writing so that nothing already written is ever lost: whole files to a temporary name and then
 * renamed, logs a whole line at a time. Turns what the disk says into words for a person; knows
 * nothing of what is written.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { UserError } from "../userError.ts";

/** Replaces a file's text; whoever reads meanwhile sees the old text or the new one. */
export function writeWhole(file: string, text: string | Uint8Array): void {
  const temporary = `${file}.${process.pid}.tmp`;
  onDisk(file, () => {
    const handle = openSync(temporary, "w");
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameOver(temporary, file);
  });
}

/**
 * Appends one line. A torn line that a crash left at the end is closed off first, so that it stays
 * alone.
 */
export function appendLine(file: string, line: string): void {
  onDisk(file, () => {
    const handle = openSync(file, "a");
    try {
      writeSync(handle, `${endsMidLine(file) ? "\n" : ""}${line}\n`);
    } finally {
      closeSync(handle);
    }
  });
}

/** Cuts a log to its first `bytes`. */
export const cutTo = (file: string, bytes: number): void =>
  onDisk(file, () => truncateSync(file, bytes));

/**
 * Renames over what is there. On Windows a file that somebody reads cannot be replaced for a
 * moment.
 */
export function renameOver(from: string, to: string): void {
  for (let tries = 0; ; tries++) {
    try {
      return renameSync(from, to);
    } catch (error) {
      if (
        tries === 20 ||
        !["EPERM", "EACCES", "EBUSY"].includes((error as NodeJS.ErrnoException).code ?? "")
      )
        throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25);
    }
  }
}

/** Runs what writes; a disk that is full or closed to us comes back as a `Mistake`. */
export function onDisk<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOSPC" || code === "EDQUOT")
      throw new UserError(
        `the disk is full: cannot write ${file}`,
        "free some space, then go on with --resume; what was written is kept",
        { cause },
      );
    if (code === "EACCES" || code === "EPERM" || code === "EROFS")
      throw new UserError(
        `may not write ${file}`,
        "check the folder's permissions, or choose another folder",
        { cause },
      );
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new UserError(
        `cannot write ${file} (${message})`,
        "make its folder first, or choose another one",
        { cause },
      );
    throw cause;
  }
}

/** A line of a log that could not be read. */
export interface TornLine {
  readonly line: number;
  readonly why: string;
}

/**
 * A log's lines, each read by itself; those that cannot be are told apart, never dropped in
 * silence. A missing file has none.
 */
export function readLines<T>(
  file: string,
  read: (text: string) => T,
): { readonly lines: readonly T[]; readonly torn: readonly TornLine[] } {
  const lines: T[] = [];
  const torn: TornLine[] = [];
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return { lines, torn };
    throw new UserError(
      `cannot read ${file} (${(cause as Error).message})`,
      "check the file's permissions",
      { cause },
    );
  }
  for (const [i, line] of text.split("\n").entries()) {
    if (line === "") continue;
    try {
      lines.push(read(line));
    } catch (error) {
      torn.push({ line: i + 1, why: (error as Error).message.split("\n")[0]! });
    }
  }
  return { lines, torn };
}

function endsMidLine(file: string): boolean {
  const handle = openSync(file, "r");
  try {
    const last = Buffer.alloc(1);
    const { size } = fstatSync(handle);
    return size > 0 && readSync(handle, last, 0, 1, size - 1) === 1 && last[0] !== 10;
  } finally {
    closeSync(handle);
  }
}
