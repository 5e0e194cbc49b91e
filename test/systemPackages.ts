/** Finds programs on PATH and installs packages of the operating system. */
import { execFileSync } from "node:child_process";
import { findProgram } from "../src/storage/processes.ts";

/** The path of a program in a folder of PATH. */
export const findOnPath = (name: string): string | undefined => findProgram(name, process.cwd());

export const isInstalled = (name: string): boolean => findOnPath(name) !== undefined;

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
