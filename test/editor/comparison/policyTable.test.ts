/** What the page that compares policies receives: columns in order, and those that are gone. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { AttemptRow } from "../../../src/protocol/attemptsPage.ts";
import type { MatrixView } from "../../../src/protocol/matrixPage.ts";
import { paperProfile } from "../../../src/reward/profiles.ts";
import { UserError } from "../../../src/userError.ts";
import { createVscode } from "../fakeVscode.ts";

vi.mock("vscode", () => createVscode());

const { PolicyTable } = await import("../../../src/editor/comparison/matrixPages.ts");

const folder = mkdtempSync(join(tmpdir(), "prove-policies-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const createRow = (task: string, policy: string, success: boolean): AttemptRow => ({
  line: { number: 1, offset: 0, bytes: 1 },
  key: "0123456789abcdef",
  task,
  request: "Pay the rent.",
  servers: [],
  policy,
  calls: 0,
  scores: {},
  success,
  total: Number(success),
});

/** A table of trajectory files with these attempts, and of a run. */
async function openTable(files: Readonly<Record<string, readonly AttemptRow[]>>) {
  const subjects = Object.keys(files).map(name => {
    if (name === "first-1") mkdirSync(join(folder, name), { recursive: true });
    else writeFileSync(join(folder, `${name}.trajectory.jsonl`), "");
    return name === "first-1"
      ? ({ kind: "run", path: join(folder, name) } as const)
      : ({ kind: "trajectories", path: join(folder, `${name}.trajectory.jsonl`) } as const);
  });
  const table = new PolicyTable(
    { subjects },
    async ({ path }, _profile, send) => {
      const [, rows] = Object.entries(files).find(([name]) => path.includes(name))!;
      if (rows.length === 0) throw new UserError("it has no recorded attempts", "choose another");
      send({ rows, weights: {} });
    },
    () => paperProfile,
  );
  const views: MatrixView[] = [];
  table.attach({ sendEvent: (_name, view) => void views.push(view) });
  await expect.poll(() => views.at(-1)?.isComparing).toBe(false);
  return { table, views };
}

const readColumns = ({ policies }: MatrixView) => policies.map(it => [it.name, it.success]);

test("each file and run is a column, and so is each policy of a file that has several", async () => {
  const { views } = await openTable({
    mixed: [createRow("a", "small", true), createRow("a", "careless", false)],
    "first-1": [createRow("a", "student", true)],
  });
  expect(readColumns(views.at(-1)!)).toEqual([
    ["mixed: small", 1],
    ["mixed: careless", 0],
    ["first-1", 1],
  ]);
  expect(views.map(it => [it.progress.left, it.isComparing])).toEqual([
    [1, true],
    [0, true],
    [0, false],
  ]);
});

test("the policy that the others are compared with comes first, also after a reload", async () => {
  const { table, views } = await openTable({
    one: [createRow("a", "small", true)],
    two: [createRow("a", "small", false)],
  });
  table.setFirst(1);
  expect(readColumns(views.at(-1)!).map(([name]) => name)).toEqual(["two", "one"]);
  await expect.poll(() => views.at(-1)!.policies[1]!.change).toEqual({ tasks: 1 });
  expect(views.at(-1)!.policies[0]!.change).toBeUndefined();
  expect(JSON.parse(views.at(-1)!.subject)).toMatchObject({ first: "1 small" });
  expect(table.getPolicy(0)).toMatchObject({ name: "small", subject: { kind: "trajectories" } });
});

test("a run that is deleted keeps its column and says so; its attempts cannot be listed", async () => {
  const { table, views } = await openTable({
    one: [createRow("a", "small", true)],
    "first-1": [createRow("a", "student", false)],
  });
  rmSync(join(folder, "first-1"), { recursive: true });
  table.check();
  const problem = "the run first-1 was deleted";
  expect(views.at(-1)!.policies[1]).toMatchObject({ name: "first-1", success: 0, problem });
  expect(views.at(-1)!.policies[0]!.problem).toBeUndefined();
  expect(() => table.getPolicy(1)).toThrow("the attempts of first-1 cannot be listed");
  mkdirSync(join(folder, "first-1"));
  table.check();
  expect(views.at(-1)!.policies[1]!.problem).toBeUndefined();
});

test("a run without recorded attempts says so, and the others are compared", async () => {
  const { table } = await openTable({
    one: [createRow("a", "small", true)],
    "first-1": [],
    two: [createRow("a", "small", false)],
  });
  // the folder changes elsewhere
  table.check();
  const { policies, rows } = table.load();
  expect(policies[1]).toMatchObject({ tasks: 0, problem: "it has no recorded attempts" });
  expect(rows[0]).toMatchObject({ task: "a", spread: 1 });
});
