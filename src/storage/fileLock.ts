/**
 * Who trains in a run folder, and where to reach it: trainer.lock holds the socket's address, the
 * process id and when that process began, because ids are given again. Knows nothing of what is
 * said over the socket.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { UserError } from "../userError.ts";
import { writeWhole } from "./disk.ts";

const lockSchema = z.object({
  format: z.literal("prove/lock@1"),
  pid: z.int().min(1),
  began: z.string(),
  address: z.string(),
});

export interface Lock {
  readonly pid: number;
  /** When the process began, in the words of its operating system. */
  readonly began: string;
  /** A Unix socket's path or a named pipe. */
  readonly address: string;
}

export const lockFile = (folder: string) => join(folder, "trainer.lock");

/**
 * The lock of a trainer that lives. A lock whose process has gone, or whose id another process has
 * now, is stale: undefined.
 */
export function readLock(folder: string): Lock | undefined {
  let text: string;
  try {
    text = readFileSync(lockFile(folder), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const parsed = lockSchema.safeParse(jsonOf(text));
  if (!parsed.success) return undefined;
  return beganAt(parsed.data.pid) === parsed.data.began ? parsed.data : undefined;
}

/** Takes the folder for this process. Throws a `Mistake` where a living trainer has it. */
export function takeLock(folder: string, address: string): void {
  const held = readLock(folder);
  if (held && held.pid !== process.pid)
    throw new UserError(
      `${folder} is being trained by process ${held.pid}`,
      "attach to it, stop it first, or choose another folder",
    );
  writeWhole(
    lockFile(folder),
    `${JSON.stringify({ format: "prove/lock@1", pid: process.pid, began: beganAt(process.pid), address })}\n`,
  );
}

export const releaseLock = (folder: string): void => rmSync(lockFile(folder), { force: true });

/** When a process began, or undefined where there is none of that id. */
export function beganAt(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      // the 22nd field, counted after the command's name, which may hold anything
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      return fields[0] === "Z"
        ? undefined
        : `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[19]}`;
    }
    if (process.platform === "win32")
      return asked("powershell", [
        "-NoProfile",
        "-Command",
        `(Get-Process -Id ${pid}).StartTime.Ticks`,
      ]);
    return asked("ps", ["-o", "lstart=", "-p", String(pid)]);
  } catch {
    return undefined; // there is no such process
  }
}

const asked = (program: string, args: readonly string[]) =>
  execFileSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 10_000,
  }).trim() || undefined;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a lock that was torn while it was written locks nothing
  }
}
