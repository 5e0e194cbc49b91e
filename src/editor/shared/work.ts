/**
 * Runs long work in the command-line program: shows its progress in a notification and passes on a
 * cancellation.
 */
import type { ChildProcess } from "node:child_process";
import { CancellationError, type CancellationToken } from "vscode";
import { createForkChannel, type Channel } from "../../channel/channel.ts";
import type { EditorMessages, ProgramMessages } from "../../protocol/work.ts";
import { UserError } from "../../userError.ts";
import { formatCount } from "./count.ts";
import { showProgress, type ProgressReport } from "./notifications.ts";
import { findNode, forkProgram } from "./program.ts";
import { getSetting } from "./settings.ts";

export interface ProgramLocation {
  /** The folder of the built programs. */
  readonly dist: string;
  readonly cwd: string;
}

/** What a request to the program gets. It sets its handlers, then opens the channel. */
export interface WorkContext {
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
  Method extends "checkFit" | "plan" | "evaluate" | "attempt" | "prepareEngine",
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
