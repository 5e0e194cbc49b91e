/** Selecting attempts, comparing them, and finding the teacher's attempt at the same task. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import type { Uri } from "vscode";
import { Comparison } from "../../../src/editor/comparison/comparison.ts";
import type { AttemptLocation } from "../../../src/editor/attempts/storedLocation.ts";
import { readAttempt } from "../../../src/editor/attempts/storedAttempt.ts";
import type { OpenAttempt } from "../../../src/editor/attempts/transcripts.ts";
import { createRunConfig } from "../../../src/run/createRunConfig.ts";
import { formatTaskLine } from "../../../src/trajectory/task.ts";
import { formatTrajectory } from "../../../src/trajectory/trajectory.ts";
import { moveFifty } from "../../trajectory/sampleTasks.ts";

interface FakeAddress {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
}

/** The commands that were run, with their arguments. */
const ran = vi.hoisted(() => [] as (readonly unknown[])[]);

vi.mock("vscode", async () => ({
  ...(await import("../fakeVscode.ts")).createVscode(),
  commands: { executeCommand: async (...call: unknown[]) => void ran.push(call) },
  workspace: {
    getWorkspaceFolder: (it: FakeAddress) => (it.path.startsWith(tmpdir()) ? {} : undefined),
  },
  Uri: {
    file: (path: string) => ({ path }),
    from: (it: FakeAddress) => ({ ...it, toString: () => `${it.scheme}:${it.path}?${it.query}` }),
  },
}));

const { findRow } = await import("../../../src/editor/comparison/attemptSubject.ts");
const { createTranscriptUri, getNodeUri } =
  await import("../../../src/editor/attempts/attemptLocation.ts");

const root = mkdtempSync(join(tmpdir(), "prove-compare-"));
afterAll(() => rmSync(root, { recursive: true }));
const task = await moveFifty();
const file = join(root, "few.tasks.jsonl");
const line = `${formatTaskLine(task)}\n`;
writeFileSync(file, line);
const range = { number: 1, offset: 0, bytes: Buffer.byteLength(line) - 1 };

const run = join(root, "first-1");
mkdirSync(join(run, "groups"), { recursive: true });
const config = createRunConfig({ startedAt: new Date(0), tasks: file });
writeFileSync(join(run, "run.json"), JSON.stringify(config));
const trajectory = { ...task.trajectory, header: { ...task.trajectory.header, policy: "small" } };
const events = trajectory.events.filter(it => it.kind !== "call");
const attempt = JSON.stringify({ trajectory: { ...trajectory, events } });
writeFileSync(join(run, "groups/2.jsonl"), `${attempt}\n`);
const loose = join(root, "loose.trajectory.jsonl");
writeFileSync(loose, formatTrajectory(trajectory).repeat(2));

const address = (location: AttemptLocation, name: string) => createTranscriptUri(location, name);
const ofTask = address({ kind: "task", file, line: range }, task.id);
const ofRun = address(
  { kind: "group", run, step: 2, line: { ...range, bytes: attempt.length } },
  "t attempt 1",
);
const findTask = async (id: string) => (id === task.id ? task : undefined);

let comparison: Comparison;
beforeEach(() => {
  ran.length = 0;
  comparison = new Comparison(
    { findEntry: async () => undefined },
    {
      resolveUri: it => it as Uri,
      read: async uri => (await readAttempt(uri, findTask)) as OpenAttempt,
    },
  );
});
const listDiffs = () => ran.filter(it => it[0] === "vscode.diff").map(it => it.slice(1));

test("an attempt is compared with the selected one, as often as wanted", async () => {
  await comparison.select(ofTask);
  expect(ran).toContainEqual(["setContext", "prove.isAttemptSelected", true]);
  await comparison.compareWithSelected(ofRun);
  await comparison.compareWithSelected(ofRun);
  expect(listDiffs()).toEqual([
    [ofTask, ofRun, `${task.id} ↔ t attempt 1`],
    [ofTask, ofRun, `${task.id} ↔ t attempt 1`],
  ]);
});

test("without a selected attempt, the error says what to do", async () => {
  await expect(comparison.compareWithSelected(ofRun)).rejects.toMatchObject({
    what: "no attempt is selected",
  });
});

test("an attempt is not compared with itself", async () => {
  await comparison.select(ofRun);
  await expect(comparison.compareWithSelected(ofRun)).rejects.toMatchObject({
    what: "this attempt is the selected one",
  });
});

test("in a table, the first attempt is selected and the second compared with it", async () => {
  const selected: (Uri | undefined)[] = [];
  comparison.onDidSelect(() => selected.push(comparison.selected));
  await comparison.selectOrCompare(ofTask);
  await comparison.selectOrCompare(ofRun);
  expect(selected).toEqual([ofTask, undefined]);
  expect(listDiffs()).toHaveLength(1);
  expect(ran.at(-2)).toEqual(["setContext", "prove.isAttemptSelected", false]);
});

test("in a table, choosing the selected attempt again selects none", async () => {
  await comparison.selectOrCompare(ofTask);
  await comparison.selectOrCompare(ofTask);
  expect(comparison.selected).toBeUndefined();
  expect(listDiffs()).toEqual([]);
});

test("a table finds the row of the selected attempt, if it lists it", () => {
  const step2 = { step: 2, line: 1 };
  expect(findRow({ kind: "tasks", path: file }, ofTask)).toEqual({ line: 1 });
  expect(findRow({ kind: "run", path: run }, ofRun)).toEqual(step2);
  expect(findRow({ kind: "run", path: run, step: 2 }, ofRun)).toEqual(step2);
  const second = address({ kind: "file", file: loose, attempt: 1 }, "loose attempt 2");
  expect(findRow({ kind: "trajectories", path: loose }, second)).toEqual({ attempt: 1 });
  const first = address({ kind: "file", file: loose }, "loose");
  expect(findRow({ kind: "trajectories", path: loose }, first)).toEqual({ attempt: 0 });
  const other = { kind: "tasks", path: join(root, "other.tasks.jsonl") } as const;
  for (const uri of [ofTask, ofRun, first]) expect(findRow(other, uri)).toBeUndefined();
});

test("an attempt of a run is compared with the teacher's at its task", async () => {
  await comparison.compareWithTeacher(ofRun);
  const [[left, right, title]] = listDiffs() as [[Uri, Uri, string]];
  expect([right, title]).toEqual([ofRun, `${task.id} teacher ↔ t attempt 1`]);
  expect((await readAttempt(left, findTask)).trajectory).toEqual(task.trajectory);
  expect((await readAttempt(right, findTask)).trajectory.events).toEqual(events);
});

test("a task's own attempt is the teacher's", async () => {
  await expect(comparison.compareWithTeacher(ofTask)).rejects.toMatchObject({
    what: "this attempt is the teacher's own",
  });
});

test("an attempt whose task is gone has no teacher", async () => {
  const uri = address({ kind: "file", file: loose }, "loose");
  await expect(comparison.compareWithTeacher(uri)).rejects.toMatchObject({
    what: `the task ${task.id} was not found`,
  });
});

test("a row of a table names its attempt, if its files are in the workspace", () => {
  const row = { line: { ...range, bytes: attempt.length }, step: 2, attempt: 0, task: "t" };
  const subject = (path: string) => JSON.stringify({ kind: "run", path });
  const found = getNodeUri({ kind: "row", subject: subject(run), row });
  expect(String(found)).toBe(String(ofRun));
  expect(() => getNodeUri({ kind: "row", subject: subject("/etc/first-1"), row })).toThrow(
    "the file of a page is not in the workspace",
  );
  expect(() => getNodeUri({ kind: "row", subject: subject(run), row: {} })).toThrow("line");
});

test("each attempt of a trajectory file has its own address", async () => {
  const second = address({ kind: "file", file: loose, attempt: 1 }, "loose attempt 2");
  expect((await readAttempt(second, findTask)).trajectory.header.policy).toBe("small");
  const third = address({ kind: "file", file: loose, attempt: 2 }, "loose attempt 3");
  await expect(readAttempt(third, findTask)).rejects.toMatchObject({
    what: `${loose} has 2 attempts`,
  });
});
