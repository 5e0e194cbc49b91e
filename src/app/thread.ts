/** The program of worker threads: makes the attempts of a shard of a synthesis, or scores tasks. */
import { workerData } from "node:worker_threads";
import { openShippedCatalog } from "./context.ts";

if ((workerData as { kind?: string }).kind === "scoring")
  await (await import("./scoringThreads.ts")).runScoringThread(openShippedCatalog);
else await (await import("./shardThread.ts")).runShardThread(openShippedCatalog);
