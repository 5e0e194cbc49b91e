/**
 * Long work in the terminal program, which is forked for it: how far it is in a notification, its
 * cancel button, and the answers of the editor's own language models on the way. Knows nothing of
 * what the work does.
 */
import {
  CancellationError,
  ProgressLocation,
  window,
  type CancellationToken,
  type Progress,
} from "vscode";
import { UserError } from "../../userError.ts";
import type { Work, WorkAsk, WorkSays } from "../../protocol/work.ts";
import { ModelRequestHandler } from "./languageModels.ts";
import { findNode, forkProgram } from "../shared/program.ts";
import { getSetting } from "../shared/settings.ts";

export interface Workplace {
  /** The folder of the built programs. */
  readonly dist: string;
  readonly cwd: string;
}

/**
 * Does the work and gives its report. Throws a `CancellationError` where the person ended it: what
 * is written stands.
 */
export async function doWork(
  work: Work,
  title: string,
  { dist, cwd }: Workplace,
): Promise<readonly string[]> {
  const node = await findNode(getSetting("node"));
  return window.withProgress(
    { location: ProgressLocation.Notification, title, cancellable: true },
    async (progress, token) => {
      const child = forkProgram(node, dist, ["work"], cwd);
      const answers = new ModelRequestHandler(it => void (child.connected && child.send(it)));
      try {
        return await followed(child, work, answers, progress, token);
      } finally {
        answers.dispose();
        child.kill();
      }
    },
  );
}

/**
 * Sends the work, shows what is said, and resolves with the report; a cancel is said first and
 * enforced by the caller.
 */
function followed(
  child: ReturnType<typeof forkProgram>,
  work: Work,
  answers: ModelRequestHandler,
  progress: Progress<{ message: string; increment: number }>,
  token: CancellationToken,
): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    let shown = 0;
    let stderr = "";
    child.stderr?.on(
      "data",
      (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-2000)),
    );
    child.once("error", cause =>
      reject(
        new UserError(
          `the terminal program did not start (${cause.message})`,
          "check the setting prove.node",
          { cause },
        ),
      ),
    );
    child.once("exit", code =>
      reject(
        new UserError(
          `the terminal program ended with ${code} before its work was done`,
          stderr.trim() || "run it again",
          { cause: new Error(stderr) },
        ),
      ),
    );
    child.on("message", message => {
      const said = message as WorkSays;
      switch (said.kind) {
        case "progress":
          progress.report({
            message: `${said.done.toLocaleString("en")} of ${said.total.toLocaleString("en")} ${said.doing}`,
            increment: (100 * (said.done - shown)) / Math.max(1, said.total),
          });
          shown = said.done;
          return;
        case "done":
          return resolve(said.report);
        case "cancelled":
          return reject(new CancellationError());
        case "failed":
          return reject(new UserError(said.what, said.remedy));
        case "model-ask":
          return void answers.handle(said);
        case "model-cancel":
          return answers.cancel(said.id);
        default:
          reject(new Error(`the terminal program said ${JSON.stringify(said satisfies never)}`));
      }
    });
    token.onCancellationRequested(() => {
      child.send({ kind: "cancel" } satisfies WorkAsk);
      setTimeout(() => reject(new CancellationError()), 2000).unref();
    });
    child.send(work);
  });
}
