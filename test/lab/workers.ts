/**
 * `workers`: measures whole GRPO steps with one worker and with two: the trainer program
 * on run folders of its own, with live sessions, rewards, learning and files. These are times of
 * the clock, so the machine should do nothing else.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFileAtomicallySync } from "../../src/storage/atomicWrite.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { formatTaskLine } from "../../src/trajectory/task.ts";
import type { BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import type { AppContext } from "../../src/app/context.ts";
import { trainStudent, type Start } from "../../src/app/experiment.ts";

import { prepareSteps } from "../../src/app/bench/training.ts";
import { printFigures } from "./printFigures.ts";
import { defineCommand } from "../../src/cli/command.ts";

/** Trainings with each number of workers, one after the other, and the steps of each. */
const [runCount, steps] = [3, 16];

/**
 * Steps before those that are measured: V8 still compiles in them, and has the second core to
 * itself if there is one worker.
 */
const warmUp = 6;

/** Attempts a second of each training, and the ratio of each two that follow one another. */
async function* measureWorkers(
  start: Start,
  tasks: readonly Task[],
  context: AppContext,
): AsyncGenerator<BenchmarkRow> {
  const folder = mkdtempSync(join(tmpdir(), "prove-bench-"));
  try {
    const file = join(folder, "bench.tasks.jsonl");
    writeFileAtomicallySync(file, tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
    const rates: Record<1 | 2, number[]> = { 1: [], 2: [] };
    for (let run = 0; run < runCount; run++)
      for (const workers of [1, 2] as const) {
        const training = await trainStudent(
          join(folder, `${run}-${workers}`),
          start,
          // the student stays the same
          { tasks: file, steps, workers, keepGroups: 1, grpo: { learningRate: 1e-12 } },
          `training: run ${run + 1} of ${runCount}, workers: ${workers}`,
          context,
        );
        const measured = training.steps.slice(warmUp).filter(it => it.method === "grpo");
        rates[workers].push(
          sum(measured.map(it => it.attempts)) / sum(measured.map(it => it.seconds.total)),
        );
      }
    const unit = "rollouts/s";
    yield { name: "training.step.one-worker", unit, runs: rates[1] };
    yield { name: "training.step.two-workers", unit, runs: rates[2] };
    yield {
      name: "training.step.of-one-worker",
      unit: "ratio",
      runs: rates[2].map((it, i) => it / rates[1][i]!),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

export const workers = defineCommand({
  name: "workers",
  description: "Train with one worker and with two, in turns, and compare the attempts a second.",
  arguments: [],
  options: {},
  examples: ["workers"],
  async run(context) {
    const { start, tasks } = await prepareSteps(context);
    return await printFigures(measureWorkers(start, tasks, context), context);
  },
});
