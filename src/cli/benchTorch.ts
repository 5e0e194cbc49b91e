/**
 * Does the work of a training step in eager PyTorch, in a child process. What is timed is in
 * `resources/engines/torch_training.py`.
 */
import { z } from "zod";
import type { Architecture } from "../model/architecture.ts";
import type { CliContext } from "./command.ts";
import { startPython } from "./pythonProcess.ts";

/** The package, in the version that the tests use. */
const packages = "torch==2.13.0";

const measuredSchema = z.object({ seconds: z.number().positive() });

/** What the program does, with what it needs for it. */
export interface TorchWork {
  readonly work: "dense" | "decoding" | "sorted" | "trl";
  readonly architecture: Architecture;
  readonly [key: string]: unknown;
}

export interface Torch {
  /** Does the work that many times. Returns the processor's seconds for it. */
  measureSeconds(work: TorchWork, repeat: number): Promise<number>;
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
    async measureSeconds(work, repeat) {
      const { seconds } = await process.request({ ...work, repeat }, measuredSchema);
      return seconds;
    },
    close: () => process.close(),
  };
}
