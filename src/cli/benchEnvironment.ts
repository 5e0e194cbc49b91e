/**
 * Measures `bench environment` within processes: opening and forking a session, a recorded mix of
 * calls, and the memory of ten thousand live sessions. The mix has the calls of the teacher in
 * newly synthesized tasks on all servers, with a session for each trajectory.
 */
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import type { Session } from "../environment/session.ts";
import { UserError } from "../userError.ts";
import { recordCalls, type RecordedCalls } from "./benchRecording.ts";
import { startProgram, type Benchmark, type BenchmarkRow } from "./benchmark.ts";
import type { CliContext } from "./command.ts";

const trajectoriesPerServer = 20;
/** Passes over the mix before anything is measured: some fifty thousand calls. */
const warmUpPasses = 40;

/** Records about twenty trajectories on each server. */
const recordMix = (context: CliContext): Promise<readonly RecordedCalls[]> =>
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

export async function createEnvironmentBenchmarks(context: CliContext): Promise<Benchmark[]> {
  const { catalog, signal } = context;
  const all = { servers: [...catalog.servers.keys()].map(name => ({ name, fixture: "full" })) };
  const session = openSessionByName(catalog, { ...all, seed: 1 });
  const mix = await recordMix(context);
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

const crowd = { sessions: 10_000, writes: 10, maxCalls: 80 };

/**
 * Measures the heap that ten thousand live sessions add to that of one, each after ten writes. Uses
 * child processes, which collect their garbage first.
 */
export async function* measureMemory(signal: AbortSignal): AsyncGenerator<BenchmarkRow> {
  const runs: number[] = [];
  for (let run = 0; run < 3; run++) {
    const child = startProgram(["bench", "--crowd"], signal, ["--expose-gc"]);
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit") as Promise<[number | null]>,
    ]);
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`the process that measures memory failed: ${errors}`);
    runs.push(Number(output));
  }
  yield { name: "environment.sessions.memory", unit: "MB", runs };
}

/** Prints the mebibytes that live sessions take. Runs in a child process. */
export async function measureLiveSessions(context: CliContext): Promise<number> {
  const { gc } = globalThis;
  if (!gc)
    throw new UserError(
      "memory can be measured only when garbage collection is exposed",
      "run prove-rl bench environment, which exposes it",
    );
  const { catalog } = context;
  const busy = (await recordMix(context)).filter(it => growSession(catalog, it, 0) !== undefined);
  const live: Session[] = [growSession(catalog, busy[0]!, 0)!];
  gc();
  const before = process.memoryUsage().heapUsed;
  for (let i = 1; i < crowd.sessions; i++)
    live.push(growSession(catalog, busy[i % busy.length]!, i)!);
  gc();
  const after = process.memoryUsage().heapUsed;
  if (new Set(live.map(it => it.state)).size < crowd.sessions)
    throw new Error("two sessions share a state after ten writes");
  context.print(String((after - before) / 2 ** 20));
  return 0;
}

/**
 * Opens a session of a trajectory and repeats its calls until ten of them have written. Returns
 * undefined if they do not.
 */
function growSession(
  catalog: Catalog,
  { pins, calls }: RecordedCalls,
  seed: number,
): Session | undefined {
  const session = openSessionByName(catalog, { ...pins, seed });
  let writes = 0;
  for (let made = 0; made < crowd.maxCalls; made++) {
    const [name, args] = calls[made % calls.length]!;
    const before = session.state;
    session.call(name, args);
    if (session.state !== before && ++writes === crowd.writes) return session;
  }
  return undefined;
}
