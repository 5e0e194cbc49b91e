/**
 * `bfcl`: compares calls on a synthesized data set with those of BFCL's own Python classes, which
 * play the scenarios of BFCL's multi-turn benchmark in a child process. What is played, and what of
 * it is timed, is in `bfcl_calls.py`.
 */
import { z } from "zod";
import type { AppContext } from "../../src/app/context.ts";
import type { PythonProcess } from "../../src/app/benchmark/harness.ts";
import { pythonOption, startPython } from "./pythonProgram.ts";
import { printFigures } from "./printFigures.ts";
import { recordDataset, visitDataset } from "../../src/app/bench/environment.ts";
import type { BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import { countOf } from "../../src/cli/options.ts";
import { defineCommand, option } from "../../src/cli/command.ts";

/** The packages that BFCL's classes need, in the versions that the tests use. */
const packages = "bfcl-eval==2026.3.23 mpmath==1.3.0";

const measuredSchema = z.object({ calls: z.int().min(1), seconds: z.number().positive() });

/** BFCL's scenarios, ready to be played. */
export interface Bfcl {
  /** Plays shuffled scenarios until they have that many calls. Returns calls a second. */
  measureCallRate(callCount: number, seed: number): Promise<number>;
  close(): void;
}

/** Starts Python and loads the scenarios. `command` is a program's name or path. */
export async function startBfcl(
  context: Pick<AppContext, "cwd" | "resources" | "signal">,
  command: string,
  /** Milliseconds; an answer takes less than a second. */
  answerLimit = 30_000,
): Promise<Bfcl> {
  const process: PythonProcess = await startPython(context, command, {
    script: "bfcl_calls.py",
    deed: "play the scenarios of BFCL",
    packages,
    pip: `--no-deps ${packages}`,
    firstLine: z.object({ scenarios: z.int().min(1), calls: z.int().min(1) }),
    answerLimit,
  });
  return {
    async measureCallRate(callCount, seed) {
      const { calls, seconds } = await process.request({ calls: callCount, seed }, measuredSchema);
      return calls / seconds;
    },
    close: () => process.close(),
  };
}

export const bfcl = defineCommand({
  name: "bfcl",
  description:
    "Open the sessions of a synthesized data set in shuffled order and make their calls. After each run, as many calls are played through BFCL's classes, so that other load affects both.",
  arguments: [],
  options: {
    python: pythonOption,
    tasks: option("--tasks <n>", "tasks of the data set (default: 3000)", {
      parser: countOf("a number of tasks"),
    }),
  },
  examples: ["bfcl --python bfcl/bin/python"],
  async run(context, _positionals, { python, tasks }) {
    // before anything is measured, so that a Python that cannot be used is reported at once
    const other = await startBfcl(context, python);
    try {
      return await printFigures(compare(context, other, tasks), context);
    } finally {
      other.close();
    }
  },
});

async function* compare(
  context: AppContext,
  other: Bfcl,
  taskCount: number | undefined,
): AsyncGenerator<BenchmarkRow> {
  const recorded = await recordDataset(context, taskCount);
  const [own, others]: [number[], number[]] = [[], []];
  // the first run compiles the code
  for (let run = 0; run <= 5; run++) {
    const { callCount, callRate } = await visitDataset(context, recorded, run);
    const otherRate = await other.measureCallRate(callCount, run);
    if (run === 0) continue;
    own.push(callRate);
    others.push(otherRate);
  }
  yield { name: "environment.calls.dataset", unit: "1/s", runs: own };
  yield { name: "environment.calls.bfcl", unit: "1/s", runs: others };
  yield {
    name: "environment.calls.dataset.of-bfcl",
    unit: "ratio",
    runs: own.map((it, i) => it / others[i]!),
  };
}
