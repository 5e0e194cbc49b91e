/**
 * Where the service's token comes from: the environment, or a file that nobody else can read. Never
 * an argument, and never shown.
 */
import { readFileSync, statSync } from "node:fs";
import { UserError } from "../userError.ts";

/**
 * The token, or undefined where there is none to be had. Throws a `UserError` where it will not do.
 */
export function readToken(
  environment: string | undefined,
  file: string | undefined,
): string | undefined {
  if (file !== undefined) return checked(readPrivate(file), file);
  return environment === undefined || environment === ""
    ? undefined
    : checked(environment, "PROVE_TOKEN");
}

function readPrivate(file: string): string {
  try {
    const { mode } = statSync(file);
    // Windows keeps who may read a file elsewhere
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new UserError(`others can read ${file}`, `make it yours alone: chmod 600 ${file}`);
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `cannot read the token from ${file} (${(cause as NodeJS.ErrnoException).code ?? (cause as Error).message})`,
      "name a file that holds the token",
      { cause },
    );
  }
}

function checked(token: string, from: string): string {
  if (/^[\x21-\x7e]{16,512}$/.test(token)) return token;
  throw new UserError(
    `the token in ${from} is not 16 to 512 letters, digits and signs`,
    "make one, for instance with: openssl rand -hex 32",
  );
}
