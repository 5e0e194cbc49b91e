/**
 * Runs a synthesis in the command-line program: shows its progress in a notification, passes on a
 * cancellation, and answers its requests for the editor's language models.
 */
import type { ChildProcess } from "node:child_process";
import { CancellationError, type CancellationToken } from "vscode";
import { createForkChannel } from "../../channel/channel.ts";
import type { EditorMessages, ProgramMessages, SynthesisWork } from "../../protocol/work.ts";
import type { SynthesisResult } from "../../synthesis/pipeline/runSynthesis.ts";
import { formatProgress } from "../../synthesis/pipeline/synthesisProgress.ts";
import { UserError } from "../../userError.ts";
import { showProgress, type ProgressReport } from "../shared/notifications.ts";
import { findNode, forkProgram } from "../shared/program.ts";
import { getSetting } from "../shared/settings.ts";
import { completeWithEditorModel } from "./languageModels.ts";

export interface ProgramLocation {
  /** The folder of the built programs. */
  readonly dist: string;
  readonly cwd: string;
}

/** How long the program may take to stop after a cancellation, in milliseconds. */
const cancelTimeout = 2000;

/**
 * Synthesizes tasks. Throws a `CancellationError` when the user cancels; what was written stays
 * valid.
 */
export async function synthesizeInProgram(
  request: SynthesisWork,
  title: string,
  { dist, cwd }: ProgramLocation,
): Promise<SynthesisResult> {
  const node = await findNode(getSetting("node"));
  return showProgress(title, async (progress, token) => {
    const program = forkProgram(node, dist, ["work"], cwd);
    try {
      return await Promise.race([
        requestSynthesis(program, request, progress, token),
        rejectOnExit(program),
        rejectOnCancel(token),
      ]);
    } finally {
      program.kill();
    }
  });
}

async function requestSynthesis(
  program: ChildProcess,
  request: SynthesisWork,
  progress: ProgressReport,
  token: CancellationToken,
): Promise<SynthesisResult> {
  const channel = createForkChannel<EditorMessages, ProgramMessages>(program);
  let reported = 0;
  channel.listen("progress", it => {
    const increment = (100 * (it.done - reported)) / Math.max(1, it.total);
    reported = it.done;
    progress.report({ message: formatProgress(it), increment });
  });
  channel.handle("complete", completeWithEditorModel);
  channel.open();
  const cancellation = new AbortController();
  token.onCancellationRequested(() => cancellation.abort(new CancellationError()));
  return await channel.request("synthesize", request, cancellation.signal);
}

/** Rejects when the program ends before it has answered. */
function rejectOnExit(program: ChildProcess): Promise<never> {
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
