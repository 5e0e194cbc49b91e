/**
 * Measures `bench environment` in process: opening and forking a session, and a recorded mix of
 * calls. The mix has the calls of the teacher in newly synthesized tasks on all servers, with a
 * session for each trajectory.
 */
import { setImmediate } from "node:timers/promises";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import { recordCalls, type RecordedCalls } from "./benchRecording.ts";
import type { Benchmark } from "./benchmark.ts";
import type { CliContext } from "./command.ts";

const trajectoriesPerServer = 20;
/** Passes over the mix before anything is measured: some fifty thousand calls. */
const warmUpPasses = 40;

/** Records about twenty trajectories on each server. */
export const recordMix = (context: CliContext): Promise<readonly RecordedCalls[]> =>
  recordCalls(context, trajectoriesPerServer * context.catalog.servers.size, {
    servers: [...context.catalog.servers.keys()],
    menu: "chain",
    preset: "student",
    variantsPerFixture: 0,
  });

const measureSeconds = (run: () => void): number => {
  const start = performance.now();
  run();
  return (performance.now() - start) / 1000;
};

const repeat = (n: number, run: (i: number) => void) =>
  measureSeconds(() => {
    for (let i = 0; i < n; i++) run(i);
  });

export async function createEnvironmentBenchmarks(
  { catalog, signal }: CliContext,
  mix: readonly RecordedCalls[],
): Promise<Benchmark[]> {
  const all = { servers: [...catalog.servers.keys()].map(name => ({ name, fixture: "full" })) };
  const session = openSessionByName(catalog, { ...all, seed: 1 });
  // fixtures are read when they are first used, and hot code is compiled
  for (let pass = 0; pass < warmUpPasses; pass++) {
    for (const it of mix) makeCalls(catalog, it);
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
  }
  let next = 0;
  return [
    // each has another seed, so that no two sessions are the same
    {
      name: "environment.open",
      unit: "µs",
      toFigure: toMicroseconds,
      work: n => repeat(n, i => openSessionByName(catalog, { ...all, seed: i })),
    },
    {
      name: "environment.fork",
      unit: "µs",
      toFigure: toMicroseconds,
      work: n => repeat(n, () => session.fork()),
    },
    {
      // with argument validation and digests, one whole trajectory after another
      name: "environment.calls.in-process",
      unit: "1/s",
      toFigure: it => 1 / it,
      work(n) {
        let calls = 0;
        const seconds = measureSeconds(() => {
          while (calls < n) calls += makeCalls(catalog, mix[next++ % mix.length]!);
        });
        return (seconds * n) / calls;
      },
    },
  ];
}

const toMicroseconds = (seconds: number) => seconds * 1e6;

/** Makes the calls in a new session, and returns how many there are. */
function makeCalls(catalog: Catalog, { pins, calls }: RecordedCalls): number {
  const session = openSessionByName(catalog, pins);
  for (const [name, args] of calls) session.call(name, args);
  return calls.length;
}
