/** Acts as the editor: forks the terminal program, sends it work, and records its messages. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createForkChannel } from "../../src/channel/channel.ts";
import type {
  Completion,
  CompletionRequest,
  EditorMessages,
  ProgramMessages,
  SynthesisWork,
  WorkProgress,
} from "../../src/protocol/work.ts";
import type { SynthesisResult } from "../../src/synthesis/pipeline/run/runSynthesis.ts";
import type { SynthesisProgress } from "../../src/synthesis/pipeline/report/report.ts";
import { root } from "../contracts/transports.ts";

export interface EditorOptions {
  /** Answers a request for one of the editor's models. */
  readonly complete?: (
    request: CompletionRequest,
    signal: AbortSignal,
  ) => Completion | Promise<Completion>;
  readonly onProgress?: (progress: SynthesisProgress) => void;
  readonly signal?: AbortSignal;
  readonly env?: Record<string, string>;
}

export interface WorkOutcome {
  readonly result?: SynthesisResult;
  readonly error?: unknown;
  readonly progress: readonly SynthesisProgress[];
  readonly completions: readonly CompletionRequest[];
  /** What the program printed, on stdout and stderr. */
  readonly printed: string;
  readonly code: number | null;
}

/**
 * Sends a request to a fork of the built program, whose numerics are bundled, and
 * resolves with the result and the progress.
 */
export async function requestCountedWork<
  Method extends "checkFit" | "plan" | "evaluate" | "attempt" | "readAttempt" | "prepareEngine",
>(
  method: Method,
  params: ProgramMessages["requests"][Method]["params"],
): Promise<{
  readonly result: ProgramMessages["requests"][Method]["result"];
  readonly progress: readonly WorkProgress[];
}> {
  const child = fork(join(root, "dist/cli.js"), ["work"], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const channel = createForkChannel<EditorMessages, ProgramMessages>(child);
  const progress: WorkProgress[] = [];
  channel.listen("advanced", it => void progress.push(it));
  channel.open();
  const exit = once(child, "exit");
  try {
    const result = (await channel.request(
      method,
      params as never,
    )) as ProgramMessages["requests"][Method]["result"];
    return { result, progress };
  } finally {
    await channel.close();
    await exit;
  }
}

/** Sends the work to a fork of the program and waits until that has ended. */
export async function requestWork(
  work: SynthesisWork,
  { complete, onProgress, signal, env = {} }: EditorOptions = {},
): Promise<WorkOutcome> {
  const child = fork(join(root, "src/cli/main.ts"), ["work"], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { ...process.env, ...env },
  });
  let printed = "";
  for (const it of [child.stdout!, child.stderr!])
    it.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  // not `close`, which does not come once this end has disconnected
  const ended = Promise.all([
    once(child, "exit"),
    once(child.stdout!, "close"),
    once(child.stderr!, "close"),
  ]).then(([[code]]) => code as number | null);
  const progress: SynthesisProgress[] = [];
  const completions: CompletionRequest[] = [];
  const channel = createForkChannel<EditorMessages, ProgramMessages>(child);
  channel.listen("progress", it => {
    progress.push(it);
    onProgress?.(it);
  });
  channel.handle("complete", async (request, canceled) => {
    completions.push(request);
    if (!complete) throw new Error("no model was expected to be used");
    return await complete(request, canceled);
  });
  channel.open();
  const outcome = await channel.request("synthesize", work, signal).then(
    result => ({ result }),
    (error: unknown) => ({ error }),
  );
  await channel.close();
  return { ...outcome, progress, completions, printed, code: await ended };
}
