/**
 * `long-sessions`: measures ten thousand calls on one session of each server,
 * whose cost should stay the same.
 */
import { setImmediate } from "node:timers/promises";
import { openSessionByName, type Catalog } from "../../src/environment/catalog.ts";
import { recordCalls, type RecordedCalls } from "../../src/app/bench/environment.ts";
import type { BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import type { AppContext } from "../../src/app/context.ts";

import { printFigures } from "./printFigures.ts";
import { defineCommand } from "../../src/cli/command.ts";

const callCount = 10_000;
const windowSize = 1_000;
const trajectoriesPerServer = 10;

/** The time of the last thousand calls as a multiple of the second thousand's, for each server. */
async function* measureLongSessions(context: AppContext): AsyncGenerator<BenchmarkRow> {
  const ratios: number[] = [];
  for (const server of context.catalog.servers.keys()) {
    const recorded = await recordCalls(context, trajectoriesPerServer, {
      servers: [server],
      menu: "chain",
      preset: "student",
      variantsPerFixture: 0,
    });
    // lets an interruption be noticed
    await setImmediate();
    context.signal.throwIfAborted();
    const times = repeatCalls(context.catalog, server, recorded);
    ratios.push(times.at(-1)! / times[1]!);
  }
  yield { name: "environment.calls.long-session", unit: "ratio", runs: ratios };
}

/** Repeats the calls in one session, and returns the seconds of each thousand. */
function repeatCalls(
  catalog: Catalog,
  server: string,
  recorded: readonly RecordedCalls[],
): readonly number[] {
  const calls = recorded.flatMap(it => it.calls);
  const session = openSessionByName(catalog, {
    servers: [{ name: server, fixture: "full" }],
    seed: 1,
  });
  const times: number[] = [];
  for (let i = 0; i < callCount; i += windowSize) {
    const start = performance.now();
    for (let k = 0; k < windowSize; k++) session.call(...calls[(i + k) % calls.length]!);
    times.push((performance.now() - start) / 1000);
  }
  return times;
}

export const longSessions = defineCommand({
  name: "long-sessions",
  description:
    "Make ten thousand calls in one session of each server, and compare the time of the last thousand with that of the second.",
  arguments: [],
  options: {},
  examples: ["long-sessions"],
  run: context => printFigures(measureLongSessions(context), context),
});
