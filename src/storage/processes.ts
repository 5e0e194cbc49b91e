/** Finds programs by name on the PATH only, and says when a process began. */
import { accessSync, constants, statSync, readFileSync } from "node:fs";
import path from "node:path";
import { execFileSync } from "node:child_process";

/** The machine on which a program is looked for. Tests replace it. */
interface ProgramSearch {
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

// When a process began. Operating systems reuse process ids; an id together with its start time
// identifies a process.

/**
 * When a process began, in a format of the operating system that is only good for comparing.
 * Undefined where no process has that id.
 */
export function findProcessStart(pid: number): string | undefined {
  try {
    if (process.platform === "linux") return readLinuxStart(pid);
    if (process.platform === "win32")
      return runProgram(getSystemProgram("powershell"), [
        "-NoProfile",
        "-Command",
        `(Get-Process -Id ${pid}).StartTime.Ticks`,
      ]);
    return runProgram(getSystemProgram("ps"), ["-o", "lstart=", "-p", String(pid)]);
  } catch {
    return undefined; // there is no such process
  }
}

function readLinuxStart(pid: number): string | undefined {
  // the 22nd field, counted after the command's name, which may contain spaces and parentheses
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const isZombie = fields[0] === "Z";
  if (isZombie) return undefined;
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return `${boot} ${fields[19]}`;
}

const runProgram = (program: string, args: readonly string[]): string | undefined =>
  execFileSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 10_000,
  }).trim() || undefined;
