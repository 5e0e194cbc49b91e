/**
 * What the tests need from the operating system: found on PATH, installed where that is allowed,
 * else asked for by the command to run.
 */
import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The program of that name on PATH. */
export function programOnPath(name: string): string | undefined {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // not in this folder: the search goes on
    }
  }
  return undefined;
}

export const installed = (name: string) => programOnPath(name) !== undefined;

/** Installs Debian packages, or throws with the command that a person has to run. */
export function needFromSystem(
  what: string,
  packages: readonly string[],
  say: (line: string) => void,
): void {
  const command = `apt-get install -y --no-install-recommends ${packages.join(" ")}`;
  if (!installed("apt-get"))
    throw new Error(
      `the workbench tests need ${what}: install them with this system's package manager`,
    );
  if (process.getuid?.() !== 0)
    throw new Error(`the workbench tests need ${what}: run sudo ${command}`);
  say(`installing ${packages.join(", ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update", "-qq"], command.split(" ").slice(1)])
    execFileSync("apt-get", args, { env, stdio: ["ignore", "pipe", "inherit"] });
}
