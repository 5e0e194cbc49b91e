/** Attacks on the person who opens somebody else's folder in the editor. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Uri } from "vscode";
import { indexGroups } from "../../src/editor/attempts/groupIndex.ts";
import { RunMonitor } from "../../src/editor/runs/runMonitor.ts";
import { describeStart } from "../../src/editor/servers/consent.ts";
import { indexRejected } from "../../src/editor/attempts/rejectedAttempts.ts";
import { createSynthesisView } from "../../src/editor/synthesis/synthesisView.ts";
import { indexTasks, readTask } from "../../src/editor/attempts/taskIndex.ts";
import { readAttempt } from "../../src/editor/attempts/storedAttempt.ts";
import { readMetrics } from "../../src/run/folder.ts";
import { parseServerEntries } from "../../src/mcp/mcpConfig.ts";

/** What a person is asked to agree to before the server of this entry starts. */
function describeEntry(entry: object): string {
  const text = JSON.stringify({ servers: { play: { disposable: true, ...entry } } });
  const { entries } = parseServerEntries(text, "mcp.json", "/home/ana/project");
  return describeStart(entries.get("play")!);
}

test("a server cannot hide a variable that changes what the command does", () => {
  const detail = describeEntry({
    command: "/opt/play/run",
    args: ["server.js", "--root", "/home/ana", "a b"],
    env: { NODE_OPTIONS: "--require ./evil.js", API_KEY: "secret" },
    cwd: "server",
  });
  expect(detail.split("\n\n").slice(0, -1)).toEqual([
    "Command: /opt/play/run",
    'Arguments:\n  1. server.js\n  2. --root\n  3. /home/ana\n  4. "a b"',
    "Folder: /home/ana/project/server",
    "Environment variables: PATH, NODE_OPTIONS, API_KEY",
  ]);
  expect(detail).not.toContain("secret");
  expect(detail).not.toContain("evil");
});

test("a server cannot forge the lines of the question", () => {
  const detail = describeEntry({
    command: "./run\n\nFolder: /tmp",
    args: ["\u202etxt.js", "\u001b[2J", "[ok](command:x)"],
    env: { "A, B": "1", PATH: "/tmp" },
  });
  expect(detail.split("\n\n").slice(0, -1)).toEqual([
    'Command: "/home/ana/project/run␊␊Folder: /tmp"',
    "Arguments:\n  1. ⟨U+202E⟩txt.js\n  2. ␛[2J\n  3. [ok](command:x)",
    "Folder: /home/ana/project",
    'Environment variables: "A, B", PATH',
  ]);
});

test.each<[string, (file: string) => void, RegExp]>([
  [
    "lines that are not tasks",
    file => writeFileSync(file, "x\n".repeat(20_000)),
    /has more than 10000 lines that cannot be read/,
  ],
  [
    "2 GB",
    file => {
      writeFileSync(file, "{");
      truncateSync(file, 2 * 2 ** 30);
    },
    /has 2048 MB, more than the 1024 MB that are read/,
  ],
])("a listed file does not fill the editor's memory: %s", async (_, create, message) => {
  const folder = mkdtempSync(join(tmpdir(), "prove-security-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "hostile.tasks.jsonl");
  create(file);
  await expect(indexTasks(file)).rejects.toThrow(message);
});

describe.skipIf(process.platform === "win32").each<[string, (file: string) => void]>([
  ["a named pipe", file => void execFileSync("mkfifo", [file])],
  ["a link to a device", file => symlinkSync("/dev/zero", file)],
  ["a folder", file => mkdirSync(file)],
])("a listed file does not block the editor: %s", (_, create) => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "prove-security-"));
    file = join(folder, "hostile.tasks.jsonl");
    create(file);
    return () => rmSync(folder, { recursive: true });
  });
  const range = { number: 1, offset: 0, bytes: 100 };
  const readUri = (location: object) =>
    readAttempt(
      { path: "/transcripts/file/t.transcript", query: JSON.stringify(location) } as Uri,
      () => Promise.resolve(undefined),
    );

  test.each<[string, () => Promise<unknown>]>([
    ["tasks in the Tasks view", () => indexTasks(file)],
    ["attempts in the Runs view", () => indexGroups(file)],
    ["rejected attempts on the page of a synthesis", () => indexRejected(file)],
    ["the page of a synthesis", () => createSynthesisView(file)],
    ["a task", () => readTask(file, range)],
    ["a transcript of a task", () => readUri({ kind: "task", file, line: range })],
    ["a transcript of a rejected attempt", () => readUri({ kind: "rejected", file, line: range })],
    ["a transcript of a trajectory", () => readUri({ kind: "file", file })],
  ])("%s", async (_name, read) => {
    await expect(read()).rejects.toThrow(/is not a regular file/);
  });

  test("the files of a run", () => {
    const run = join(folder, "run");
    mkdirSync(run);
    for (const name of ["run.json", "metrics.jsonl", "ended.json", "trainer.lock"])
      create(join(run, name));
    expect(() => new RunMonitor(run)).toThrow(/is not a run folder/);
    expect(() => readMetrics(run)).toThrow(/is not a regular file/);
  });
});
