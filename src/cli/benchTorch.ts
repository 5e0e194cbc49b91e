/**
 * Does the work of a training step in eager PyTorch, in a child process. What is timed is in
 * `resources/engines/torch_training.py`.
 */
import { z } from "zod";
import type { Architecture } from "../model/architecture.ts";
import type { CliContext } from "./command.ts";
import type { OtherWork } from "./measureWork.ts";
import { startPython } from "./pythonProcess.ts";

/** The package, in the version that the tests use. */
const packages = "torch==2.13.0";

/** The answer of the Python programs to a request. */
export const workTimeSchema = z.object({
  processor: z.number().positive(),
  clock: z.number().positive(),
});

/** What the program does, with what it needs for it. */
export interface TorchWork {
  readonly work: "dense" | "decoding" | "sorted" | "trl";
  readonly architecture: Architecture;
  readonly [key: string]: unknown;
}

export interface Torch {
  /** Returns what does the work and times it. */
  measure(work: TorchWork): OtherWork;
  close(): void;
}

/** Starts Python and loads PyTorch. `command` is a program's name or path. */
export async function startTorch(
  context: Pick<CliContext, "cwd" | "resources" | "signal">,
  command: string,
): Promise<Torch> {
  const process = await startPython(context, command, {
    script: "torch_training.py",
    deed: "train with PyTorch",
    packages,
    pip: packages,
    firstLine: z.object({ torch: z.string() }),
    // on a slow machine that does other work
    answerLimit: 300_000,
  });
  return {
    measure: work => repeat => process.request({ ...work, repeat }, workTimeSchema),
    close: () => process.close(),
  };
}
