/**
 * `training-memory`: measures the memory of a trainer with two workers over many GRPO steps
 * of the default size. The student stays almost the same, so that its attempts do, too.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRunConfig } from "../../src/run/createRunConfig.ts";
import { createRun } from "../../src/run/folder.ts";
import { startTrainer } from "../../src/run/start.ts";
import { writeFileAtomicallySync } from "../../src/storage/atomicWrite.ts";
import { formatTaskLine } from "../../src/trajectory/task.ts";
import { UserError } from "../../src/userError.ts";
import type { BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import { synthesizeTasks } from "../../src/app/bench/training.ts";
import type { AppContext } from "../../src/app/context.ts";
import { readStart } from "../../src/app/experiment.ts";
import { findStartModel, listFixtureFolders } from "../../src/app/resources.ts";

import { printFigures } from "./printFigures.ts";
import { countOf } from "../../src/cli/options.ts";
import { defineCommand, option } from "../../src/cli/command.ts";

const taskCount = 2_000;

/** Steps after which memory should no longer grow, or a quarter of the steps if that is less. */
const settled = 50;

/** The largest resident memory, and how fast it grows after the first steps. */
async function* measureTrainingMemory(
  context: AppContext,
  steps: number,
): AsyncGenerator<BenchmarkRow> {
  const { resources, dist, signal, showProgress } = context;
  const folder = mkdtempSync(join(tmpdir(), "prove-bench-"));
  try {
    const start = await readStart(findStartModel(resources));
    showProgress("training: synthesizing tasks");
    const tasks = join(folder, "bench.tasks.jsonl");
    const { servers } = start.model.config.saw;
    const lines = (await synthesizeTasks(Object.keys(servers), taskCount, context)).map(
      formatTaskLine,
    );
    writeFileAtomicallySync(tasks, lines.map(it => `${it}\n`).join(""));
    const run = join(folder, "run");
    const grpo = { learningRate: 1e-12 };
    const startedAt = new Date();
    createRun(run, createRunConfig({ startedAt, tasks, steps, workers: 2, grpo }), start.folder);
    const trainer = await startTrainer({
      folder: run,
      program: join(dist, "trainer.js"),
      fixtures: listFixtureFolders(context),
    });
    const stop = () => void trainer.request("stop").catch(() => {});
    signal.addEventListener("abort", stop);
    const points: Point[] = [];
    let peak = 0;
    for await (const event of trainer.events) {
      if (event.kind === "failed") throw new UserError(event.what, event.remedy);
      if (event.kind !== "stepped") continue;
      const { step } = event.metrics;
      showProgress(`training: memory at step ${step} of ${steps}`);
      const { memory } = await trainer.request("status");
      points.push({ step, size: memory!.resident / 2 ** 20 });
      peak = memory!.peak / 2 ** 20;
    }
    signal.removeEventListener("abort", stop);
    signal.throwIfAborted();
    const after = points.filter(it => it.step > Math.min(settled, steps / 4));
    yield { name: "training.memory", unit: "MB", runs: [peak] };
    // a line needs two points
    if (after.length < 2) return;
    yield { name: "training.memory.growth", unit: "MB/step", runs: [fitSlope(after)] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The resident memory, in MB, after a step. */
interface Point {
  readonly step: number;
  readonly size: number;
}

/** The slope of the least-squares line. */
function fitSlope(points: readonly Point[]): number {
  const mean = (read: (it: Point) => number) =>
    points.reduce((sum, it) => sum + read(it), 0) / points.length;
  const [step, size] = [mean(it => it.step), mean(it => it.size)];
  return mean(it => (it.step - step) * (it.size - size)) / mean(it => (it.step - step) ** 2);
}

export const trainingMemory = defineCommand({
  name: "training-memory",
  description:
    "Measure the largest memory of a trainer with two workers, and its growth per step after the first ones.",
  arguments: [],
  options: {
    steps: option("--steps <n>", "steps to train", {
      parser: countOf("a number of steps"),
      default: 500,
    }),
  },
  examples: ["training-memory", "training-memory --steps 100"],
  run: (context, _positionals, { steps }) =>
    printFigures(measureTrainingMemory(context, steps), context),
});
