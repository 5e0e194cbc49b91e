/**
 * `bench`: measures speed, memory and what cheats earn, and prints one JSON line per
 * figure. Nothing is asserted, because figures depend on the machine, which each line names.
 */
import { cpus } from "node:os";
import { UserError } from "../userError.ts";
import type { BackendName } from "../compute/runningBackend.ts";
import { defineCommand, flag, option, optionalArgument, type CliContext } from "./command.ts";
import { createEnvironmentBenchmarks, recordMix } from "./benchEnvironment.ts";
import { startBfcl } from "./benchBfcl.ts";
import { startTorch } from "./benchTorch.ts";
import { measureDataset, recordDataset } from "./benchDataset.ts";
import { measureBenchmark, type BenchmarkRow } from "./benchmark.ts";
import { measureLongSessions } from "./benchLongSessions.ts";
import { measureLiveSessions, measureMemory } from "./benchMemory.ts";
import { measureServedTasks, type ServedTasksOptions } from "./benchServedTasks.ts";
import { measureServing, serveEmptyTool } from "./benchServing.ts";
import { measureRewards } from "./benchRewards.ts";
import { measureSynthesis } from "./benchSynthesis.ts";
import { commaList, countOf, existingPath, oneOf, outputPath } from "./parsers.ts";

interface GroupOptions {
  /** The program of Python, if another benchmark or library is measured too. */
  readonly python: string | undefined;
  /** Tasks of the synthesized data set. */
  readonly taskCount: number | undefined;
  readonly service: ServedTasksOptions;
  /** The tasks file on which rewards are compared. */
  readonly file: string | undefined;
  readonly training: TrainingOptions;
}

interface TrainingOptions {
  /** The folder of a model, in the format of Hugging Face, whose adapters are trained. */
  readonly model: string | undefined;
  /** The only backend that is measured, in this process. */
  readonly backend: BackendName | undefined;
}

const groups: Readonly<
  Record<
    "environment" | "synthesis" | "rewards" | "training" | "service",
    (context: CliContext, options: GroupOptions) => AsyncGenerator<BenchmarkRow>
  >
> = {
  environment: measureEnvironment,
  synthesis: measureSynthesis,
  rewards: (context, { file }) => measureRewards(context, file),
  training: measureTraining,
  service: (context, { service }) => measureServedTasks(context, service),
};
const groupNames = Object.keys(groups) as (keyof typeof groups)[];

/** What a group can be compared with. */
const comparisons = { bfcl: "environment", torch: "training" } as const;

/** The options of `bench ablations`. */
const ablationOptions = {
  profiles: option(
    "--profiles <list>",
    "for ablations: reward profiles (default: prove-plus, paper and ablations of it)",
    { parser: commaList },
  ),
  seeds: option("--seeds <n>", "for ablations: trainings under each profile (default: 3)", {
    parser: countOf("a number of seeds"),
  }),
  steps: option(
    "--steps <n>",
    "for ablations: steps of each training (default: 60); for training: measure the memory of that many steps instead",
    { parser: countOf("a number of steps") },
  ),
  heldOut: option("--heldout <n>", "for ablations: held-out tasks (default: 400)", {
    parser: countOf("a number of tasks"),
  }),
  model: option(
    "--model <folder>",
    "for ablations: model folder to start from; for training: folder of a Hugging Face model, to measure the training of its adapters on each backend instead",
    { parser: existingPath("a model folder") },
  ),
  out: option(
    "--out <folder>",
    "for ablations: folder to write or to go on with; for learning: folder to write",
    {
      parser: outputPath("prove/ablations"),
    },
  ),
  json: flag("--json", "for ablations: print one JSON document"),
};

async function* measureTraining(
  context: CliContext,
  { python, training: { model, backend } }: GroupOptions,
): AsyncGenerator<BenchmarkRow> {
  // the compute backend takes a while to load
  const load = () => import("./benchBackends.ts");
  if (backend !== undefined) {
    yield* (await load()).measureBackend(context, backend, { model, python });
    return;
  }
  if (model === undefined) {
    // before anything is measured, so that a Python that cannot be used is reported at once
    const torch = python === undefined ? undefined : await startTorch(context, python);
    try {
      const measured = await import("./benchTraining.ts");
      yield* measured.measureTraining(context, torch);
    } finally {
      torch?.close();
    }
  }
  yield* (await load()).measureBackends(context, { model, python: model && python });
}

function checkAblationOptions({
  json,
  ...others
}: Readonly<Partial<Record<keyof typeof ablationOptions, unknown>>>): void {
  const given = json === true || Object.values(others).some(it => it !== undefined);
  if (given)
    throw new UserError(
      "--profiles, --seeds, --steps, --heldout, --model, --out and --json are for ablations",
      "write prove-rl bench ablations",
    );
}

export const bench = defineCommand({
  name: "bench",
  description:
    "Measure speed and memory, and what cheats earn under each reward. Prints one JSON line per figure: the median of the runs, the runs, and the machine. The group ablations, which runs only if it is named, trains the student with GRPO under several reward profiles and seeds and compares the outcomes on held-out tasks; it takes more than an hour. The group learning, too, runs only if it is named: it trains a student from random weights, first on the teacher's conversations and then with GRPO, and measures it on held-out tasks, in a quarter of an hour or with --long in two hours.",
  arguments: [
    optionalArgument("[group]", "measure only this group", {
      parser: oneOf([...groupNames, "ablations", "learning"], "there is no benchmark"),
    }),
  ],
  options: {
    against: option(
      "--against <name>",
      "also measure other software in the same run, and the ratio: bfcl with environment, torch (PyTorch, with --model also PEFT) with training",
      {
        parser: oneOf(
          Object.keys(comparisons) as (keyof typeof comparisons)[],
          "there is no comparison with",
        ),
      },
    ),
    python: option(
      "--python <program>",
      "Python with bfcl-eval or torch, for --against (default: python3 on the PATH)",
    ),
    ...ablationOptions,
    workers: option("--workers <n>", "for service: its worker processes (default: 1)", {
      parser: countOf("a number of processes"),
    }),
    soak: option(
      "--soak <seconds>",
      "for service: use it that long while connections are cut, workers are killed and clocks jump, instead of measuring rates; with two workers unless --workers says otherwise",
      { parser: countOf("a number of seconds") },
    ),
    backend: option(
      "--backend <backend>",
      "for training: measure only this backend (default: wasm, and the native ones that are installed, each in a process of its own)",
      { parser: oneOf(["wasm", "tensorflow", "webgpu", "cpu"], "there is no backend") },
    ),
    long: flag("--long", "for learning: train for two hours"),
    file: option("--file <file>", "tasks file for rewards (default: 200 new tasks)", {
      parser: existingPath("a tasks file"),
    }),
    tasks: {
      ...option(
        "--tasks <n>",
        "tasks of the data set; for ablations those to train on (default: 1500)",
        {
          parser: countOf("a number of tasks"),
        },
      ),
    },
    reference: flag("--reference", "serve the SDK's empty tool, to compare with", {
      isHidden: true,
    }),
    crowd: flag("--crowd", "print the memory of live sessions of the tasks on stdin", {
      isHidden: true,
    }),
  },
  examples: [
    "bench",
    "bench environment",
    "bench service",
    "bench service --workers 2 --soak 600",
    "bench environment --against bfcl",
    "bench training --against torch --python venv/bin/python",
    "bench training --model models/smollm2 --against torch --python venv/bin/python",
    "bench training --steps 500",
    "bench ablations --profiles paper,prove-plus --seeds 5",
    "bench learning --long",
  ],
  async run(
    context,
    [group],
    { against, python, file, tasks, reference, crowd, long, workers, soak, backend, ...settings },
  ) {
    // these two are child processes of the environment group
    if (reference) return serveEmptyTool(context);
    if (crowd) return measureLiveSessions(context);
    if (group === "ablations") {
      // loads the numerics
      const { runAblations } = await import("./benchAblations.ts");
      return await runAblations(context, { ...settings, tasks });
    }
    const { model, ...others } = settings;
    const isTraining = group === "training";
    const ablations = isTraining ? others : settings;
    if (backend !== undefined && !isTraining)
      throw new UserError("--backend is for training", "write prove-rl bench training");
    if ((workers !== undefined || soak !== undefined) && group !== "service")
      throw new UserError("--workers and --soak are for service", "write prove-rl bench service");
    if (long && group !== "learning")
      throw new UserError("--long is for learning", "write prove-rl bench learning --long");
    if (group === "learning") {
      const { out, ...rest } = ablations;
      checkAblationOptions(rest);
      // loads the numerics
      const { measureLearning } = await import("./benchLearning.ts");
      await printFigures(measureLearning(context, { long, out, seed: 1 }), context);
      return 0;
    }
    if (isTraining && ablations.steps !== undefined) {
      const { steps, ...rest } = ablations;
      checkAblationOptions(rest);
      // loads the numerics
      const { measureTrainingMemory } = await import("./benchTrainingMemory.ts");
      await printFigures(measureTrainingMemory(context, steps), context);
      return 0;
    }
    checkAblationOptions(ablations);
    if (against !== undefined && group !== undefined && group !== comparisons[against])
      throw new UserError(
        `--against ${against} is for the group ${comparisons[against]}, not ${group}`,
        `write prove-rl bench ${comparisons[against]} --against ${against}`,
      );
    if (against === undefined && python !== undefined)
      throw new UserError("--python is for a comparison", "add --against bfcl or --against torch");
    for (const name of groupNames) {
      if (group !== undefined && name !== group) continue;
      const isCompared = against !== undefined && comparisons[against] === name;
      const options = {
        python: isCompared ? (python ?? "python3") : undefined,
        taskCount: tasks,
        service: { workers: workers ?? (soak === undefined ? 1 : 2), soak },
        file,
        training: { model: isTraining ? model : undefined, backend },
      };
      await printFigures(groups[name](context, options), context);
    }
    return 0;
  },
});

async function* measureEnvironment(
  context: CliContext,
  { python, taskCount }: GroupOptions,
): AsyncGenerator<BenchmarkRow> {
  // before anything is measured, so that a Python that cannot be used is reported at once
  const bfcl = python === undefined ? undefined : await startBfcl(context, python);
  try {
    const mix = await recordMix(context);
    for (const it of await createEnvironmentBenchmarks(context, mix))
      yield await measureBenchmark(it, context.signal);
    const dataset = await recordDataset(context, taskCount);
    yield* measureDataset(context, dataset, bfcl);
    bfcl?.close();
    yield* measureLongSessions(context);
    yield* measureMemory(context, { mix, dataset });
    yield* measureServing(context.signal, ["bench", "--reference"]);
  } finally {
    bfcl?.close();
  }
}

async function printFigures(
  rows: AsyncIterable<BenchmarkRow>,
  { signal, print }: CliContext,
): Promise<void> {
  for await (const row of rows) {
    signal.throwIfAborted();
    print(JSON.stringify(createFigure(row)));
  }
}

function createFigure({ name, unit, runs: exactRuns }: BenchmarkRow) {
  const runs = exactRuns.map(it => Number(it.toPrecision(4)));
  return {
    name,
    value: runs.toSorted((a, b) => a - b)[runs.length >> 1],
    unit,
    runs,
    machine: describeMachine(),
  };
}

const describeMachine = () =>
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, Node ${process.version}, ${process.platform}`;
