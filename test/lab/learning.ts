/**
 * `learning`: how much a student learns from random weights, first from the teacher's
 * conversations and then by GRPO on its own attempts, measured on held-out tasks.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { printFigures } from "./printFigures.ts";
import { outputPath } from "../../src/cli/options.ts";
import { defineCommand, flag, option } from "../../src/cli/command.ts";
import { computeSlices } from "../../src/evaluation/metrics.ts";
import { paperProfile } from "../../src/reward/profiles.ts";
import { UserError } from "../../src/userError.ts";
import type { BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import type { AppContext } from "../../src/app/context.ts";
import { readStart, trainStudent, writeExperimentTasks } from "../../src/app/experiment.ts";
import {
  measureStudent,
  samplesPerTask,
  type StudentMeasurement,
} from "../../src/app/measureStudent.ts";
import { readStudent } from "../../src/app/policies.ts";
import { findShippedModel } from "../../src/app/resources.ts";
import { trainWarmStart } from "../../src/app/warmStart.ts";

interface LearningOptions {
  readonly long: boolean;
  readonly out?: string | undefined;
  readonly seed: number;
}

/** How many tasks there are, and how many seconds each training takes. */
const sizes = {
  short: { train: 6_000, heldOut: 300, sampled: 60, reading: 300, grpo: 120 },
  long: { train: 30_000, heldOut: 600, sampled: 150, reading: 5_000, grpo: 1_500 },
};

async function* measureLearning(
  context: AppContext,
  { long, out, seed }: LearningOptions,
): AsyncGenerator<BenchmarkRow> {
  const { prove, cwd, resources, printNote } = context;
  const folder = out === undefined ? join(prove, "learning") : resolve(cwd, out);
  if (existsSync(folder))
    throw new UserError(`${folder} exists already`, "remove it, or choose another with --out");
  const { train, heldOut, sampled, reading, grpo } = sizes[long ? "long" : "short"];
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "learning.tasks.jsonl");
  printNote(`1 of 3  tasks: ${train} to train on, ${heldOut} held out`);
  const shipped = await readStart(findShippedModel(resources));
  const held = await writeExperimentTasks(file, shipped.model, { train, heldOut, seed }, context);
  const tasks = { greedy: held, sampled: held.slice(0, sampled) };

  printNote(`2 of 3  reading the teacher's conversations, ${reading} s`);
  const model = join(folder, "models", "reading");
  const run = join(folder, "runs", "reading");
  const read = await trainWarmStart(
    { tasks: file, run, out: model, seed, seconds: reading },
    context,
  );
  checkEnd(read.by, run);
  const start = await readStart(model);
  yield* createRows("reading", await measureStudent("reading", start.model, tasks, context));
  yield { name: "learning.reading.steps", unit: "", runs: [read.steps.length] };

  printNote(`3 of 3  GRPO on the student's own attempts, ${grpo} s`);
  const ownRun = join(folder, "runs", "grpo");
  const own = await trainStudent(
    ownRun,
    start,
    { tasks: file, method: "grpo", seed, seconds: grpo },
    "grpo",
    context,
  );
  checkEnd(own.by, ownRun);
  yield* createRows("grpo", await measureStudent("grpo", readStudent(ownRun), tasks, context));
  yield { name: "learning.grpo.steps", unit: "", runs: [own.steps.length] };
}

function checkEnd(by: string, run: string): void {
  if (by === "alarm")
    throw new UserError(
      `an alarm ended the training of ${run}`,
      "its metrics.jsonl says which one",
    );
}

function* createRows(
  name: string,
  { greedy, sampled }: StudentMeasurement,
): Generator<BenchmarkRow> {
  const create = (metric: string, value: number, unit = "share"): BenchmarkRow => ({
    name: `learning.${name}.${metric}`,
    unit,
    runs: [value],
  });
  yield create("success", greedy.metrics.success);
  const far = computeSlices(greedy.rows).find(it => it.by === "distance" && it.is === "far");
  if (far) yield create("success.far", far.success);
  yield create(`mean@${samplesPerTask}`, sampled.metrics.success);
  yield create(`pass@${samplesPerTask}`, sampled.metrics.pass ?? 0);
  yield create("paper", greedy.metrics.reward[paperProfile.name] ?? 0, "reward");
}

export const learning = defineCommand({
  name: "learning",
  description:
    "Train a student from random weights, first on the teacher's conversations and then with GRPO, and measure it on held-out tasks. Takes a quarter of an hour, with --long two hours.",
  arguments: [],
  options: {
    long: flag("--long", "train for two hours"),
    out: option("--out <folder>", "folder to write (default: prove/learning)", {
      parser: outputPath("prove/learning"),
    }),
  },
  examples: ["learning", "learning --long"],
  run: (context, _positionals, options) =>
    printFigures(measureLearning(context, { ...options, seed: 1 }), context),
});
