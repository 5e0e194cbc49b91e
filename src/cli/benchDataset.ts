/**
 * Measures `bench environment` on a synthesized data set as a trainer visits it: its sessions in
 * shuffled order, on a catalog that has read no fixture yet, so that opening is included.
 */
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { openCatalog, openSessionByName, type Catalog } from "../environment/catalog.ts";
import { createRandom } from "../environment/random.ts";
import type { Bfcl } from "./benchBfcl.ts";
import { recordCalls, type RecordedCalls } from "./benchRecording.ts";
import type { BenchmarkRow } from "./benchmark.ts";
import type { CliContext } from "./command.ts";

const runCount = 5;

/** Records the sessions of a data set on all servers. */
export const recordDataset = (
  context: CliContext,
  taskCount = 3_000,
): Promise<readonly RecordedCalls[]> =>
  recordCalls(context, taskCount, {
    servers: [...context.catalog.servers.keys()],
    menu: "chain",
    preset: "paper",
  });

/** With `bfcl`, plays as many calls there after each run, so that other load affects both. */
export async function* measureDataset(
  context: CliContext,
  recorded: readonly RecordedCalls[],
  bfcl?: Bfcl,
): AsyncGenerator<BenchmarkRow> {
  const { signal } = context;
  const runs: Visit[] = [];
  const bfclRates: number[] = [];
  // the first run compiles the code
  for (let run = 0; run <= runCount; run++) {
    const order = createRandom(run, "bench").shuffle(recorded);
    const visit = await visitAll(openUnreadCatalog(context), order, signal);
    const bfclRate = await bfcl?.measureCallRate(visit.callCount, run);
    if (run === 0) continue;
    runs.push(visit);
    if (bfclRate !== undefined) bfclRates.push(bfclRate);
  }
  const fixtures = new Set(
    recorded.flatMap(({ pins }) => pins.servers.map(it => `${it.name}/${it.fixture}`)),
  );
  yield { name: "environment.dataset.fixtures", unit: "", runs: [fixtures.size] };
  yield { name: "environment.calls.dataset", unit: "1/s", runs: runs.map(it => it.callRate) };
  if (bfcl) {
    yield { name: "environment.calls.bfcl", unit: "1/s", runs: bfclRates };
    yield {
      name: "environment.calls.dataset.of-bfcl",
      unit: "ratio",
      runs: runs.map((it, i) => it.callRate / bfclRates[i]!),
    };
  }
  yield { name: "environment.open.dataset.p50", unit: "µs", runs: runs.map(it => it.openMedian) };
  yield { name: "environment.open.dataset.p99", unit: "µs", runs: runs.map(it => it.openP99) };
}

/** A catalog of the same servers and folders that has read none of their fixtures. */
export const openUnreadCatalog = ({ catalog, prove, resources }: CliContext): Catalog =>
  openCatalog([...catalog.servers.values()], [join(prove, "fixtures"), join(resources, "servers")]);

interface Visit {
  readonly callCount: number;
  /** Calls a second, with the time of opening the sessions included. */
  readonly callRate: number;
  /** Microseconds. */
  readonly openMedian: number;
  readonly openP99: number;
}

/** Opens every session and makes its calls, one after the other. */
async function visitAll(
  catalog: Catalog,
  sessions: readonly RecordedCalls[],
  signal: AbortSignal,
): Promise<Visit> {
  const openTimes: number[] = [];
  let callCount = 0;
  const start = performance.now();
  for (const [i, { pins, calls }] of sessions.entries()) {
    if (i % 200 === 0) {
      // lets an interruption be noticed
      await setImmediate();
      signal.throwIfAborted();
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
