/** Turns the operating system's file errors into errors that the user can fix. */
import { UserError } from "../userError.ts";

/** What the caller can say about the file that could not be written. */
export interface WriteContext {
  /** What is still on disk, for example "the previous content is kept". */
  readonly kept?: string;
  /** What to do after making room on a full disk. */
  readonly whenFull?: string;
}

const fullDisk = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Runs an action that writes `file`; an error of the operating system becomes a `UserError`. */
export function withWriteErrors<T>(file: string, write: () => T, context?: WriteContext): T {
  try {
    return write();
  } catch (cause) {
    throw toWriteError(file, cause, context);
  }
}

/** Runs an action that reads `file`; an error of the operating system becomes a `UserError`. */
export function withReadErrors<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw toReadError(file, cause);
  }
}

/** A failed write as a `UserError`. Errors that no system call raised come back unchanged. */
export function toWriteError(
  file: string,
  cause: unknown,
  { kept, whenFull = "free some space, then run it again" }: WriteContext = {},
): unknown {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === undefined || cause instanceof UserError) return cause;
  const note = kept === undefined ? "" : ` (${kept})`;
  if (fullDisk.has(code))
    return new UserError(`the disk is full: ${file} could not be written${note}`, whenFull, {
      cause,
    });
  return new UserError(
    `${file} could not be written (${kept === undefined ? message : `${message}; ${kept}`})`,
    "check that its folder exists and that you may write there",
    { cause },
  );
}

/** A failed read as a `UserError`. Errors that no system call raised come back unchanged. */
export function toReadError(file: string, cause: unknown): unknown {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === undefined || cause instanceof UserError) return cause;
  if (code === "ENOENT")
    return new UserError(`there is no file ${file}`, "check the path", { cause });
  return new UserError(
    `${file} could not be read (${message})`,
    "check the path and its permissions",
    { cause },
  );
}

/** The result of reading a file or folder, or undefined if it does not exist. */
export function readIfExists<T>(path: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw toReadError(path, cause);
  }
}

/** Whether an error says that a file does not exist. */
export const isMissing = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
