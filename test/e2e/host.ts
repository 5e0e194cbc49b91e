/**
 * The workbench host: a real VS Code server (code-server) on a Node of its own, installed once from
 * the package registry into a cache folder outside the checkout. Knows nothing of the extension
 * that will run in it.
 */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { installed, needFromSystem } from "./system.ts";

const nodeVersion = "24.21.0";
const codeServerVersion = "4.139.1";

export interface Host {
  /** The Node that runs the server, and so the extension host. */
  readonly node: string;
  /** The server's entry script. */
  readonly entry: string;
}

/** The host, installed if it is not there yet (a minute, once). `say` hears of what takes time. */
export async function workbenchHost(say: (line: string) => void): Promise<Host> {
  if (process.platform !== "linux")
    throw new Error(
      "the workbench host runs on Linux only; elsewhere run the suites inside desktop VS Code, as CONTRIBUTING.md says",
    );
  const folder = join(
    cacheFolder(),
    `workbench-${codeServerVersion}-node-${nodeVersion}-${process.arch}`,
  );
  if (!existsSync(folder)) await alone(`${folder}.lock`, () => installOnce(folder, say));
  return hostIn(folder);
}

const nodePackage = `node-linux-${process.arch}`;
const cacheFolder = () =>
  join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "prove-rl");
const hostIn = (folder: string): Host => ({
  node: join(folder, "node_modules", nodePackage, "bin/node"),
  entry: join(folder, "node_modules/code-server/out/node/entry.js"),
});

/**
 * Installs into a folder beside the wanted one and renames it when it is whole: a host is there or
 * it is not.
 */
function installOnce(folder: string, say: (line: string) => void): void {
  if (existsSync(folder)) return;
  if (!["c++", "make", "python3"].every(installed))
    needFromSystem(
      "a C++ compiler, make and python3, to build two modules of the workbench host",
      ["g++", "make", "python3"],
      say,
    );
  say(`installing the workbench host into ${folder} (about a minute, once)`);
  const fresh = `${folder}.${process.pid}.part`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  try {
    install(fresh);
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/**
 * No install script runs: most would fetch what this machine may not reach, and only two native
 * modules are loaded by the Linux server. Those two are built here, against the headers that come
 * with the Node package.
 */
function install(folder: string): void {
  writeFileSync(join(folder, "package.json"), `{ "name": "workbench-host", "private": true }\n`);
  npm(folder, [
    "install",
    "--ignore-scripts",
    `${nodePackage}@${nodeVersion}`,
    `code-server@${codeServerVersion}`,
  ]);
  const code = join(folder, "node_modules/code-server/lib/vscode");
  npm(code, ["install", "--omit=dev", "--ignore-scripts"], folder);
  npm(join(code, "extensions"), ["install", "--omit=dev", "--ignore-scripts"], folder);
  npm(
    code,
    ["rebuild", "--ignore-scripts=false", "@vscode/spdlog", "@vscode/native-watchdog"],
    folder,
  );
  link("code-linux.sh", join(code, "bin/remote-cli/code-server"));
  link("browser-linux.sh", join(code, "bin/helpers/browser.sh"));
  const { node, entry } = hostIn(folder);
  execFileSync(node, [entry, "--config", join(folder, "config.yaml"), "--version"], {
    stdio: "pipe",
  });
}

const link = (target: string, at: string) => {
  rmSync(at, { force: true });
  symlinkSync(target, at);
};

/** Runs npm, on the host's own Node and headers once they are there. */
function npm(cwd: string, args: readonly string[], host?: string): void {
  // what an outer `npm test` hands down (its own prefix, flags and scripts) must not steer this
  // installation
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([key]) => !/^npm_(package|lifecycle|command|config_local)/i.test(key),
    ),
  );
  delete env["NODE_OPTIONS"];
  delete env["NODE_ENV"];
  if (host) {
    const node = join(host, "node_modules", nodePackage);
    env["npm_config_nodedir"] = node;
    env["PATH"] = `${join(node, "bin")}${delimiter}${env["PATH"] ?? ""}`;
  }
  try {
    execFileSync("npm", [...args, "--no-audit", "--no-fund"], {
      cwd,
      env,
      stdio: "pipe",
      maxBuffer: 1 << 28,
      encoding: "utf8",
    });
  } catch (cause) {
    const { stdout, stderr } = cause as { stdout: string; stderr: string };
    throw new Error(`npm ${args.join(" ")} failed in ${cwd}\n${(stdout + stderr).slice(-4000)}`, {
      cause,
    });
  }
}

/**
 * Runs `work` while holding a lock folder, so that two installations do not meet. The lock of a
 * dead process is taken over.
 */
async function alone(lock: string, work: () => void): Promise<void> {
  mkdirSync(join(lock, ".."), { recursive: true });
  while (!held(lock)) {
    const owner = ownerOf(lock);
    if (owner !== undefined && !alive(owner)) rmSync(lock, { recursive: true, force: true });
    else await pause(500);
  }
  try {
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function held(lock: string): boolean {
  // a folder with its owner inside appears in one step: a reader never sees a lock without an owner
  const mine = `${lock}.${process.pid}`;
  mkdirSync(mine, { recursive: true });
  writeFileSync(join(mine, "pid"), String(process.pid));
  try {
    renameSync(mine, lock);
    return true;
  } catch (error) {
    rmSync(mine, { recursive: true, force: true });
    if (["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

function ownerOf(lock: string): number | undefined {
  try {
    return Number(readFileSync(join(lock, "pid"), "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
