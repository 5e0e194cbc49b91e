/**
 * Reads the service's token from an environment variable or from a file that only its owner can
 * read. A command-line argument is not accepted, because other users can see it.
 */
import { statSync } from "node:fs";
import { UserError } from "../userError.ts";
import { readTextFile } from "../storage/readTextFile.ts";

/** The token, or undefined if there is none. Throws a `UserError` if it is not acceptable. */
export function readToken(
  environment: string | undefined,
  file: string | undefined,
): string | undefined {
  if (file !== undefined) return checkToken(readPrivateFile(file), file);
  return environment === undefined || environment === ""
    ? undefined
    : checkToken(environment, "PROVE_TOKEN");
}

function readPrivateFile(file: string): string {
  try {
    const { mode } = statSync(file);
    // on Windows the mode does not say who may read a file
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new UserError(`others can read ${file}`, `make it yours alone: chmod 600 ${file}`);
    return readTextFile(file).trim();
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `cannot read the token from ${file} (${(cause as NodeJS.ErrnoException).code ?? (cause as Error).message})`,
      "name a file that holds the token",
      { cause },
    );
  }
}

function checkToken(token: string, source: string): string {
  if (/^[\x21-\x7e]{16,512}$/.test(token)) return token;
  throw new UserError(
    `the token in ${source} is not 16 to 512 letters, digits and signs`,
    "create one, for example with: openssl rand -hex 32",
  );
}
