/**
 * `torch`: compares the work of a training step with eager PyTorch, which does it in a child
 * process after each run. What is timed there is in `torch_training.py`.
 */
import { z } from "zod";
import type { Architecture } from "../../src/model/transformer/architecture.ts";
import type { AppContext } from "../../src/app/context.ts";
import { measureWork, type OtherWork } from "./measureWork.ts";
import { pythonOption, startPython } from "./pythonProgram.ts";
import { printFigures } from "./printFigures.ts";
import type { BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import {
  createBatchWork,
  createDecodingWork,
  createDenseWork,
  decoded,
  dense,
  denseLength,
  denseSequences,
  prepareSteps,
  recordStep,
  runCount,
} from "../../src/app/bench/training.ts";
import { defineCommand } from "../../src/cli/command.ts";
import { startBackend } from "../../src/compute/backend.ts";
import { loadModel } from "../../src/model/modelFolder.ts";
import { initializeModel } from "../../src/model/transformer/transformer.ts";

/** The package, in the version that the tests use. */
const packages = "torch==2.13.0";

/** The answer of the Python programs to a request. */
export const workTimeSchema = z.object({
  processor: z.number().positive(),
  clock: z.number().positive(),
});

/** What the program does, with what it needs for it. */
interface TorchWork {
  readonly work: "dense" | "decoding" | "sorted" | "trl";
  readonly architecture: Architecture;
  readonly [key: string]: unknown;
}

interface Torch {
  /** Returns what does the work and times it. */
  measure(work: TorchWork): OtherWork;
  close(): void;
}

/** Starts Python and loads PyTorch. `command` is a program's name or path. */
async function startTorch(
  context: Pick<AppContext, "cwd" | "resources" | "signal">,
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

export const torch = defineCommand({
  name: "torch",
  description:
    "Measure passes, sampling and the gradients of a step's attempts on one core, and the same in PyTorch. With PyTorch, attempts are sorted by length, or in the layout of TRL.",
  arguments: [],
  options: { python: pythonOption },
  examples: ["torch --python venv/bin/python"],
  async run(context, _positionals, { python }) {
    // before anything is measured, so that a Python that cannot be used is reported at once
    const other = await startTorch(context, python);
    try {
      return await printFigures(compare(context, other), context);
    } finally {
      other.close();
    }
  },
});

async function* compare(context: AppContext, other: Torch): AsyncGenerator<BenchmarkRow> {
  const { dist, signal } = context;
  await startBackend("wasm", { programs: dist });
  const options = { runs: runCount, time: "processor", signal } as const;
  const denseModel = initializeModel(dense, 1);
  const architecture = dense;
  const sizes = { sequences: denseSequences, length: denseLength };
  const passes = other.measure({ work: "dense", architecture, ...sizes });
  yield* measureWork({ ...createDenseWork(denseModel), others: { torch: passes } }, options);
  const decoding = createDecodingWork(denseModel);
  const sampling = other.measure({ work: "decoding", architecture, ...decoded });
  yield* measureWork({ ...decoding, others: { torch: sampling } }, options);
  decoding.dispose();
  denseModel.dispose();
  const { start, tasks } = await prepareSteps(context);
  const model = await loadModel(start.model);
  const groups = await recordStep(start, tasks, model, context);
  const sent = {
    architecture: model.architecture,
    groups: groups.map(group => ({
      prefix: group.opening,
      branches: group.attempts.map(it => it.branch),
    })),
  };
  const others = {
    "torch-sorted": other.measure({ work: "sorted", ...sent }),
    "torch-trl": other.measure({ work: "trl", ...sent }),
  };
  yield* measureWork({ ...createBatchWork(model, groups), others }, options);
  model.dispose();
}
