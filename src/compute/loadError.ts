/** Errors of native backends that are not installed or cannot be loaded. */
import { UserError } from "../userError.ts";

/** Characters: a message can go on with where the library was looked for. */
const longest = 300;

/**
 * Why a native library could not be loaded, in one line. Of a library for another version of Node,
 * the versions are in the lines after the first one.
 */
export function describeLoadError(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  const [reason] = message.split("\nRequire stack:");
  return reason!.replaceAll(/\s+/g, " ").trim().slice(0, longest);
}

export const createMissingError = (backend: "tensorflow" | "webgpu"): UserError =>
  new UserError(
    `the backend ${backend} is not installed`,
    `run prove-rl backend install ${backend}`,
  );
