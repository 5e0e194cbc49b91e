/**
 * The rows of the Tasks view: grouped, filtered, and with the rewards of the teachers. A fake of
 * the VS Code API stands in for the editor.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import type { Uri } from "vscode";
import { loadServers } from "../../../src/servers/catalog.ts";
import { openCatalog } from "../../../src/environment/catalog.ts";
import type { Grouping } from "../../../src/editor/tasks/taskGroups.ts";
import { readTasks } from "../../../src/trajectory/file.ts";
import { type Task, formatTaskLine } from "../../../src/trajectory/task.ts";
import { createVscode } from "../fakeVscode.ts";

vi.mock("vscode", () => createVscode());

const { TasksTree } = await import("../../../src/editor/tasks/tasksTree.ts");
const { TaskScores } = await import("../../../src/editor/tasks/taskScores.ts");
type Node = Awaited<ReturnType<InstanceType<typeof TasksTree>["getChildren"]>>[number];

const repository = join(import.meta.dirname, "../../..");
const shipped = join(repository, "resources/servers");
const catalog = openCatalog(await loadServers(), [shipped]);
const example: Task[] = [];
const exampleFile = "resources/example/prove/tasks/example.tasks.jsonl";
for await (const it of readTasks(join(repository, exampleFile))) example.push(it);
const withCalls = example.filter(it => it.kind === "normal" && it.servers.length === 1);
const first: Task = { ...withCalls[0]!, split: "train" };
const second: Task = { ...withCalls[1]!, kind: "clarify", split: "train" };
/** The first task again, whose teacher makes no call. */
const idle: Task = {
  ...first,
  id: "idle",
  split: "heldout-chain",
  trajectory: {
    header: { ...first.trajectory.header, task: "idle" },
    events: first.trajectory.events.filter(it => it.kind !== "call"),
  },
};

const root = mkdtempSync(join(tmpdir(), "prove-tree-"));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, "tasks"));
const file = join(root, "tasks/few.tasks.jsonl");
writeFileSync(file, [first, second, idle].map(it => `${formatTaskLine(it)}\n`).join(""));
const createUri = (path: string) =>
  ({ fsPath: path, path, toString: () => `file://${path}` }) as Uri;
const uri = createUri(file);
const fileNode: Node = { kind: "taskFile", file: uri };

let tree: InstanceType<typeof TasksTree>;
const createTree = (grouping: Grouping = "none") => {
  const dependencies = {
    extensionUri: uri,
    storageUri: undefined,
    folder: { uri: undefined, fixtureFolders: [shipped] },
    definitions: { openCatalog: async () => catalog },
  } as unknown as ConstructorParameters<typeof TaskScores>[0];
  tree = new TasksTree(dependencies.folder, new TaskScores(dependencies), grouping);
};
beforeEach(() => createTree());

const list = async (node: Node = fileNode) =>
  Promise.all(
    (await tree.getChildren(node)).map(async it => {
      const { label, description, id } = await tree.getTreeItem(it);
      return { node: it, label, description: String(description), id: id! };
    }),
  );

/** Waits until the rewards of the rows that were listed are known. */
const waitForScores = () =>
  new Promise<void>(resolve => {
    const subscription = tree.onDidChangeTreeData(() => {
      subscription.dispose();
      resolve();
    });
  });

test("a row shows servers, kind and length, and then the teacher's reward", async () => {
  const calls = first.goals.reduce((sum, it) => sum + it.calls.length, 0);
  const facts = `${first.servers[0]!.name} · normal · ${calls} call${calls === 1 ? "" : "s"}`;
  const before = await list();
  expect(before[0]!.description).toContain(facts);
  expect(before[0]!.description).not.toContain("reward");
  await waitForScores();
  const rows = await list();
  expect(rows[0]!.description).toMatch(/ · reward 2\.[3-5]\d*$/);
  expect(rows[1]!.description).toContain(second.kind);
  expect(rows[2]!.description).toMatch(/ · reward .* · no success$/);
});

test("tasks are grouped by a field, in groups with their own rows", async () => {
  tree.group("split");
  const groups = await list();
  expect(groups.map(it => [it.label, it.description])).toEqual([
    ["heldout-chain", "1 task"],
    ["train", "2 tasks"],
  ]);
  expect((await list(groups[1]!.node)).map(it => it.id)).toHaveLength(2);
});

test("a task on several servers is in the group of each, under another id", async () => {
  const both: Task = {
    ...first,
    servers: [...first.servers, { name: "weather", fixture: "full", digest: "" }],
  };
  writeFileSync(file.replace("few", "both"), `${formatTaskLine(both)}\n`);
  const path = file.replace("few", "both");
  const bothNode: Node = { kind: "taskFile", file: createUri(path) };
  createTree("server");
  const groups = await list(bothNode);
  expect(groups.map(it => it.label)).toEqual([first.servers[0]!.name, "weather"].toSorted());
  const ids = (await Promise.all(groups.map(it => list(it.node)))).flat().map(it => it.id);
  expect(new Set(ids).size).toBe(2);
});

test("grouped by success, failures come first", async () => {
  createTree("success");
  expect((await list()).map(it => [it.label, it.description])).toEqual([
    ["no success", "1 task"],
    ["success", "2 tasks"],
  ]);
});

test("a filter is shown, applies to groups, and can be cleared", async () => {
  createTree("kind");
  await tree.filter("split:heldout");
  expect(tree.filterText).toBe("split:heldout");
  expect((await list()).map(it => [it.label, it.description])).toEqual([["normal", "1 task"]]);
  await tree.filter("");
  expect(tree.filterText).toBe("");
  expect((await list()).length).toBe(2);
});

test("the name of a row that is read aloud is what it shows, and not its tooltip", async () => {
  const { accessibilityInformation } = await tree.getTreeItem(fileNode);
  expect(accessibilityInformation).toEqual({ label: "few, 3 tasks" });
});

test("while tasks of a file are made, its row says how many", async () => {
  createTree();
  tree.showMaking(file, { done: 925, total: 1000 });
  expect((await tree.getTreeItem(fileNode)).description).toBe("making 925 of 1,000 tasks");
  tree.showMaking(file, undefined);
  expect((await tree.getTreeItem(fileNode)).description).toBe("3 tasks");
  tree.dispose();
});
