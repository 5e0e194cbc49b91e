/** The tasks files that a training offers first. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Uri } from "vscode";
import { formatCounts, listFittingFiles } from "../../../src/editor/runs/fittingFiles.ts";
import { indexTasks } from "../../../src/editor/attempts/taskIndex.ts";
import { taskFormat, type Task } from "../../../src/trajectory/task.ts";

const root = mkdtempSync(join(tmpdir(), "prove-fitting-"));
afterAll(() => rmSync(root, { recursive: true }));

interface Line {
  readonly servers: readonly string[];
  readonly split?: Task["split"];
}

/** Writes a tasks file that was changed at a time. */
function createFile(name: string, time: number, lines: readonly Line[]): Uri {
  const file = join(root, name);
  const tasks = lines.map(({ servers, split = "train" }, i) => ({
    format: taskFormat,
    id: `t-${i}`,
    turns: [{ user: "Hello" }],
    kind: "normal",
    split,
    servers: servers.map(it => ({ name: it })),
    goals: [],
  }));
  writeFileSync(file, tasks.map(it => `${JSON.stringify(it)}\n`).join(""));
  utimesSync(file, time, time);
  return { fsPath: file } as Uri;
}

const files = [
  createFile("a-old.tasks.jsonl", 1000, [{ servers: ["banking"] }]),
  createFile("b-unknown.tasks.jsonl", 4000, [{ servers: ["banking", "crm"] }]),
  createFile("c-held-out.tasks.jsonl", 5000, [{ servers: ["banking"], split: "heldout-chain" }]),
  createFile("d-new.tasks.jsonl", 3000, [{ servers: ["crm"] }, { servers: ["calendar"] }]),
  { fsPath: join(root, "e-gone.tasks.jsonl") } as Uri,
];

async function list(kind: "student" | "hugging-face", servers: readonly string[]) {
  const found = await listFittingFiles(files, { kind, servers }, it => indexTasks(it.fsPath));
  return found.map(it => basename(it.file.fsPath, ".tasks.jsonl"));
}

test("files with tasks to train on for the student, the newest first", async () => {
  expect(await list("student", ["banking", "calendar"])).toEqual(["d-new", "a-old"]);
  expect(await list("student", ["vehicle"])).toEqual([]);
});

test("a model that reads how servers work fits all tasks to train on", async () => {
  expect(await list("hugging-face", [])).toEqual(["b-unknown", "d-new", "a-old"]);
});

test("the tasks that fit are counted, and how many of them are held out", async () => {
  const mixed = createFile("mixed.tasks.jsonl", 6000, [
    { servers: ["banking"] },
    { servers: ["banking"], split: "heldout-chain" },
    { servers: ["banking", "crm"] },
    { servers: ["crm"], split: "heldout-server" },
  ]);
  const student = { kind: "student", servers: ["banking"] } as const;
  const [found] = await listFittingFiles([mixed], student, it => indexTasks(it.fsPath));
  expect(found).toEqual({ file: mixed, train: 1, heldOut: 1 });
  expect(formatCounts(found!)).toBe("2 tasks, 1 held out");
  expect(formatCounts({ train: 1, heldOut: 0 })).toBe("1 task, none held out");
});
