/**
 * `bench`: measured numbers, one JSON line each. Nothing here is asserted: figures belong to a
 * machine, and say which.
 */
import { cpus } from "node:os";
import { UserError } from "../userError.ts";
import {
  createEnvironmentBenchmarks,
  measureLiveSessions,
  measureMemory,
} from "./benchEnvironment.ts";
import { measureServing, serveEmptyTool, type BenchmarkRow } from "./benchServing.ts";
import { measureSynthesis } from "./benchSynthesis.ts";
import type { CliCommand, CliContext } from "./command.ts";
import type { Benchmark } from "./benchmark.ts";

const groups: Readonly<Record<string, (terminal: CliContext) => AsyncIterable<BenchmarkRow>>> = {
  environment: environmentGroup,
  synthesis: measureSynthesis,
};

export const bench: CliCommand = {
  usage: `bench [${Object.keys(groups).join("|")}]`,
  summary: "Measure, one JSON line a figure: the median of the runs, the runs, and the machine.",
  options: { reference: { type: "boolean" }, crowd: { type: "boolean" } },
  async run(terminal, [group], values) {
    // processes of their own, which the rows over HTTP and of memory start
    if (values["reference"]) return serveEmptyTool(terminal);
    if (values["crowd"]) return measureLiveSessions(terminal);
    if (group !== undefined && !Object.hasOwn(groups, group))
      throw new UserError(
        `there is no benchmark ${group}`,
        `choose one of ${Object.keys(groups).join(", ")}`,
      );
    for (const [name, rows] of Object.entries(groups)) {
      if (group !== undefined && name !== group) continue;
      for await (const it of rows(terminal)) {
        terminal.signal.throwIfAborted();
        terminal.print(JSON.stringify(figure(it)));
      }
    }
    return 0;
  },
};

async function* environmentGroup(terminal: CliContext): AsyncGenerator<BenchmarkRow> {
  for (const it of await createEnvironmentBenchmarks(terminal)) yield measured(it);
  yield* measureMemory(terminal.signal);
  yield* measureServing(terminal.signal, ["bench", "--reference"]);
}

/**
 * Five runs of about a fifth of a second each, after one that warms up and finds how much work that
 * is.
 */
function measured({ name, unit, work, value }: Benchmark): BenchmarkRow {
  let n = 1;
  let seconds = work(n);
  while (seconds < 0.05) seconds = work((n *= 4));
  const each = Math.max(1, Math.round((0.2 * n) / seconds));
  return { name, unit, runs: Array.from({ length: 5 }, () => value(work(each) / each)) };
}

function figure({ name, unit, runs: exact }: BenchmarkRow) {
  const runs = exact.map(rounded);
  return {
    name,
    value: runs.toSorted((a, b) => a - b)[runs.length >> 1],
    unit,
    runs,
    machine: machine(),
  };
}

const rounded = (it: number) => Number(it.toPrecision(4));
const machine = () =>
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, Node ${process.version}, ${process.platform}`;
