/**
 * A process that tries to take the trainer's lock of each folder it is sent, and answers whether it
 * got the lock. It keeps every lock until it ends.
 */
import { UserError } from "../../src/userError.ts";
import { acquireTrainerLock } from "../../src/run/locks.ts";

process.on("message", (folder: string) => {
  process.send!(tryToAcquire(folder));
});

function tryToAcquire(folder: string): boolean {
  try {
    acquireTrainerLock(folder, "/nowhere");
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
