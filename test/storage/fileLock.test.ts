/** The lock of a run folder, whose process is identified by its id and start time. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { attachTrainer } from "../../src/run/attach.ts";
import { acquireTrainerLock, readTrainerLock, getTrainerLockFile } from "../../src/run/locks.ts";
import { findProcessStart } from "../../src/storage/processes.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-lock-"));
});
const lockOf = (pid: number, began: string) =>
  writeFileSync(
    getTrainerLockFile(folder),
    JSON.stringify({ format: "prove/lock@1", pid, began, address: "/nowhere" }),
  );

describe("a lock", () => {
  test("is held until it is released", () => {
    const release = acquireTrainerLock(folder, "/somewhere");
    expect(readTrainerLock(folder)).toMatchObject({ pid: process.pid, address: "/somewhere" });
    release();
    expect(readTrainerLock(folder)).toBeUndefined();
  });

  test("of a process that has ended is stale and can be taken over", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    lockOf(child.pid!, "then");
    expect(readTrainerLock(folder)).toBeUndefined();
    acquireTrainerLock(folder, "/mine");
    expect(readTrainerLock(folder)?.pid).toBe(process.pid);
  });

  test("of another process with the same id is stale", () => {
    lockOf(process.pid, "long ago");
    expect(readTrainerLock(folder)).toBeUndefined();
  });

  test("of a running process cannot be taken", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    lockOf(child.pid!, findProcessStart(child.pid!)!);
    expect(() => acquireTrainerLock(folder, "/mine")).toThrow(
      `is being trained by process ${child.pid}`,
    );
    child.kill();
    await once(child, "exit");
    expect(readTrainerLock(folder)).toBeUndefined();
  });

  test("that is torn, or whose address does not answer, is not attached to", async () => {
    writeFileSync(getTrainerLockFile(folder), "{");
    expect(readTrainerLock(folder)).toBeUndefined();
    lockOf(process.pid, findProcessStart(process.pid)!);
    expect(await attachTrainer(folder)).toBeUndefined();
  });
});
