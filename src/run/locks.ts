/**
 * The locks of a run folder: trainer.lock, with the process that trains there and where it listens,
 * and engine.lock, with the process of launch.py where an editor trains with TRL or verl.
 */
import { join, basename } from "node:path";
import { acquireLock, readLock } from "../storage/fileLock.ts";
import { UserError } from "../userError.ts";

interface TrainerLock {
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

/** The process that trains on a folder or is about to, if there is one. */
export function readTrainerProcess(
  folder: string,
): { readonly pid: number; readonly isStarting: boolean } | undefined {
  const lock = readLock(getTrainerLockFile(folder));
  return lock && { pid: lock.pid, isStarting: lock.address === undefined };
}

/**
 * Takes a run folder for a trainer that has just been started and does not listen yet. Throws a
 * `UserError` where another one trains.
 */
export function reserveTrainerLock(folder: string, pid: number): void {
  try {
    acquireLock(getTrainerLockFile(folder), {
      pid,
      createConflict: holder => createTrainerConflict(folder, holder),
    });
  } catch (error) {
    // the trainer may listen already
    if (readTrainerProcess(folder)?.pid !== pid) throw error;
  }
}

/**
 * Takes a run folder for this process and returns the function that releases it. Throws a
 * `UserError` where a running trainer holds it.
 */
export const acquireTrainerLock = (folder: string, address: string): (() => void) =>
  acquireLock(getTrainerLockFile(folder), {
    address,
    createConflict: pid => createTrainerConflict(folder, pid),
  });

const createTrainerConflict = (folder: string, pid: number): UserError =>
  new UserError(
    `${folder} is being trained by process ${pid}`,
    "attach to it, stop it first, or choose another folder",
  );

const getFile = (folder: string): string => join(folder, "engine.lock");

/** The process that trains on a folder, if there is one. */
export const readEngineLock = (folder: string): number | undefined =>
  readLock(getFile(folder))?.pid;

/**
 * Takes a run folder for the process `pid`, and returns the function that releases it. Throws a
 * `UserError` if another process trains there.
 */
export const acquireEngineLock = (folder: string, pid: number): (() => void) =>
  acquireLock(getFile(folder), {
    pid,
    createConflict: holder => createEngineConflict(folder, holder),
  });

export const createEngineConflict = (folder: string, pid: number): UserError =>
  new UserError(
    `${basename(folder)} is being trained already, by process ${pid} of another window`,
    "stop it first",
  );
