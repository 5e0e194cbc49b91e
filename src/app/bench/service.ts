/**
 * Measures `bench service`: attempts at tasks over HTTP, with the service in a child process and
 * the load from here. An attempt repeats what the task's teacher did, call by call.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { synthesize } from "../../synthesis/pipeline/run/synthesize.ts";
import type { Task } from "../../trajectory/task.ts";
import { formatTaskLine } from "../../trajectory/task.ts";
import { listRequests, Load, sessionCount, type Run, type RunTasks } from "./serviceLoad.ts";
import { readUrl, rejectOnExit, startProgram, type BenchmarkRow } from "./benchmark.ts";
import type { AppContext } from "../context.ts";

const taskCount = 256;
const runCount = 5;

export async function* measureServedTasks(
  context: AppContext,
  /** Worker processes of the service. */
  workers: number,
): AsyncGenerator<BenchmarkRow> {
  const tasks = await synthesizeServedTasks(context);
  // the first run compiles the code
  const runTasks = Array.from({ length: runCount + 1 }, (_, run) => createRunTasks(tasks, run));
  const served = runTasks.flatMap(it => Object.values(it).flat());
  yield* useService(context, { tasks: served, workers }, async function* (url, service) {
    const load = new Load(url, context.catalog);
    const runs: Run[] = [];
    for (const [run, own] of runTasks.entries()) {
      context.showProgress(`measuring the service: run ${run} of ${runCount}`);
      runs.push(await Promise.race([load.measure(own), rejectOnExit(service)]));
    }
    load.close();
    yield* createRows(runs.slice(1));
  });
}

interface ServiceOptions {
  readonly tasks: readonly Task[];
  readonly workers: number;
  readonly nodeOptions?: readonly string[];
}

/** Starts the service in a child process, which is ended once it has been measured. */
export async function* useService(
  { program, signal }: AppContext,
  { tasks, workers, nodeOptions }: ServiceOptions,
  measure: (url: URL, service: ChildProcess) => AsyncGenerator<BenchmarkRow>,
): AsyncGenerator<BenchmarkRow> {
  const folder = mkdtempSync(join(tmpdir(), "prove-bench-"));
  try {
    const file = join(folder, "bench.tasks.jsonl");
    writeFileSync(file, tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
    const options = ["--port", "0", "--tasks", file, "--workers", String(workers)];
    const service = startProgram(
      [program, "serve", "--with-parent", ...options],
      signal,
      nodeOptions,
    );
    service.stderr.resume();
    try {
      yield* measure(await readUrl(service), service);
    } finally {
      service.kill();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Copies of the tasks under ids of their own, so that each part of a run has tasks that the service
 * has not seen, as each step of a training has.
 */
function createRunTasks(tasks: readonly Task[], run: number): RunTasks {
  const copy = (part: string) => tasks.map(it => ({ ...it, id: `${it.id}-${part}-${run}` }));
  return { shared: copy("shared"), alone: copy("alone"), aloneInBatches: copy("batches") };
}

function* createRows(runs: readonly Run[]): Generator<BenchmarkRow> {
  const row = (name: string, unit: string, get: (run: Run) => number): BenchmarkRow => ({
    name: `service.${name}`,
    unit,
    runs: runs.map(get),
  });
  yield row(`open.${sessionCount}`, "s", it => it.openSeconds);
  yield row("open.cpu", "µs", it => it.openCpu);
  yield row("calls.http", "1/s", it => it.http.rate);
  yield row("calls.http.p50", "ms", it => it.http.p50);
  yield row("calls.http.p99", "ms", it => it.http.p99);
  yield row("calls.http.cpu", "µs", it => it.http.cpu);
  yield row("calls.batches", "1/s", it => it.batches.rate);
  yield row("calls.batches.p50", "ms", it => it.batches.p50);
  yield row("calls.batches.p99", "ms", it => it.batches.p99);
  yield row("calls.batches.cpu", "µs", it => it.batches.cpu);
  yield row("calls.http.alone", "1/s", it => it.httpAlone.rate);
  yield row("calls.http.alone.cpu", "µs", it => it.httpAlone.cpu);
  yield row("calls.batches.alone", "1/s", it => it.batchesAlone.rate);
  yield row("calls.batches.alone.cpu", "µs", it => it.batchesAlone.cpu);
  yield row("calls.in-process.cpu", "µs", it => it.inProcessCpu);
  yield row("calls.http.of-in-process", "ratio", it => it.inProcessCpu / it.http.cpu);
  yield row("calls.batches.of-in-process", "ratio", it => it.inProcessCpu / it.batches.cpu);
  yield row("score", "1/s", it => it.scoreRate);
  yield row(`memory.${sessionCount}`, "MB", it => it.memoryFull);
  yield row("memory", "MB", it => it.memoryEmpty);
}

/** Calls of all kinds of tasks on all servers, as the teacher made them. */
export async function synthesizeServedTasks({
  catalog,
  resources,
  signal,
  showProgress,
}: AppContext): Promise<readonly Task[]> {
  const tasks: Task[] = [];
  const servers = [...catalog.servers.keys()];
  for await (const it of synthesize({ catalog, resources, seed: 1, servers, menu: "chain" })) {
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
    showProgress(`synthesizing tasks: ${tasks.length} of ${taskCount}`);
    if (it.kind === "rejected" || listRequests(it.task).length === 0) continue;
    tasks.push(it.task);
    if (tasks.length === taskCount) break;
  }
  return tasks;
}
