/**
 * Runs the product's own programs as processes: finds a Node that can, and forks the terminal
 * program with it. Knows nothing of what the programs do.
 */
import { execFile, fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { UserError } from "../../userError.ts";

/**
 * A Node to start programs with. `isElectron`: the editor's own runtime, which must be told to be a
 * Node.
 */
export interface NodeRuntime {
  readonly path: string;
  readonly isElectron: boolean;
}

const minimumVersion = [20, 12] as const;

/**
 * The Node to start programs with: the one that was chosen; else this process's own where it is a
 * real Node; else `node` on the PATH; else the editor's runtime. Throws a `Mistake` where the
 * chosen one is none or too old.
 */
export async function findNode(chosen: string): Promise<NodeRuntime> {
  if (chosen) {
    const version = await readVersion(chosen);
    if (version === undefined)
      throw new UserError(
        `prove.node names ${chosen}, which is no Node.js program`,
        "correct the setting, or empty it",
      );
    if (!isNewEnough(version))
      throw new UserError(
        `prove.node names a Node.js ${version}, and ${minimumVersion.join(".")} or newer is needed`,
        "name a newer one, or empty the setting",
      );
    return { path: chosen, isElectron: false };
  }
  if (!process.versions["electron"]) return { path: process.execPath, isElectron: false };
  const version = await readVersion("node");
  if (version !== undefined && isNewEnough(version)) return { path: "node", isElectron: false };
  return { path: process.execPath, isElectron: true };
}

async function readVersion(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: 10_000 });
    return /^v(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  } catch {
    // not there, or not a program: the caller looks further
    return undefined;
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > minimumVersion[0] || (major === minimumVersion[0] && minor >= minimumVersion[1]);
}

/** Only what a program needs of our environment, so that it is the same in every editor. */
export function createEnvironment({ isElectron }: NodeRuntime): NodeJS.ProcessEnv {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$)/.test(key)),
  );
  return isElectron ? { ...env, ELECTRON_RUN_AS_NODE: "1" } : env;
}

/** Forks the terminal program with a channel to it. It ends with us. */
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
