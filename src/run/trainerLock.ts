/** The lock of a run folder, trainer.lock: which process trains there, and where it listens. */
import { join } from "node:path";
import { acquireLock, readLock } from "../storage/fileLock.ts";
import { UserError } from "../userError.ts";

export interface TrainerLock {
  readonly pid: number;
  /** The path of a Unix socket or a named pipe. */
  readonly address: string;
}

export const getTrainerLockFile = (folder: string): string => join(folder, "trainer.lock");

/** The lock of the trainer that is running on a folder, if there is one. */
export function readTrainerLock(folder: string): TrainerLock | undefined {
  const lock = readLock(getTrainerLockFile(folder));
  return lock?.address === undefined ? undefined : { pid: lock.pid, address: lock.address };
}

/**
 * Takes a run folder for this process and returns the function that releases it. Throws a
 * `UserError` where a running trainer holds it.
 */
export const acquireTrainerLock = (folder: string, address: string): (() => void) =>
  acquireLock(getTrainerLockFile(folder), {
    address,
    createConflict: pid =>
      new UserError(
        `${folder} is being trained by process ${pid}`,
        "attach to it, stop it first, or choose another folder",
      ),
  });
