/**
 * Files that version 0.3.0 wrote still open: tasks, rejected attempts, a report, a run with its
 * groups, a fixture and edge verdicts. `v0.3.0/scores.jsonl` is what that version scored.
 */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyFolder, run } from "../cli/program.ts";
import { indexTasks } from "../../src/editor/attempts/taskIndex.ts";
import { readMetrics, readRun } from "../../src/run/folder.ts";

const old = join(import.meta.dirname, "v0.3.0");
const taskFiles = ["prove/tasks/student.tasks.jsonl", "prove/tasks/paper.tasks.jsonl"];
const group = "prove/runs/old/groups/2.jsonl";

function copyWorkspace(): string {
  const folder = emptyFolder();
  cpSync(join(old, "prove"), join(folder, "prove"), { recursive: true });
  return folder;
}

test("every attempt replays", async () => {
  const { code, stderr } = await run(["replay", ...taskFiles, group], {
    cwd: copyWorkspace(),
  });
  expect(stderr).toContain("28 attempts, 100 calls");
  expect(code).toBe(0);
});

test("every attempt earns what it earned", async () => {
  const cwd = copyWorkspace();
  const args = [
    "score",
    ...taskFiles,
    group,
    "--tasks",
    taskFiles[0]!,
    "--profile",
    "paper",
    "--json",
  ];
  const { stdout } = await run(args, { cwd });
  // the words of the reasons may change, their number may not
  const parse = (text: string): unknown[] =>
    text
      .trim()
      .split("\n")
      .map(it => JSON.parse(it) as { why: readonly string[]; differences?: unknown })
      .map(it => ({ ...it, differences: undefined, why: it.why.length }));
  expect(parse(stdout)).toEqual(parse(readFileSync(join(old, "scores.jsonl"), "utf8")));
});

test("a run's settings and metrics are read", () => {
  const folder = join(old, "prove/runs/old");
  expect(readRun(folder)).toMatchObject({ method: "grpo", version: "0.3.0", steps: 2 });
  expect(readMetrics(folder).lines.map(it => it.step)).toEqual([1, 2]);
});

test("a synthesis does not continue an older file, because it accepts other tasks", async () => {
  const cwd = copyWorkspace();
  // the file was made without the workspace's own verdicts and fixture
  for (const it of ["graphs", "fixtures"]) rmSync(join(cwd, "prove", it), { recursive: true });
  const file = join(cwd, taskFiles[0]!);
  const whole = readFileSync(file, "utf8");
  const options = ["--preset", "student", "--servers", "banking,calendar,filesystem"];
  const { code, stderr } = await run(
    ["synthesize", "--out", file, "--count", "20", "--seed", "5", "--resume", ...options],
    { cwd },
  );
  expect(code).toBe(2);
  expect(stderr).toContain("by another version (task banking-5-0 differs)");
  expect(stderr).toContain("write to another file");
  expect(readFileSync(file, "utf8")).toBe(whole);
});

test("a session starts from an older fixture", async () => {
  const args = ["call", "banking_get_balance", `{"account_id":"acc_101"}`, "--fixture", "mine"];
  const { stdout } = await run([...args, "--json"], { cwd: copyWorkspace() });
  expect(JSON.parse(stdout)).toMatchObject({
    outcome: { kind: "ok", value: { name: "Everyday", balance: 3148.95 } },
  });
});

test("a workspace's verdicts on edges still count", async () => {
  const { stdout } = await run(["graph", "banking", "--json"], { cwd: copyWorkspace() });
  expect(stdout).toContain("not in our bank");
});

test("the Tasks view lists older tasks", async () => {
  const { entries } = await indexTasks(join(old, taskFiles[0]!));
  expect(entries).toHaveLength(12);
  expect(entries[0]).toMatchObject({ id: "banking-5-0" });
});
