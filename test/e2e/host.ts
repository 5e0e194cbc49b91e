/**
 * The workbench host: a real VS Code server (code-server) with its own Node.js, installed once from
 * the package registry into a cache folder outside the repository.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { acquireLock } from "../../src/storage/fileLock.ts";
import { UserError } from "../../src/userError.ts";
import { isInstalled, installPackages } from "../systemPackages.ts";

const nodeVersion = "24.21.0";
const codeServerVersion = "4.139.1";

export interface Host {
  /** The Node.js that runs the server and the extension host. */
  readonly node: string;
  /** The server's entry script. */
  readonly entry: string;
}

/** Returns the host, and installs it first if missing, which takes a minute. */
export async function installHost(say: (line: string) => void): Promise<Host> {
  if (process.platform !== "linux")
    throw new Error(
      "the workbench host runs on Linux only; on other systems run the suites in desktop VS Code, as described in CONTRIBUTING.md",
    );
  const folder = join(
    cacheFolder(),
    `workbench-${codeServerVersion}-node-${nodeVersion}-${process.arch}`,
  );
  if (!existsSync(folder)) await withLock(`${folder}.lock.json`, () => installOnce(folder, say));
  return describeHost(folder);
}

const nodePackage = `node-linux-${process.arch}`;
const cacheFolder = () =>
  join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "prove-rl");
const describeHost = (folder: string): Host => ({
  node: join(folder, "node_modules", nodePackage, "bin/node"),
  entry: join(folder, "node_modules/code-server/out/node/entry.js"),
});

/** Installs into a temporary folder and renames it, so that the host is complete or missing. */
function installOnce(folder: string, say: (line: string) => void): void {
  if (existsSync(folder)) return;
  if (!["c++", "make", "python3"].every(isInstalled))
    installPackages(
      "the workbench tests need a C++ compiler, make and python3, to build two modules of their host",
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
 * Installs without install scripts, since most download from other sites. The Linux server needs
 * only two native modules, which are built here against the headers in the Node.js package.
 */
function install(folder: string): void {
  writeFileSync(join(folder, "package.json"), `{ "name": "workbench-host", "private": true }\n`);
  runNpm(folder, [
    "install",
    "--ignore-scripts",
    `${nodePackage}@${nodeVersion}`,
    `code-server@${codeServerVersion}`,
  ]);
  const code = join(folder, "node_modules/code-server/lib/vscode");
  runNpm(code, ["install", "--omit=dev", "--ignore-scripts"], folder);
  runNpm(join(code, "extensions"), ["install", "--omit=dev", "--ignore-scripts"], folder);
  runNpm(
    code,
    ["rebuild", "--ignore-scripts=false", "@vscode/spdlog", "@vscode/native-watchdog"],
    folder,
  );
  link("code-linux.sh", join(code, "bin/remote-cli/code-server"));
  link("browser-linux.sh", join(code, "bin/helpers/browser.sh"));
  const { node, entry } = describeHost(folder);
  execFileSync(node, [entry, "--config", join(folder, "config.yaml"), "--version"], {
    stdio: "pipe",
  });
}

const link = (target: string, at: string) => {
  rmSync(at, { force: true });
  symlinkSync(target, at);
};

/** Runs npm; with `host`, on the host's own Node.js and headers. */
function runNpm(cwd: string, args: readonly string[], host?: string): void {
  // the prefix, flags and scripts of an outer `npm test` must not affect this installation
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

class LockHeld extends UserError {}

/** Runs `work` while holding a lock, so that only one process installs at a time. */
async function withLock(file: string, work: () => void): Promise<void> {
  const release = await waitForLock(file);
  try {
    work();
  } finally {
    release();
  }
}

async function waitForLock(file: string): Promise<() => void> {
  for (;;)
    try {
      return acquireLock(file, {
        createConflict: pid => new LockHeld(`process ${pid} is installing`, "wait for it"),
      });
    } catch (error) {
      if (!(error instanceof LockHeld)) throw error;
      await pause(500);
    }
}
