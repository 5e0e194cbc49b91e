/**
 * `memory`: measures the heap that ten thousand live sessions take, each
 * after ten writes. Each measurement has a process of its own, which collects its garbage first.
 */
import { once } from "node:events";
import { json, text } from "node:stream/consumers";
import { openSessionByName, type Catalog } from "../../src/environment/catalog.ts";
import { createRandom } from "../../src/environment/random.ts";
import type { Session } from "../../src/environment/session.ts";
import { UserError } from "../../src/userError.ts";
import {
  openUnreadCatalog,
  recordDataset,
  recordMix,
  type RecordedCalls,
} from "../../src/app/bench/environment.ts";
import { defineCommand, flag, type CliContext } from "../../src/cli/command.ts";
import { printFigures } from "./printFigures.ts";
import { startProgram, type BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import type { AppContext } from "../../src/app/context.ts";

const crowd = { sessions: 10_000, writes: 10, maxCalls: 80 };

/** The heap beyond that of one session, with the fixtures that the sessions share. */
async function* measureMemory(context: AppContext): AsyncGenerator<BenchmarkRow> {
  const { signal, showProgress } = context;
  // the mix has no renumbered fixtures, the data set has
  const mix = await recordMix(context);
  const dataset = await recordDataset(context);
  showProgress("measuring the memory of live sessions");
  // after garbage collection the heap has the same size in every run: one is enough
  const [mixSize, datasetSize] = await Promise.all(
    [mix, dataset].map(it => measureInChild(it, signal)),
  );
  yield { name: "environment.sessions.memory", unit: "MB", runs: [mixSize!] };
  yield { name: "environment.sessions.memory.dataset", unit: "MB", runs: [datasetSize!] };
}

async function measureInChild(
  recorded: readonly RecordedCalls[],
  signal: AbortSignal,
): Promise<number> {
  const child = startProgram([process.argv[1]!, "memory", "--crowd"], signal, ["--expose-gc"]);
  child.stdin.end(JSON.stringify(recorded));
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit") as Promise<[number | null]>,
  ]);
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`the process that measures memory failed: ${errors}`);
  return Number(output);
}

/**
 * Prints the mebibytes that live sessions of the recorded calls on stdin take. Runs in a child
 * process.
 */
async function measureLiveSessions(context: CliContext): Promise<number> {
  const { gc } = globalThis;
  if (!gc)
    throw new UserError(
      "memory can be measured only when garbage collection is exposed",
      "leave out --crowd",
    );
  const catalog = openUnreadCatalog(context);
  const recorded = (await json(context.stdin)) as readonly RecordedCalls[];
  let order = createRandom(1, "bench").shuffle(recorded);
  let before: number | undefined;
  const live: Session[] = [];
  while (live.length < crowd.sessions) {
    const busy = new Set<RecordedCalls>();
    for (const it of order) {
      const session = growSession(catalog, it, live.length);
      if (!session) continue;
      busy.add(it);
      live.push(session);
      if (live.length === crowd.sessions) break;
      if (before !== undefined) continue;
      gc();
      before = process.memoryUsage().heapUsed;
    }
    // those that do not write enough are not tried again
    order = order.filter(it => busy.has(it));
    if (order.length === 0) throw new Error("no recorded calls can be repeated for ten writes");
  }
  gc();
  const after = process.memoryUsage().heapUsed;
  if (new Set(live.map(it => it.state)).size < crowd.sessions)
    throw new Error("two sessions share a state after ten writes");
  context.print(String((after - before!) / 2 ** 20));
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
    // what has not written once does not write when it is repeated
    if (writes === 0 && made === calls.length) return undefined;
  }
  return undefined;
}

export const memory = defineCommand({
  name: "memory",
  description: "Measure the heap of ten thousand live sessions, each after ten writes.",
  arguments: [],
  options: {
    crowd: flag("--crowd", "print the memory of live sessions of the calls on stdin", {
      isHidden: true,
    }),
  },
  examples: ["memory"],
  run: (context, _positionals, { crowd: isChild }) =>
    isChild ? measureLiveSessions(context) : printFigures(measureMemory(context), context),
});
