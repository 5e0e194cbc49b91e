/** Finds programs on PATH and installs packages of the operating system. */
import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Finds a program on PATH. */
export function findProgram(name: string): string | undefined {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // not in this folder
    }
  }
  return undefined;
}

export const isInstalled = (name: string) => findProgram(name) !== undefined;

/**
 * Installs Debian packages; if not allowed, throws an error with the command to run. `need` says
 * which tests need what.
 */
export function installPackages(
  need: string,
  packages: readonly string[],
  say: (line: string) => void,
): void {
  const command = `apt-get install -y --no-install-recommends ${packages.join(" ")}`;
  if (!isInstalled("apt-get"))
    throw new Error(`${need}: install ${packages.join(", ")} with this system's package manager`);
  if (process.getuid?.() !== 0) throw new Error(`${need}: run sudo ${command}`);
  say(`installing ${packages.join(", ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update", "-qq"], command.split(" ").slice(1)])
    execFileSync("apt-get", args, { env, stdio: ["ignore", "pipe", "inherit"] });
}
