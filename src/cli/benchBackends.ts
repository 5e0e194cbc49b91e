/**
 * Measures `bench training` on every backend that is installed, each in a process of its own: peak
 * memory is that of a process, and a native library that crashes takes its process with it.
 */
import { createInterface } from "node:readline/promises";
import { z } from "zod";
import { startBackend } from "../compute/backend.ts";
import type { BackendName } from "../compute/runningBackend.ts";
import { getBackendsFolder, listInstalledBackends } from "../run/backends.ts";
import { UserError } from "../userError.ts";
import { startProgram, type BenchmarkRow } from "./benchmark.ts";
import { measureDense } from "./benchDense.ts";
import { measuredRank, measureModel } from "./benchModel.ts";
import { startPeft } from "./benchPeft.ts";
import type { CliContext } from "./command.ts";

export interface BackendOptions {
  /** The folder of a model whose training is measured, instead of that of a small one. */
  readonly model: string | undefined;
  /** The program of Python, if PEFT is measured, too. */
  readonly python: string | undefined;
}

const rowSchema = z.object({ name: z.string(), unit: z.string(), runs: z.array(z.number()) });

/**
 * Measures the native backends that are installed, one after the other, each in a new process; for
 * a model also `wasm`, which `bench training` otherwise measures itself. Backends that fail are
 * reported and left out; if all of them fail, a `UserError` is thrown.
 */
export async function* measureBackends(
  context: CliContext,
  { model, python }: BackendOptions,
): AsyncGenerator<BenchmarkRow> {
  const names = [
    ...(model === undefined ? [] : ["wasm"]),
    ...listInstalledBackends(getBackendsFolder()),
  ];
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
  { signal }: CliContext,
  name: string,
  { model, python }: BackendOptions,
): AsyncGenerator<BenchmarkRow, string | undefined> {
  const args = [
    "bench",
    "training",
    "--backend",
    name,
    ...(model === undefined ? [] : ["--model", model]),
    ...(python === undefined ? [] : ["--against", "torch", "--python", python]),
  ];
  const child = startProgram(args, signal);
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
export async function* measureBackend(
  context: CliContext,
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
    const options = { runs: 3, passes: 1, time, hasClockRows: true, signal } as const;
    yield* measureDense({ ...options, suffix: `.${name}` });
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
