/**
 * A lock file that names the process holding it, by id and start time. A lock whose process has
 * ended is stale and can be taken over.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { UserError } from "../userError.ts";
import { isMissing, toReadError, toWriteError } from "./fileErrors.ts";
import { findProcessStart } from "./processStart.ts";

const lockFormat = "prove/lock@1";

const lockSchema = z.object({
  format: z.literal(lockFormat),
  pid: z.int().min(1),
  began: z.string(),
  address: z.string().optional(),
});

export interface Lock {
  readonly pid: number;
  /** When the process began, in the words of its operating system. */
  readonly began: string;
  /** Where the process listens: the path of a Unix socket or a named pipe. */
  readonly address?: string | undefined;
}

export interface LockOptions {
  readonly address?: string;
  /** The error for a lock that a running process holds. */
  readonly createConflict: (pid: number) => UserError;
}

/** The lock of a running process; undefined where there is none, or a stale or torn one. */
export function readLock(file: string): Lock | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw toReadError(file, error);
  }
  const { data } = lockSchema.safeParse(parseText(text));
  return data && findProcessStart(data.pid) === data.began ? data : undefined;
}

/** Takes a lock for this process and returns the function that releases it. */
export function acquireLock(file: string, { address, createConflict }: LockOptions): () => void {
  const lock = {
    format: lockFormat,
    pid: process.pid,
    began: findProcessStart(process.pid),
    ...(address === undefined ? {} : { address }),
  };
  mkdirSync(dirname(file), { recursive: true });
  for (let attempt = 0; attempt < 3; attempt++)
    try {
      writeFileSync(file, `${JSON.stringify(lock)}\n`, { flag: "wx" });
      return () => rmSync(file, { force: true });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw toWriteError(file, cause);
      const holder = readLock(file);
      if (holder) throw createConflict(holder.pid);
      rmSync(file, { force: true });
    }
  throw new UserError(
    `other processes keep taking ${file}`,
    "wait until no other process writes there",
  );
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a lock that was torn while it was written does not count
  }
}
