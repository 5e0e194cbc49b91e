/** Attacks through files: folders that others use too, and files that are not what they claim. */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { getTrainerLockFile } from "../../src/run/trainerLock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-security-"));
  return () => rmSync(folder, { recursive: true });
});

const rounds = 100;

test.each([
  ["an empty folder", undefined],
  ["a folder whose last trainer was killed", "stale"],
])("two trainers do not write to one run: %s", { timeout: 60_000 }, async (_, state) => {
  const contenders = Array.from({ length: 6 }, () =>
    fork(join(import.meta.dirname, "lockContender.ts")),
  );
  onTestFinished(() => contenders.forEach(it => void it.kill()));
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  const winners: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const run = mkdtempSync(join(folder, "run-"));
    if (state === "stale")
      writeFileSync(
        getTrainerLockFile(run),
        JSON.stringify({ format: "prove/lock@1", pid: gone.pid, began: "then", address: "/x" }),
      );
    const answers = contenders.map(it => once(it, "message") as Promise<[boolean]>);
    for (const it of contenders) it.send(run);
    winners.push((await Promise.all(answers)).filter(([won]) => won).length);
    expect(readdirSync(run)).toEqual(["trainer.lock"]);
  }
  expect(winners).toEqual(Array.from({ length: rounds }, () => 1));
});
