/** The rows below "Attempts" in the Tasks view: trajectory files and runs with recorded attempts. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { ProveFolder } from "../../../src/editor/shared/proveFolder.ts";
import { createRunConfig } from "../../../src/run/createRunConfig.ts";
import { formatTrajectory } from "../../../src/trajectory/trajectory.ts";
import { moveFifty } from "../../trajectory/sampleTasks.ts";
import { createVscode } from "../fakeVscode.ts";

const createUri = (path: string) => ({ fsPath: path, path, toString: () => `file://${path}` });

vi.mock("vscode", () => ({
  ...createVscode(),
  Uri: {
    from: (parts: object) => parts,
    joinPath: (folder: { readonly path: string }, name: string) =>
      createUri(join(folder.path, name)),
  },
  workspace: {
    fs: {
      readDirectory: async ({ path }: { readonly path: string }) =>
        readdirSync(path).map(it => [it, 1]),
    },
  },
}));

const { createAttemptsItem, listAttemptsNodes } =
  await import("../../../src/editor/tasks/attemptNodes.ts");

const root = mkdtempSync(join(tmpdir(), "prove-attempts-"));
afterAll(() => rmSync(root, { recursive: true }));
const folder = {
  uri: createUri(root),
  getPart: (part: string) => createUri(join(root, part)),
} as unknown as ProveFolder;
for (const it of ["tasks", "runs/first/groups", "runs/silent"])
  mkdirSync(join(root, it), { recursive: true });

const list = async () => {
  const [node] = await listAttemptsNodes(folder);
  if (node?.kind !== "attempts") return [];
  return Promise.all([node, ...node.children].map(createAttemptsItem));
};

test("a workspace without attempts has no node for them", async () => {
  expect(await list()).toEqual([]);
});

test("one attempt opens as its transcript, several and those of a run as a table", async () => {
  const { trajectory } = await moveFifty();
  const text = formatTrajectory(trajectory);
  writeFileSync(join(root, "tasks/one.trajectory.jsonl"), text);
  writeFileSync(join(root, "tasks/two.trajectory.jsonl"), text.repeat(2));
  writeFileSync(join(root, "tasks/few.tasks.jsonl"), "");
  const config = createRunConfig({ startedAt: new Date(0), tasks: "few.tasks.jsonl" });
  for (const it of ["first", "silent"])
    writeFileSync(join(root, "runs", it, "run.json"), JSON.stringify(config));
  writeFileSync(join(root, "runs/first/groups/4.jsonl"), "");
  const rows = await list();
  expect(rows.map(it => [it.label, it.description, it.contextValue, it.command?.command])).toEqual([
    ["Attempts", "3 files and runs", "attempts", undefined],
    ["one", "1 attempt", "trajectoryFile", "vscode.open"],
    ["two", "2 attempts", "trajectoryFile", "prove.showAttempts"],
    ["first", "run · 1 recorded step", "recordedRun", "prove.showAttempts"],
  ]);
  writeFileSync(join(root, "tasks/one.trajectory.jsonl"), text.repeat(3));
  expect((await list())[1]).toMatchObject({
    description: "3 attempts",
    command: { command: "prove.showAttempts" },
  });
});
