/**
 * Runs the product's own programs as child processes: finds a Node.js runtime, forks the command-
 * line program with it, shows the progress of long work in a notification, and passes on a
 * cancellation.
 */
import { type ChildProcess, execFile, fork } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CancellationError, type CancellationToken, workspace } from "vscode";
import { type Channel, createForkChannel } from "../../channel/channel.ts";
import type { EditorMessages, ProgramMessages } from "../../protocol/work.ts";
import { restrictedVariable } from "../../environment/restriction.ts";
import { findProgram } from "../../storage/processes.ts";
import { UserError } from "../../userError.ts";
import { type ProgressReport, showProgress } from "./notifications.ts";
import { getSetting } from "./settings.ts";
import { formatCount } from "./text.ts";

/** A runtime that can start programs. */
interface NodeRuntime {
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
    env: {
      ...createEnvironment(node),
      ...(workspace.isTrusted ? {} : { [restrictedVariable]: "1" }),
    },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });

export interface ProgramLocation {
  /** The folder of the built programs. */
  readonly dist: string;
  readonly cwd: string;
}

/** What a request to the program gets. It sets its handlers, then opens the channel. */
interface WorkContext {
  readonly channel: Channel<EditorMessages, ProgramMessages>;
  readonly progress: ProgressReport;
  readonly signal: AbortSignal;
}

/** How long the program may take to stop after a cancellation, in milliseconds. */
const cancelTimeout = 2000;

/**
 * Starts the program, sends it a request, and ends it. Throws a `CancellationError` when the user
 * cancels, and a `UserError` if the program does not start or ends without an answer.
 */
export async function runWork<T>(
  title: string,
  { dist, cwd }: ProgramLocation,
  request: (context: WorkContext) => Promise<T>,
): Promise<T> {
  const node = await findNode(getSetting("node"));
  return showProgress(title, async (progress, token) => {
    const program = forkProgram(node, dist, ["work"], cwd);
    const cancellation = new AbortController();
    token.onCancellationRequested(() => cancellation.abort(new CancellationError()));
    try {
      return await Promise.race([
        request({ channel: createForkChannel(program), progress, signal: cancellation.signal }),
        rejectOnExit(program),
        rejectOnCancel(token),
      ]);
    } finally {
      program.kill();
    }
  });
}

/** Requests work, and shows its progress as a count. Throws as `runWork` does. */
export const runCountedWork = <
  Method extends
    | "checkFit"
    | "plan"
    | "evaluate"
    | "attempt"
    | "readAttempt"
    | "prepareEngine"
    | "createConversations",
>(
  method: Method,
  params: ProgramMessages["requests"][Method]["params"],
  title: string,
  location: ProgramLocation,
): Promise<ProgramMessages["requests"][Method]["result"]> =>
  runWork(title, location, async ({ channel, progress, signal }) => {
    let reported = 0;
    channel.listen("advanced", ({ done, total, noun }) => {
      const message =
        total === 0
          ? formatCount(done, noun)
          : `${done.toLocaleString("en")} of ${formatCount(total, noun)}`;
      progress.report({ message, increment: total === 0 ? 0 : (100 * (done - reported)) / total });
      reported = done;
    });
    channel.open();
    const result: unknown = await channel.request(method, params as never, signal);
    return result as ProgramMessages["requests"][Method]["result"];
  });

/** Rejects with a `UserError` when the program ends before it has answered. */
export function rejectOnExit(program: ChildProcess): Promise<never> {
  let stderr = "";
  program.stderr?.on(
    "data",
    (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-2000)),
  );
  return new Promise((_, reject) => {
    program.once("error", cause =>
      reject(
        new UserError(
          `the command-line program did not start (${cause.message})`,
          "check the setting prove.node",
          { cause },
        ),
      ),
    );
    program.once("exit", code =>
      reject(
        new UserError(
          `the command-line program ended with code ${code} before its work was done`,
          stderr.trim() || "run it again",
          { cause: new Error(stderr) },
        ),
      ),
    );
  });
}

/** Rejects when the program does not stop in time after a cancellation. */
const rejectOnCancel = (token: CancellationToken): Promise<never> =>
  new Promise((_, reject) =>
    token.onCancellationRequested(() =>
      setTimeout(() => reject(new CancellationError()), cancelTimeout).unref(),
    ),
  );
