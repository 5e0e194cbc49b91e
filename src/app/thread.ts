/**
 * The program of worker threads: makes the attempts of a shard of a synthesis, scores tasks, or
 * runs third-party servers.
 */
import { fileURLToPath } from "node:url";
import { workerData } from "node:worker_threads";
import { openShippedCatalog } from "./context.ts";

const openCatalog = (fixtureFolders: readonly string[]) =>
  openShippedCatalog(fixtureFolders, fileURLToPath(import.meta.url));

switch ((workerData as { kind?: string }).kind) {
  case "scoring":
    await (await import("./scoringThreads.ts")).runScoringThread(openCatalog);
    break;
  case "states":
    (await import("../mcp/connected/stateThread.ts")).runStateThread();
    break;
  default:
    await (await import("./shardThread.ts")).runShardThread(openCatalog);
}
