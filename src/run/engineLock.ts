/** The lock of a run folder that an editor trains on another engine: the process of launch.py. */
import { basename, join } from "node:path";
import { acquireLock, readLock } from "../storage/fileLock.ts";
import { UserError } from "../userError.ts";

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
