/**
 * Finds programs by name on the PATH only. The operating system would also look in other folders,
 * Windows first of all in the current one, which is often a workspace that somebody else wrote.
 */
import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";

/** The machine on which a program is looked for. Tests replace it. */
export interface ProgramSearch {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly isProgram: (file: string) => boolean;
}

/** This machine. */
const thisMachine: ProgramSearch = {
  platform: process.platform,
  env: process.env,
  isProgram(file) {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  },
};

/**
 * The absolute path of a program. A name without a folder is looked for in the absolute folders of
 * the PATH; undefined if it is in none of them. A relative path starts at `cwd`.
 */
export function findProgram(
  command: string,
  cwd: string,
  search: ProgramSearch = thisMachine,
): string | undefined {
  const isWindows = search.platform === "win32";
  const paths = isWindows ? path.win32 : path.posix;
  if (isWindows ? /[\\/:]/.test(command) : command.includes("/"))
    return paths.resolve(cwd, command);
  // Windows starts only these without a shell
  const endings = isWindows && !/\.(?:exe|com)$/i.test(command) ? [".com", ".exe"] : [""];
  return (findPath(search) ?? "")
    .split(paths.delimiter)
    .map(it => (isWindows ? it.replaceAll('"', "") : it))
    .filter(it => paths.isAbsolute(it) && !(isWindows && /^[\\/](?![\\/])/.test(it)))
    .flatMap(folder => endings.map(ending => paths.join(folder, `${command}${ending}`)))
    .find(search.isProgram);
}

/** The PATH variable; Windows spells it in several ways. */
function findPath({ platform, env }: ProgramSearch): string | undefined {
  if (platform !== "win32") return env["PATH"];
  return Object.entries(env).find(([key]) => key.toUpperCase() === "PATH")?.[1];
}

/** The absolute path of a program that belongs to the operating system. */
export function getSystemProgram(
  name: "powershell" | "ps" | "taskkill",
  env: NodeJS.ProcessEnv = process.env,
): string {
  const system32 = path.win32.join(env["SystemRoot"] ?? "C:\\Windows", "System32");
  switch (name) {
    case "powershell":
      return path.win32.join(system32, "WindowsPowerShell", "v1.0", "powershell.exe");
    case "taskkill":
      return path.win32.join(system32, "taskkill.exe");
    case "ps":
      return "/bin/ps";
    default:
      throw new Error(`unknown program ${String(name satisfies never)}`);
  }
}
