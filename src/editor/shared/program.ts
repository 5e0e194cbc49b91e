/**
 * Runs the product's own programs as child processes: finds a Node.js runtime and forks the
 * command-line program with it.
 */
import { execFile, fork, type ChildProcess } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../../storage/findProgram.ts";
import { UserError } from "../../userError.ts";

/** A runtime that can start programs. */
export interface NodeRuntime {
  readonly path: string;
  /** Whether it is the editor's own runtime, which needs `ELECTRON_RUN_AS_NODE`. */
  readonly isElectron: boolean;
}

const minimumVersion = [20, 12] as const;

/**
 * Finds the Node.js to start programs with: the one that the setting names; else this process's own
 * if it is Node.js; else `node` on the PATH; else the editor's runtime. Throws a `UserError` if the
 * setting names something else or a version that is too old.
 */
export async function findNode(chosen: string): Promise<NodeRuntime> {
  if (chosen) {
    const path = findProgram(chosen, homedir());
    const version = path === undefined ? undefined : await readVersion(path);
    if (path === undefined || version === undefined)
      throw new UserError(
        `the setting prove.node names ${chosen}, which is not a Node.js program`,
        "correct the setting, or clear it",
      );
    if (!isNewEnough(version))
      throw new UserError(
        `the setting prove.node names Node.js ${version}, but ${minimumVersion.join(".")} or newer is required`,
        "name a newer version, or clear the setting",
      );
    return { path, isElectron: false };
  }
  if (!process.versions["electron"]) return { path: process.execPath, isElectron: false };
  const node = findProgram("node", homedir());
  const version = node === undefined ? undefined : await readVersion(node);
  if (node !== undefined && version !== undefined && isNewEnough(version))
    return { path: node, isElectron: false };
  return { path: process.execPath, isElectron: true };
}

async function readVersion(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: 10_000 });
    return /^v(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  } catch {
    // missing, or not a program: the caller tries the next one
    return undefined;
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > minimumVersion[0] || (major === minimumVersion[0] && minor >= minimumVersion[1]);
}

/**
 * Returns the environment without the variables of the editor, so that programs run alike in all
 * editors.
 */
export function createEnvironment({ isElectron }: NodeRuntime): NodeJS.ProcessEnv {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$)/.test(key)),
  );
  return isElectron ? { ...env, ELECTRON_RUN_AS_NODE: "1" } : env;
}

/** Forks the command-line program with a message channel. It ends with this process. */
export const forkProgram = (
  node: NodeRuntime,
  dist: string,
  args: readonly string[],
  cwd: string,
): ChildProcess =>
  fork(join(dist, "cli.js"), args, {
    cwd,
    execPath: node.path,
    execArgv: [],
    env: createEnvironment(node),
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
