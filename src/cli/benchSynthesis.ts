/**
 * The rows of `bench synthesis`: the paper's number of tasks on all servers, written to a file as
 * anyone would, with what that takes in time, memory and bytes; and every edge of every dependency
 * graph run on live sessions.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { verifyEdges } from "../synthesis/graph/verifyEdges.ts";
import { getDependencyGraph } from "../synthesis/graph/dependencyGraph.ts";
import { readTemplates } from "../synthesis/text/templates.ts";
import { createVerificationSetup } from "../synthesis/user/edgeArguments.ts";
import type { BenchmarkRow } from "./benchServing.ts";
import type { CliContext } from "./command.ts";
import { synthesize } from "./synthesize.ts";

/** The paper's data set (section 3.2). */
const paperCount = 13_517;

export async function* measureSynthesis(terminal: CliContext): AsyncGenerator<BenchmarkRow> {
  yield { name: "synthesis.graph.audit", unit: "s", runs: [await measureVerification(terminal)] };
  const folder = mkdtempSync(join(tmpdir(), "prove-bench-"));
  try {
    const out = join(folder, "paper.tasks.jsonl");
    const start = performance.now();
    await synthesize.run({ ...terminal, print: () => {} }, [], {
      out,
      count: String(paperCount),
      seed: "1",
    });
    const seconds = (performance.now() - start) / 1000;
    yield { name: "synthesis.tasks", unit: "1/s", runs: [paperCount / seconds] };
    yield { name: "synthesis.time", unit: "s", runs: [seconds] };
    // of the whole process, kibibytes on every platform
    yield {
      name: "synthesis.memory",
      unit: "MB",
      runs: [(process.resourceUsage().maxRSS * 1024) / 1e6],
    };
    yield { name: "synthesis.file", unit: "MB", runs: [statSync(out).size / 1e6] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs all edges of all servers once, and returns the seconds that took. */
async function measureVerification({ catalog, resources, signal }: CliContext): Promise<number> {
  const start = performance.now();
  for (const [name, server] of catalog.servers) {
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
    const setup = createVerificationSetup({
      catalog,
      server: name,
      fixtures: catalog.listFixtures(name),
      templates: readTemplates(join(resources, "servers"), server),
      seed: 1,
    });
    for (const _ of verifyEdges(getDependencyGraph(server).edges, setup));
  }
  return (performance.now() - start) / 1000;
}
