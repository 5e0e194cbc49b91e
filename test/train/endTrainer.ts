/** Ends the trainers that a test has started, also when the test has failed or timed out. */
import { setTimeout as sleep } from "node:timers/promises";
import { readTrainerLock } from "../../src/run/locks.ts";

/** Kills the trainer of a run folder, if one is running, and waits until it has exited. */
export async function endTrainer(folder: string): Promise<void> {
  for (let lock = readTrainerLock(folder); lock; lock = readTrainerLock(folder)) {
    try {
      process.kill(lock.pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it has just exited
    }
    await sleep(20);
  }
}
