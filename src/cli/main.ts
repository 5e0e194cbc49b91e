#!/usr/bin/env node
/**
 * The terminal program. As a worker thread, it makes the attempts of a shard of a synthesis or
 * scores tasks.
 */
import { fileURLToPath } from "node:url";
import { isMainThread, workerData } from "node:worker_threads";
import { commands } from "./commands.ts";
import { openShippedCatalog, runProgram } from "./program.ts";

if (isMainThread) process.exitCode = await runProgram(commands, fileURLToPath(import.meta.url));
else if ((workerData as { kind?: string }).kind === "scoring")
  await (await import("../app/scoringThreads.ts")).runScoringThread(openShippedCatalog);
else await (await import("../app/shardThread.ts")).runShardThread(openShippedCatalog);
