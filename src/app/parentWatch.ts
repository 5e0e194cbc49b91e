/**
 * Ends a forked process that its parent has left behind. The process computes, so a thread of its
 * own watches: the event loop would notice only after the computation.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** How often the thread looks, and how long the process may then take to end by itself. */
const [intervalMs, graceMs] = [250, 1_500];

/**
 * Ends this process by SIGKILL soon after its parent has ended, unless it ends by itself. Windows
 * does not give a process another parent, so the old one is looked for there. Resolves once the
 * thread watches: it may not be able to start while the process computes.
 */
export async function endWithParent(): Promise<void> {
  const thread = new Worker(program, {
    eval: true,
    workerData: { parent: process.ppid, intervalMs, graceMs },
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
  });
  await once(thread, "message");
  thread.unref();
}

/** A text, because a file would have to be found beside the program, which is bundled. */
const program = `
const { parentPort, workerData } = require("node:worker_threads");
const { parent, intervalMs, graceMs } = workerData;
const isGone = () => {
  if (process.ppid !== parent) return true;
  try {
    process.kill(parent, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
};
const timer = setInterval(() => {
  if (!isGone()) return;
  clearInterval(timer);
  setTimeout(() => process.kill(process.pid, "SIGKILL"), graceMs);
}, intervalMs);
parentPort.postMessage("watching");
`;
