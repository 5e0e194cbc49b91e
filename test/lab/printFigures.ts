/** Prints the figures of a measurement, as `prove-rl bench` does. */
import { createFigure, type BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import type { CliContext } from "../../src/cli/command.ts";

/** Prints one JSON line per row. Returns the exit code. */
export async function printFigures(
  rows: AsyncIterable<BenchmarkRow>,
  { signal, print }: CliContext,
): Promise<number> {
  for await (const row of rows) {
    signal.throwIfAborted();
    print(JSON.stringify(createFigure(row)));
  }
  return 0;
}
