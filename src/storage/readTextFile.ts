/** Reads whole text files that come from outside, such as fixtures and configurations. */
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import {
  createIrregularError,
  createSizeError,
  megabyte,
  readWithoutWaiting,
} from "./regularFile.ts";

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
