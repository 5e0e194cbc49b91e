/**
 * Who holds a run folder: a living process by id and beginning, never a dead one or its namesake.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { attach } from "../../src/run/attach.ts";
import { beganAt, lockFile, readLock, releaseLock, takeLock } from "../../src/storage/fileLock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-lock-"));
});
const lockOf = (pid: number, began: string) =>
  writeFileSync(
    lockFile(folder),
    JSON.stringify({ format: "prove/lock@1", pid, began, address: "/nowhere" }),
  );

describe("a lock", () => {
  test("is its holder's until it is released", () => {
    takeLock(folder, "/somewhere");
    expect(readLock(folder)).toMatchObject({ pid: process.pid, address: "/somewhere" });
    releaseLock(folder);
    expect(readLock(folder)).toBeUndefined();
  });

  test("of a process that has gone is stale, and can be taken", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    lockOf(child.pid!, "then");
    expect(readLock(folder)).toBeUndefined();
    takeLock(folder, "/mine");
    expect(readLock(folder)?.pid).toBe(process.pid);
  });

  test("of another process with the same id is stale", () => {
    lockOf(process.pid, "long ago");
    expect(readLock(folder)).toBeUndefined();
  });

  test("of a living process keeps others out", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    lockOf(child.pid!, beganAt(child.pid!)!);
    expect(() => takeLock(folder, "/mine")).toThrow(`is being trained by process ${child.pid}`);
    child.kill();
    await once(child, "exit");
    expect(readLock(folder)).toBeUndefined();
  });

  test("that is torn, or whose address nobody answers, leads to nobody", async () => {
    writeFileSync(lockFile(folder), "{");
    expect(readLock(folder)).toBeUndefined();
    lockOf(process.pid, beganAt(process.pid)!);
    expect(await attach(folder)).toBeUndefined();
  });
});
