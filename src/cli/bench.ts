/**
 * `bench`: measures speed and memory, and prints one JSON line per figure. Nothing is asserted,
 * because figures depend on the machine, which each line names.
 */
import { cpus } from "node:os";
import { defineCommand, flag, optionalArgument, type CliContext } from "./command.ts";
import {
  createEnvironmentBenchmarks,
  measureLiveSessions,
  measureMemory,
} from "./benchEnvironment.ts";
import { measureDataset } from "./benchDataset.ts";
import { measureBenchmark, type BenchmarkRow } from "./benchmark.ts";
import { measureLongSessions } from "./benchLongSessions.ts";
import { measureServing, serveEmptyTool } from "./benchServing.ts";
import { measureSynthesis } from "./benchSynthesis.ts";
import { oneOf } from "./parsers.ts";

const groups = { environment: measureEnvironment, synthesis: measureSynthesis } as const;
const groupNames = Object.keys(groups) as (keyof typeof groups)[];

export const bench = defineCommand({
  name: "bench",
  description:
    "Measure speed and memory. Prints one JSON line per figure: the median of the runs, the runs, and the machine.",
  arguments: [
    optionalArgument("[group]", "measure only this group", {
      parser: oneOf(groupNames, "there is no benchmark"),
    }),
  ],
  options: {
    reference: flag("--reference", "serve the SDK's empty tool, to compare with", {
      isHidden: true,
    }),
    crowd: flag("--crowd", "print the memory of live sessions", { isHidden: true }),
  },
  examples: ["bench", "bench environment"],
  async run(context, [group], { reference, crowd }) {
    // these two are child processes of the environment group
    if (reference) return serveEmptyTool(context);
    if (crowd) return measureLiveSessions(context);
    for (const name of groupNames) {
      if (group !== undefined && name !== group) continue;
      for await (const row of groups[name](context)) {
        context.signal.throwIfAborted();
        context.print(JSON.stringify(createFigure(row)));
      }
    }
    return 0;
  },
});

async function* measureEnvironment(context: CliContext): AsyncGenerator<BenchmarkRow> {
  for (const it of await createEnvironmentBenchmarks(context))
    yield await measureBenchmark(it, context.signal);
  yield* measureDataset(context);
  yield* measureLongSessions(context);
  yield* measureMemory(context.signal);
  yield* measureServing(context.signal, ["bench", "--reference"]);
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
