/**
 * The status of a run without a trainer, from its files, and the index of its recorded attempts.
 */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { indexGroups } from "../../../src/editor/attempts/groupIndex.ts";
import { RunMonitor } from "../../../src/editor/runs/runMonitor.ts";
import { defaultSftSettings } from "../../../src/run/config.ts";
import { appendMetrics, writeEnd, type RunEnd } from "../../../src/run/folder.ts";
import type { StepMetrics } from "../../../src/run/metrics.ts";
import { getLogFile } from "../../../src/run/start.ts";
import { acquireTrainerLock, reserveTrainerLock } from "../../../src/run/locks.ts";
import { UserError } from "../../../src/userError.ts";

const root = mkdtempSync(join(tmpdir(), "prove-watch-"));
afterAll(() => rmSync(root, { recursive: true }));

let folder = "";
let n = 0;
beforeEach(() => {
  folder = join(root, `run-${++n}`);
  mkdirSync(folder);
  const config = {
    format: "prove/run@1",
    version: "0.1.0",
    began: "2026-03-09T09:00:00.000Z",
    method: "sft",
    tasks: "/gone.tasks.jsonl",
    split: "train",
    seed: 1,
    backend: "auto",
    workers: 2,
    steps: 5,
    saveEvery: 50,
    profile: "paper",
    keepGroups: 0,
    sft: defaultSftSettings,
  };
  writeFileSync(join(folder, "run.json"), JSON.stringify(config));
});

const createStep = (step: number): StepMetrics => ({
  step,
  method: "sft",
  loss: 1 / step,
  gradientNorm: 1,
  learningRate: 1e-3,
  tokens: 100,
  taught: 20,
  conversations: 4,
  seconds: { learning: 1, total: 1 },
});

const check = (steps: number, end: RunEnd | undefined, expected: object) => {
  for (let step = 1; step <= steps; step++) appendMetrics(folder, createStep(step));
  if (end) writeEnd(folder, end);
  const monitor = new RunMonitor(folder);
  expect(monitor.status).toMatchObject({ step: steps, steps: 5, ...expected });
  monitor.dispose();
};

test("the status of a run that was never started", () =>
  check(0, undefined, { state: "ready", activity: "prepared, not started yet" }));
test("the status of a run whose trainer was killed before its first step", () => {
  writeFileSync(getLogFile(folder), "");
  check(0, undefined, {
    state: "interrupted",
    activity: "ended unexpectedly before its first step",
  });
});
test("the status of a run whose trainer was killed", () =>
  check(3, undefined, { state: "interrupted", activity: "ended unexpectedly after step 3" }));
test("the status of a run while this window or another one starts its trainer", () => {
  const monitor = new RunMonitor(folder);
  monitor.setStarting(true);
  expect(monitor.status).toMatchObject({ state: "starting", activity: "starting the trainer" });
  monitor.setStarting(false);
  expect(monitor.status.state).toBe("ready");
  reserveTrainerLock(folder, process.pid);
  monitor.readFiles();
  expect(monitor.status.state).toBe("starting");
  monitor.dispose();
});
test("the status of a run that is trained where this window does not connect", () => {
  appendMetrics(folder, createStep(1));
  const release = acquireTrainerLock(folder, join(root, "no.sock"));
  const monitor = new RunMonitor(folder);
  expect(monitor.status).toMatchObject({
    state: "unknown",
    step: 1,
    activity: `process ${process.pid} trains it, which this window cannot follow`,
  });
  release();
  monitor.readFiles();
  expect(monitor.status.state).toBe("interrupted");
  monitor.dispose();
});
test("the status of a run that was stopped", () =>
  check(3, { by: "stop", step: 3 }, { state: "stopped", activity: "stopped after step 3" }));
test("the status of a run that has done its steps", () =>
  check(5, { by: "steps", step: 5 }, { state: "finished", activity: "5 steps done" }));
test("the status of a run that has used its time", () =>
  check(4, { by: "time", step: 4 }, { state: "finished", activity: "4 steps in its time" }));
test("the status of a run that failed has the error and its remedy", () =>
  check(
    2,
    { by: "failed", step: 2, what: "the disk is full", remedy: "free some space" },
    { state: "failed", activity: "the disk is full: free some space" },
  ));

test("the steps of a training with TRL or verl are followed in its files", () => {
  const file = join(folder, "run.json");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), engine: "trl" }));
  const monitor = new RunMonitor(folder);
  expect(monitor.status).toMatchObject({
    state: "ready",
    activity: "prepared for TRL, not started yet",
  });
  const steps: number[] = [];
  monitor.onChange(it => {
    if (it.kind === "steps") steps.push(...it.steps.map(({ step }) => step));
  });
  appendMetrics(folder, createStep(1));
  monitor.readFiles();
  appendMetrics(folder, createStep(2));
  monitor.readFiles();
  monitor.readFiles();
  expect(steps).toEqual([1, 2]);
  expect(monitor.status).toMatchObject({
    state: "unknown",
    activity: "step 2, trained with TRL outside this editor",
  });
  writeEnd(folder, { by: "steps", step: 2 });
  monitor.readFiles();
  expect(monitor.status).toMatchObject({ state: "finished", activity: "2 steps done" });
  monitor.dispose();
});

test("a run whose engine was started here is starting, training, then as its files say", () => {
  const file = join(folder, "run.json");
  writeFileSync(
    file,
    JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), engine: "verl" }),
  );
  appendMetrics(folder, createStep(1));
  const monitor = new RunMonitor(folder);
  monitor.setEngineState("training");
  expect(monitor.status).toMatchObject({ state: "starting", step: 1 });
  appendMetrics(folder, createStep(2));
  monitor.readFiles();
  expect(monitor.status).toMatchObject({ state: "training", activity: "step 2 of 5" });
  monitor.setEngineState("stopping");
  expect(monitor.status).toMatchObject({ state: "stopping", activity: "verl is ending" });
  writeEnd(folder, {
    by: "failed",
    step: 2,
    what: "verl ended with code 1",
    remedy: "see the log",
  });
  monitor.setEngineState(undefined);
  expect(monitor.status).toMatchObject({
    state: "failed",
    activity: "verl ended with code 1: see the log",
  });
  monitor.dispose();
});

test("an incomplete last line of the metrics is skipped", () => {
  appendMetrics(folder, createStep(1));
  appendFileSync(join(folder, "metrics.jsonl"), '{"step":2,"met');
  const monitor = new RunMonitor(folder);
  expect(monitor.steps.map(it => it.step)).toEqual([1]);
  monitor.dispose();
});

test("a folder without run.json is refused, and so is a request without a trainer", async () => {
  expect(() => new RunMonitor(root)).toThrow(/is not a run folder/);
  const monitor = new RunMonitor(folder);
  expect(await monitor.attach()).toBe(false);
  await expect(monitor.request("pause")).rejects.toMatchObject({
    what: expect.stringContaining("no trainer is running"),
    remedy: expect.stringContaining("resume"),
  });
  monitor.dispose();
});

test("recorded attempts are grouped by task; an incomplete line is counted", async () => {
  const file = join(folder, "3.jsonl");
  const createLine = (task: string, attempt: number, total: number) =>
    JSON.stringify({
      task,
      attempt,
      advantage: total - 1,
      success: total > 1,
      breakdown: { total, n: 2 },
    });
  writeFileSync(
    file,
    [
      createLine("t-1", 0, 1.3),
      createLine("t-1", 1, 0.5),
      createLine("t-2", 0, 1),
      '{"task":"t-',
    ].join("\n"),
  );
  const { groups, torn } = await indexGroups(file);
  expect(torn).toBe(1);
  expect(
    groups.map(it => [
      it.task,
      it.entries.map(({ number, total, success, calls }) => [number, total, success, calls]),
    ]),
  ).toEqual([
    [
      "t-1",
      [
        [1, 1.3, true, 2],
        [2, 0.5, false, 2],
      ],
    ],
    ["t-2", [[3, 1, false, 2]]],
  ]);
});

test("a run whose folder is gone keeps what was read, and says so until it is back", () => {
  appendMetrics(folder, createStep(1));
  const monitor = new RunMonitor(folder);
  const changes: string[] = [];
  monitor.onChange(it => changes.push(`${it.kind}: ${monitor.status.state}`));
  renameSync(folder, `${folder}-moved`);
  for (let n = 0; n < 2; n++) expect(() => monitor.readFiles()).toThrow(UserError);
  expect(monitor.steps).toHaveLength(1);
  expect(monitor.status).toMatchObject({
    state: "unreadable",
    activity: "its folder was deleted or moved; what is shown was read before",
  });
  renameSync(`${folder}-moved`, folder);
  monitor.readFiles();
  expect(changes).toEqual(["status: unreadable", "status: interrupted"]);
  monitor.dispose();
});
