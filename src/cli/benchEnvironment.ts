/**
 * The rows of `bench environment` that need no wire: opening, forking, a recorded mix of calls, and
 * what ten thousand live sessions weigh. The mix is what a teacher called in freshly synthesized
 * tasks on all servers, a session for each trajectory, as in use.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import type { Session } from "../environment/session.ts";
import { UserError } from "../userError.ts";
import { synthesize } from "../synthesis/pipeline/synthesize.ts";
import type { Benchmark } from "./benchmark.ts";
import type { BenchmarkRow } from "./benchServing.ts";
import type { CliContext } from "./command.ts";

type Pins = Parameters<typeof openSessionByName>[1];

/** What was called in one trajectory, and what its session was opened on. */
interface Recorded {
  readonly pins: Pins;
  readonly calls: readonly (readonly [name: string, args: unknown])[];
}

const perServer = 20;
/** Of the mix before anything is measured: some fifty thousand calls. */
const passes = 40;

/** About twenty trajectories on each server. */
async function recordedMix({
  catalog,
  resources,
  signal,
}: CliContext): Promise<readonly Recorded[]> {
  const servers = [...catalog.servers.keys()];
  const mix: Recorded[] = [];
  for await (const it of synthesize({
    catalog,
    resources,
    seed: 1,
    servers,
    menu: "chain",
    preset: "student",
    variantsPerFixture: 0,
  })) {
    await setImmediate();
    signal.throwIfAborted();
    if (it.kind === "rejected") continue;
    const { servers: pinned, seed, menu, trajectory } = it.task;
    const calls = trajectory.events.flatMap(event =>
      event.kind === "call" ? [[event.name, event.arguments] as const] : [],
    );
    if (calls.length > 0)
      mix.push({ pins: { servers: pinned, seed, menu: menu.map(item => item.name) }, calls });
    if (mix.length === perServer * servers.length) break;
  }
  return mix;
}

const timed = (run: () => void): number => {
  const start = performance.now();
  run();
  return (performance.now() - start) / 1000;
};

const repeat = (n: number, run: (i: number) => void) =>
  timed(() => {
    for (let i = 0; i < n; i++) run(i);
  });

export async function createEnvironmentBenchmarks(terminal: CliContext): Promise<Benchmark[]> {
  const { catalog } = terminal;
  const all = { servers: [...catalog.servers.keys()].map(name => ({ name, fixture: "full" })) };
  const session = openSessionByName(catalog, { ...all, seed: 1 });
  const mix = await recordedMix(terminal);
  // fixtures are read at their first use, and code is compiled once it has been seen to
  // be used
  for (let pass = 0; pass < passes; pass++) {
    for (const it of mix) play(catalog, it);
    // lets an interruption be noticed
    await setImmediate();
    terminal.signal.throwIfAborted();
  }
  let at = 0;
  return [
    // each opening gives another seed, so that no two are the same session
    {
      name: "environment.open",
      unit: "µs",
      value: micros,
      work: n => repeat(n, i => openSessionByName(catalog, { ...all, seed: i })),
    },
    {
      name: "environment.fork",
      unit: "µs",
      value: micros,
      work: n => repeat(n, () => session.fork()),
    },
    {
      // arguments validated, digests on, whole trajectories one after another
      name: "environment.calls.in-process",
      unit: "1/s",
      value: it => 1 / it,
      work(n) {
        let made = 0;
        const seconds = timed(() => {
          while (made < n) made += play(catalog, mix[at++ % mix.length]!);
        });
        return (seconds * n) / made;
      },
    },
  ];
}

const micros = (seconds: number) => seconds * 1e6;

function play(catalog: Catalog, { pins, calls }: Recorded): number {
  const session = openSessionByName(catalog, pins);
  for (const [name, args] of calls) session.call(name, args);
  return calls.length;
}

const crowd = { sessions: 10_000, writes: 10, mostCalls: 80 };

/**
 * What ten thousand live sessions take of the heap beyond one, each after ten writes: in a process
 * of its own, whose garbage is collected first.
 */
export async function* measureMemory(signal: AbortSignal): AsyncGenerator<BenchmarkRow> {
  const runs: number[] = [];
  for (let run = 0; run < 3; run++) {
    const child = spawn(process.execPath, ["--expose-gc", process.argv[1]!, "bench", "--crowd"], {
      stdio: ["ignore", "pipe", "inherit"],
      signal,
    });
    const [said, [code]] = await Promise.all([
      text(child.stdout),
      once(child, "exit") as Promise<[number]>,
    ]);
    if (code !== 0)
      throw new UserError(
        "the process that measures memory ended badly",
        "read what it said above",
      );
    runs.push(Number(said));
  }
  yield { name: "environment.sessions.memory", unit: "MB", runs };
}

/** Prints the megabytes. */
export async function measureLiveSessions(terminal: CliContext): Promise<number> {
  const { gc } = globalThis;
  if (!gc)
    throw new UserError(
      "memory can be measured only when garbage collection is exposed",
      "run prove-rl bench environment, which exposes it",
    );
  const { catalog } = terminal;
  const busy = (await recordedMix(terminal)).filter(it => grown(catalog, it, 0) !== undefined);
  const live: Session[] = [grown(catalog, busy[0]!, 0)!];
  gc();
  const before = process.memoryUsage().heapUsed;
  for (let i = 1; i < crowd.sessions; i++) live.push(grown(catalog, busy[i % busy.length]!, i)!);
  gc();
  const after = process.memoryUsage().heapUsed;
  if (new Set(live.map(it => it.state)).size < crowd.sessions)
    throw new Error("two sessions share a state after ten writes");
  terminal.print(String((after - before) / 2 ** 20));
  return 0;
}

/**
 * A session on all servers of a trajectory after ten writes of its calls, made again and again;
 * undefined where they do not come together.
 */
function grown(catalog: Catalog, { pins, calls }: Recorded, seed: number): Session | undefined {
  const session = openSessionByName(catalog, { ...pins, seed });
  let writes = 0;
  for (let made = 0; made < crowd.mostCalls; made++) {
    const [name, args] = calls[made % calls.length]!;
    const before = session.state;
    session.call(name, args);
    if (session.state !== before && ++writes === crowd.writes) return session;
  }
  return undefined;
}
