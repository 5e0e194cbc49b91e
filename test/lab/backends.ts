/**
 * `backends`: measures training on every backend that is installed, each in a process of its own:
 * peak memory is that of a process, and a native library that crashes takes its process with it.
 */
import { createInterface } from "node:readline/promises";
import { z } from "zod";
import { startBackend } from "../../src/compute/backend.ts";
import type { BackendName } from "../../src/compute/runningBackend.ts";
import { getBackendsFolder, listInstalledBackends } from "../../src/run/backends.ts";
import { UserError } from "../../src/userError.ts";
import { startProgram, type BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import { createDecodingWork, createDenseWork, dense } from "../../src/app/bench/training.ts";
import { initializeModel } from "../../src/model/transformer/transformer.ts";
import { measureWork } from "./measureWork.ts";
import { printFigures } from "./printFigures.ts";
import { existingPath, oneOf } from "../../src/cli/options.ts";
import { defineCommand, option } from "../../src/cli/command.ts";
import { measuredRank, measureModel } from "./adapters.ts";
import { startPeft } from "./peft.ts";
import type { AppContext } from "../../src/app/context.ts";

interface BackendOptions {
  /** The folder of a model whose training is measured, instead of that of a small one. */
  readonly model: string | undefined;
  /** The program of Python, if PEFT is measured, too. */
  readonly python: string | undefined;
}

const rowSchema = z.object({ name: z.string(), unit: z.string(), runs: z.array(z.number()) });

/**
 * Measures `wasm` and the native backends that are installed, one after the other. Backends that
 * fail are reported and left out; if all of them fail, a `UserError` is thrown.
 */
async function* measureBackends(
  context: AppContext,
  { model, python }: BackendOptions,
): AsyncGenerator<BenchmarkRow> {
  const names = ["wasm", ...listInstalledBackends(getBackendsFolder())];
  const problems: string[] = [];
  for (const name of names) {
    context.showProgress(`measuring ${name}`);
    const problem = yield* measureInProcess(context, name, { model, python });
    if (problem === undefined) continue;
    problems.push(`${name} was not measured: ${problem}`);
    context.printNote(problems.at(-1)!);
  }
  if (names.length > 0 && problems.length === names.length)
    throw new UserError("no backend could be measured", "see above what is wrong with each");
}

/** Yields the rows of one backend, and returns why there are no more if its process fails. */
async function* measureInProcess(
  { signal }: AppContext,
  name: string,
  { model, python }: BackendOptions,
): AsyncGenerator<BenchmarkRow, string | undefined> {
  const child = startProgram(
    [
      // the lab itself
      process.argv[1]!,
      "backends",
      "--backend",
      name,
      ...(model === undefined ? [] : ["--model", model]),
      ...(python === undefined ? [] : ["--python", python]),
    ],
    signal,
  );
  let errors = "";
  child.stderr
    .setEncoding("utf8")
    .on("data", (it: string) => (errors = (errors + it).slice(-2_000)));
  const end = new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, by) => resolve(by ?? `code ${code}`));
  });
  // native libraries print to stdout, too
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith("{")) yield rowSchema.parse(JSON.parse(line));
  const reason = await end;
  signal.throwIfAborted();
  return reason === "code 0" ? undefined : `its process ended with ${reason}: ${errors.trim()}`;
}

/** Measures one backend in this process. */
async function* measureBackend(
  context: AppContext,
  name: BackendName,
  { model, python }: BackendOptions,
): AsyncGenerator<BenchmarkRow> {
  const { dist, signal } = context;
  const { hasGpu, check } = await startBackend(name, {
    programs: dist,
    backends: getBackendsFolder(),
  });
  if (model === undefined) {
    const time = hasGpu ? "clock" : "processor";
    const options = { runs: 3, time, hasClockRows: true, signal } as const;
    const small = initializeModel(dense, 1);
    const decoding = createDecodingWork(small);
    for (const { repeat, ...work } of [createDenseWork(small), decoding])
      yield* measureWork(
        { ...work, name: `${work.name}.${name}`, repeat: Math.ceil(repeat / 4) },
        options,
      );
    decoding.dispose();
    small.dispose();
  } else {
    const device = hasGpu ? "cuda" : "cpu";
    const options = { model, rank: measuredRank, device } as const;
    const peft = python === undefined ? undefined : await startPeft(context, python, options);
    try {
      yield* measureModel(context, { model, backend: name, hasGpu, peft });
    } finally {
      peft?.close();
    }
  }
  check?.();
}

export const backends = defineCommand({
  name: "backends",
  description:
    "Measure passes and sampling of a small model on wasm and on every native backend that is installed, or the training of a model's adapters.",
  arguments: [],
  options: {
    backend: option("--backend <backend>", "measure only this backend", {
      parser: oneOf(["wasm", "tensorflow", "webgpu", "cpu"], "there is no backend"),
    }),
    model: option("--model <folder>", "folder of a Hugging Face model whose adapters are trained", {
      parser: existingPath("a model folder"),
    }),
    python: option("--python <program>", "with --model: Python with PEFT, to compare with"),
  },
  examples: ["backends", "backends --model models/smollm2 --python venv/bin/python"],
  async run(context, _positionals, { backend, ...options }) {
    const rows =
      backend === undefined
        ? measureBackends(context, options)
        : measureBackend(context, backend, options);
    return await printFigures(rows, context);
  },
});
