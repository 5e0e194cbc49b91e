/** Reads whole text files that come from outside, such as fixtures and configurations. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { UserError } from "../userError.ts";

const megabyte = 2 ** 20;
const defaultLimit = 32 * megabyte;

/** The limit for logs, which grow with a run: V8 has no longer strings. */
export const maxLogBytes = 500 * megabyte;

/**
 * The text of a regular file of at most `maxBytes`. Throws a `UserError` for a device, a named pipe,
 * which would block for ever, and a file that is too large; errors of the operating system are
 * thrown as they are.
 */
export function readTextFile(file: string, maxBytes: number = defaultLimit): string {
  // opening a named pipe waits for a writer unless told not to; Windows has no such flag
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFile()) {
      if (stats.size <= maxBytes) return readFileSync(descriptor, "utf8");
      throw new UserError(
        `${file} has ${Math.ceil(stats.size / megabyte)} MB, more than the ${maxBytes / megabyte} MB that are read`,
        "use a smaller file",
      );
    }
  } finally {
    closeSync(descriptor);
  }
  throw new UserError(`${file} is not a regular file`, "replace it by a file, or remove it");
}
