/**
 * Measures `bench synthesis`: the time, memory and bytes of synthesizing the paper's number of
 * tasks into a file, and the time of running every edge of every dependency graph on live sessions.
 */
import { rmSync, statSync } from "node:fs";
import { createTemporaryFolder } from "../../storage/temporaryFolders.ts";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { verifyEdges } from "../../synthesis/graph/verifyEdges.ts";
import { getDependencyGraph } from "../../synthesis/graph/dependencyGraph.ts";
import { runSynthesis } from "../../synthesis/pipeline/run/runSynthesis.ts";
import { formatProgress } from "../../synthesis/pipeline/report/report.ts";
import { readTemplates } from "../../synthesis/text/readTemplates.ts";
import { createVerificationSetup } from "../../synthesis/user/verificationSetup.ts";
import type { BenchmarkRow } from "./benchmark.ts";
import type { AppContext } from "../context.ts";
import { limitHeapGrowth, createShardStarter } from "../shardThread.ts";
import { listFixtureFolders } from "../resources.ts";

/** The paper's data set (section 3.2). */
const paperCount = 13_517;

export async function* measureSynthesis(context: AppContext): AsyncGenerator<BenchmarkRow> {
  yield { name: "synthesis.graph.audit", unit: "s", runs: [await measureVerification(context)] };
  const folder = createTemporaryFolder("bench");
  try {
    const file = join(folder, "paper.tasks.jsonl");
    const start = performance.now();
    await synthesizeForBench({ file, count: paperCount }, context);
    const seconds = (performance.now() - start) / 1000;
    yield { name: "synthesis.tasks", unit: "1/s", runs: [paperCount / seconds] };
    yield { name: "synthesis.time", unit: "s", runs: [seconds] };
    // of the whole process; maxRSS is in kibibytes on every platform
    const bytes = process.resourceUsage().maxRSS * 1024;
    yield { name: "synthesis.memory", unit: "MB", runs: [bytes / 1e6] };
    yield { name: "synthesis.file", unit: "MB", runs: [statSync(file).size / 1e6] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Synthesizes tasks into a file with the default options. */
export async function synthesizeForBench(
  {
    file,
    count,
    seed = 1,
  }: { readonly file: string; readonly count: number; readonly seed?: number },
  context: AppContext,
): Promise<void> {
  const { catalog, resources, prove, showProgress, printNote, signal } = context;
  const request = { file, count, seed };
  limitHeapGrowth();
  await runSynthesis(request, {
    catalog,
    resources,
    prove,
    createTeacher: () => undefined,
    startShard: createShardStarter({
      ...context,
      program: context.thread,
      request,
      fixtureFolders: listFixtureFolders(context),
    }),
    onProgress: it => showProgress(formatProgress(it)),
    onRemark: printNote,
    readClock: () => performance.now(),
    signal,
  });
}

/** Runs all edges of all servers once, and returns the seconds it took. */
async function measureVerification({
  catalog,
  resources,
  showProgress,
  signal,
}: AppContext): Promise<number> {
  const start = performance.now();
  for (const [name, server] of catalog.servers) {
    showProgress(`running the edges of ${name}`);
    const setup = createVerificationSetup({
      catalog,
      server: name,
      fixtures: catalog.listFixtures(name),
      templates: readTemplates(join(resources, "servers"), server),
      seed: 1,
    });
    for (const _ of verifyEdges(getDependencyGraph(server).edges, setup)) {
      // lets an interruption be noticed
      await setImmediate();
      signal.throwIfAborted();
    }
  }
  return (performance.now() - start) / 1000;
}
