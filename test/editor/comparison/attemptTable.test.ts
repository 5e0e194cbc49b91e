/** What the page of a table receives: all rows in order, the end, and new rows after a restart. */
import { expect, test, vi } from "vitest";
import type {
  AttemptRow,
  ScoredRows,
  ScoringEnd,
  SelectedAttempt,
} from "../../../src/protocol/attemptsPage.ts";
import { paperProfile } from "../../../src/reward/profiles.ts";
import type { ScoringResult } from "../../../src/run/scoreAttempts.ts";
import { UserError } from "../../../src/userError.ts";
import { createVscode } from "../fakeVscode.ts";

vi.mock("vscode", () => createVscode());

const { AttemptTable } = await import("../../../src/editor/comparison/attemptsPages.ts");
type Page = Parameters<InstanceType<typeof AttemptTable>["attach"]>[0];

const createRow = (task: string): AttemptRow => ({
  line: { number: 1, offset: 0, bytes: 1 },
  key: task,
  task,
  request: "",
  servers: [],
  policy: "",
  calls: 0,
  scores: {},
});

/** A table whose scoring the test drives, and what its page receives. */
function createTable() {
  const runs: {
    readonly send: (rows: ScoredRows) => void;
    readonly signal: AbortSignal;
    readonly resolve: (result: ScoringResult) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  const selection: { current: SelectedAttempt | null } = { current: null };
  const table = new AttemptTable(
    { kind: "tasks", path: "/w/prove/tasks/few.tasks.jsonl" },
    {
      score: (_, send, signal) =>
        new Promise((resolve, reject) => runs.push({ send, signal, resolve, reject })),
      getProfile: () => paperProfile,
      getSelected: () => selection.current,
      listNotes: () => ({ notes: {} }),
      count: () => Promise.resolve(7),
    },
  );
  const events: (readonly [name: string, body: unknown])[] = [];
  const page = { sendEvent: (...event: [string, unknown]) => void events.push(event) };
  table.attach(page as unknown as Page);
  const send = (run: number, ...tasks: readonly string[]) =>
    runs[run]!.send({ rows: tasks.map(createRow), weights: { validity: 0.5 } });
  const listTasks = () =>
    events.flatMap(([name, body]) =>
      name === "rows" ? (body as ScoredRows).rows.map(it => it.task) : [],
    );
  const findEnd = () => events.findLast(([name]) => name === "ended")?.[1] as ScoringEnd;
  return { table, selection, runs, events, send, listTasks, findEnd };
}

test("rows that are scored before and after the page has loaded arrive in order", async () => {
  const { table, runs, events, send, listTasks, findEnd } = createTable();
  send(0, "a", "b");
  expect(events).toEqual([]);
  expect(table.load()).toMatchObject({ title: "few", profile: "paper" });
  send(0, "c");
  runs[0]!.resolve({ skipped: 2 });
  await expect.poll(() => findEnd()).toEqual({ skipped: 2 });
  expect(listTasks()).toEqual(["a", "b", "c"]);
});

test("a page that is loaded again gets everything again", async () => {
  const { table, runs, send, listTasks, findEnd } = createTable();
  send(0, ...Array.from({ length: 1200 }, (_, i) => `task-${i}`));
  runs[0]!.resolve({ skipped: 0 });
  table.load();
  await expect.poll(() => findEnd()).toBeDefined();
  table.load();
  await expect.poll(() => listTasks()).toHaveLength(2400);
});

test("a restart voids the rows, and those of the earlier scoring are dropped", async () => {
  const { table, runs, events, send, listTasks, findEnd } = createTable();
  table.load();
  send(0, "old");
  await expect.poll(() => listTasks()).toEqual(["old"]);
  table.restart();
  expect(runs[0]!.signal.aborted).toBe(true);
  expect(events.at(-1)![0]).toBe("restarted");
  send(0, "late");
  send(1, "new");
  runs[1]!.resolve({ skipped: 0 });
  await expect.poll(() => findEnd()).toBeDefined();
  expect(listTasks()).toEqual(["old", "new"]);
  expect(table.getRow(0).task).toBe("new");
});

test("scoring that fails ends with what happened, and the rows so far stay", async () => {
  const { table, runs, send, listTasks, findEnd } = createTable();
  table.load();
  send(0, "a");
  runs[0]!.reject(new UserError("few.tasks.jsonl was not found", "restore it"));
  await expect.poll(() => findEnd()?.problem).toContain("few.tasks.jsonl was not found");
  expect(listTasks()).toEqual(["a"]);
});

test("a row that is void says so", () => {
  const { table } = createTable();
  expect(() => table.getRow(0)).toThrow("the attempts are being scored again");
});

test("a page that is loaded again is told which attempt is selected", () => {
  const { table, selection, events } = createTable();
  expect(table.load().selected).toBeNull();
  selection.current = { row: { line: 3 } };
  table.sendSelected();
  expect(events).toEqual([["selected", { row: { line: 3 } }]]);
  expect(table.load().selected).toEqual({ row: { line: 3 } });
});
