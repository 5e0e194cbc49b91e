/**
 * A lock file that names the process holding it, by id and start time. A lock whose process has
 * ended is stale and can be taken over.
 */
import { constants, copyFileSync, linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { UserError } from "../userError.ts";
import { renameOver } from "./atomicWrite.ts";
import { readIfExists, toWriteError } from "./fileErrors.ts";
import { findProcessStart } from "./processes.ts";
import { readTextFile } from "./textFiles.ts";

const lockFormat = "prove/lock@1";

const lockSchema = z.object({
  format: z.literal(lockFormat),
  pid: z.int().min(1),
  began: z.string(),
  address: z.string().optional(),
});

interface Lock {
  readonly pid: number;
  /** When the process began, in the words of its operating system. */
  readonly began: string;
  /** Where the process listens: the path of a Unix socket or a named pipe. */
  readonly address?: string | undefined;
}

interface LockOptions {
  /** The process that holds the lock; this one if absent. */
  readonly pid?: number;
  readonly address?: string;
  /** Of the lock file. */
  readonly mode?: number;
  /** The error for a lock that a running process holds. */
  readonly createConflict: (pid: number) => UserError;
}

/** The lock of a running process; undefined where there is none, or a stale or torn one. */
export function readLock(file: string): Lock | undefined {
  const text = readIfExists(file, () => readTextFile(file));
  if (text === undefined) return undefined;
  const { data } = lockSchema.safeParse(parseText(text));
  return data && findProcessStart(data.pid) === data.began ? data : undefined;
}

/**
 * Takes a lock for a process and returns the function that releases it. A lock without an address
 * that another process has taken for this one becomes its own, with its address.
 */
export function acquireLock(
  file: string,
  { pid = process.pid, address, mode, createConflict }: LockOptions,
): () => void {
  const lock = {
    format: lockFormat,
    pid,
    began: findProcessStart(pid),
    ...(address === undefined ? {} : { address }),
  };
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.tmp`;
  try {
    // what is there is of a process that was killed, or a link of somebody else
    rmSync(draft, { force: true });
    writeFileSync(draft, `${JSON.stringify(lock)}\n`, { mode, flag: "wx" });
    if (!publishFile(draft, file)) {
      const holder = readLock(file);
      if (holder?.pid === pid && holder.address === undefined && address !== undefined)
        renameOver(draft, file);
      else takeOverStaleLock(draft, file, createConflict);
    }
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw toWriteError(file, cause);
  } finally {
    rmSync(draft, { force: true });
  }
  return () => rmSync(file, { force: true });
}

/**
 * Replaces a lock whose process has ended. Only one process at a time does this, under a second
 * lock: removing the file is safe only while nobody else can have replaced it in between.
 */
function takeOverStaleLock(
  draft: string,
  file: string,
  createConflict: LockOptions["createConflict"],
): void {
  const holder = readLock(file);
  if (holder) throw createConflict(holder.pid);
  const guard = `${file}.takeover`;
  if (!publishFile(draft, guard)) {
    const other = readLock(guard);
    if (other) throw createConflict(other.pid);
    rmSync(guard, { force: true });
    throw new UserError(`${file} was left by a process that was killed`, "try again");
  }
  try {
    const newHolder = readLock(file);
    if (newHolder) throw createConflict(newHolder.pid);
    rmSync(file, { force: true });
    if (!publishFile(draft, file))
      throw new UserError(`another process has just taken ${file}`, "wait until it has finished");
  } finally {
    rmSync(guard, { force: true });
  }
}

/**
 * Gives a finished file its name, with all of its content at once, unless a file of that name
 * exists. A file that is created first and written afterwards could be read while it is empty.
 */
function publishFile(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    // FAT and some network file systems have no hard links
    if (!hasCode(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) throw error;
  }
  try {
    copyFileSync(draft, file, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? "");

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a lock that was torn while it was written does not count
  }
}
