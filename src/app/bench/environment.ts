/**
 * Measures `bench environment`: opening and forking a session, the calls of a recorded mix, and a
 * synthesized data set as a trainer visits it. Recorded are the calls of the teacher in newly
 * synthesized tasks on all servers, with a session for each trajectory.
 */
import { setImmediate } from "node:timers/promises";
import { openSessionByName, type Catalog, type SessionPins } from "../../environment/catalog.ts";
import { createRandom } from "../../environment/random.ts";
import { synthesize } from "../../synthesis/pipeline/run/synthesize.ts";
import type { AppContext } from "../context.ts";
import { listFixtureFolders } from "../resources.ts";
import { measureBenchmark, type Benchmark, type BenchmarkRow } from "./benchmark.ts";

export async function* measureEnvironment(
  context: AppContext,
  taskCount?: number,
): AsyncGenerator<BenchmarkRow> {
  const mix = await recordMix(context);
  for (const it of await createBenchmarks(context, mix))
    yield await measureBenchmark(it, context.signal);
  yield* measureDataset(context, await recordDataset(context, taskCount));
}

/** The calls of one trajectory, and what its session was opened on. */
export interface RecordedCalls {
  readonly pins: SessionPins;
  readonly calls: readonly (readonly [name: string, args: unknown])[];
}

type RecordingOptions = Pick<
  Parameters<typeof synthesize>[0],
  "servers" | "menu" | "preset" | "variantsPerFixture"
>;

/** Records this many trajectories that have calls. */
export async function recordCalls(
  { catalog, resources, signal, showProgress }: AppContext,
  count: number,
  options: RecordingOptions,
): Promise<readonly RecordedCalls[]> {
  const recorded: RecordedCalls[] = [];
  for await (const it of synthesize({ catalog, resources, seed: 1, ...options })) {
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
    showProgress(`recording calls: ${recorded.length} of ${count} trajectories`);
    if (it.kind === "rejected") continue;
    const { servers, seed, menu, trajectory } = it.task;
    const calls = trajectory.events.flatMap(event =>
      event.kind === "call" ? [[event.name, event.arguments] as const] : [],
    );
    if (calls.length > 0)
      recorded.push({ pins: { servers, seed, menu: menu.map(item => item.name) }, calls });
    if (recorded.length === count) break;
  }
  return recorded;
}

const trajectoriesPerServer = 20;
/** Passes over the mix before anything is measured: some fifty thousand calls. */
const warmUpPasses = 40;

/** Records about twenty trajectories on each server. */
export const recordMix = (context: AppContext): Promise<readonly RecordedCalls[]> =>
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

async function createBenchmarks(
  { catalog, signal }: AppContext,
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

/** Runs of the data set, after one that compiles the code. */
const runCount = 5;

/** Records the sessions of a data set on all servers. */
export const recordDataset = (
  context: AppContext,
  taskCount = 3_000,
): Promise<readonly RecordedCalls[]> =>
  recordCalls(context, taskCount, {
    servers: [...context.catalog.servers.keys()],
    menu: "chain",
    preset: "paper",
  });

async function* measureDataset(
  context: AppContext,
  recorded: readonly RecordedCalls[],
): AsyncGenerator<BenchmarkRow> {
  const runs: Visit[] = [];
  for (let run = 0; run <= runCount; run++) runs.push(await visitDataset(context, recorded, run));
  // this one compiled the code
  runs.shift();
  const fixtures = new Set(
    recorded.flatMap(({ pins }) => pins.servers.map(it => `${it.name}/${it.fixture}`)),
  );
  yield { name: "environment.dataset.fixtures", unit: "", runs: [fixtures.size] };
  yield { name: "environment.calls.dataset", unit: "1/s", runs: runs.map(it => it.callRate) };
  yield { name: "environment.open.dataset.p50", unit: "µs", runs: runs.map(it => it.openMedian) };
  yield { name: "environment.open.dataset.p99", unit: "µs", runs: runs.map(it => it.openP99) };
}

/** A catalog of the same servers and folders that has read none of their fixtures. */
export const openUnreadCatalog = (context: AppContext): Catalog =>
  context.catalog.reopen(listFixtureFolders(context));

interface Visit {
  readonly callCount: number;
  /** Calls a second, with the time of opening the sessions included. */
  readonly callRate: number;
  /** Microseconds. */
  readonly openMedian: number;
  readonly openP99: number;
}

/**
 * Opens every session and makes its calls, one after the other, in an order of the run's own and on
 * a catalog that has read no fixture yet.
 */
export async function visitDataset(
  context: AppContext,
  recorded: readonly RecordedCalls[],
  run: number,
): Promise<Visit> {
  const catalog = openUnreadCatalog(context);
  const sessions = createRandom(run, "bench").shuffle(recorded);
  const openTimes: number[] = [];
  let callCount = 0;
  const start = performance.now();
  for (const [i, { pins, calls }] of sessions.entries()) {
    if (i % 200 === 0) {
      // lets an interruption be noticed
      await setImmediate();
      context.signal.throwIfAborted();
    }
    const opening = performance.now();
    const session = openSessionByName(catalog, pins);
    openTimes.push(performance.now() - opening);
    for (const [name, args] of calls) session.call(name, args);
    callCount += calls.length;
  }
  const seconds = (performance.now() - start) / 1000;
  openTimes.sort((a, b) => a - b);
  const getQuantile = (q: number) => openTimes[Math.floor(q * openTimes.length)]! * 1000;
  return {
    callCount,
    callRate: callCount / seconds,
    openMedian: getQuantile(0.5),
    openP99: getQuantile(0.99),
  };
}
