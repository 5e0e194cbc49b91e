/** What the Test Explorer reports about stored attempts. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkResults, checkSuccess } from "../../../src/editor/testExplorer/attemptChecks.ts";
import { openCatalog } from "../../../src/environment/catalog.ts";
import { loadServers } from "../../../src/servers/catalog.ts";
import { readTasks } from "../../../src/trajectory/file.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { Event, Trajectory } from "../../../src/trajectory/trajectory.ts";

const root = join(import.meta.dirname, "../../..");
const catalog = openCatalog(await loadServers(), [join(root, "resources/servers")]);
const tasks: Task[] = [];
for await (const it of readTasks(join(root, "resources/example/prove/tasks/example.tasks.jsonl")))
  tasks.push(it);
/** A task whose last turn is answered by calls. */
const task = tasks.find(it => it.goals.length > 1 && it.turns.length === 1)!;

const withEvents = (events: readonly Event[]): Trajectory => ({ ...task.trajectory, events });

describe("a task of the example", () => {
  test.each(tasks.map(it => [it.id, it] as const))("%s passes both checks", (_, it) => {
    expect(checkResults(catalog, { trajectory: it.trajectory })).toEqual({ kind: "passed" });
    expect(checkSuccess(catalog, { trajectory: it.trajectory, task: it })).toEqual({
      kind: "passed",
    });
  });
});

test("a result that was edited fails at its call, with what differs", () => {
  const event = task.trajectory.events.findIndex(it => it.kind === "call");
  const trajectory = withEvents(
    task.trajectory.events.map((it, i) =>
      i === event && it.kind === "call"
        ? { ...it, outcome: { kind: "ok", value: { edited: true } } }
        : it,
    ),
  );
  const result = checkResults(catalog, { trajectory });
  expect(result).toMatchObject({ kind: "failed", event });
  expect(result).toHaveProperty("difference.expected", expect.stringContaining('"edited": true'));
  expect(result).toHaveProperty("difference.actual", expect.not.stringContaining("edited"));
});

test("an attempt that makes no call has no success, and the message says what is missing", () => {
  const trajectory = withEvents(task.trajectory.events.filter(it => it.kind !== "call"));
  expect(checkResults(catalog, { trajectory })).toEqual({ kind: "passed" });
  expect(checkSuccess(catalog, { trajectory, task })).toEqual({
    kind: "failed",
    message: expect.stringMatching(/^(?!no success).+/) as string,
  });
});

test("what cannot be checked is no failure: a task that is gone, a fixture that is gone", () => {
  const { trajectory } = task;
  expect(checkSuccess(catalog, { trajectory })).toEqual({
    kind: "errored",
    message: `its task ${task.id} was not found`,
  });
  const servers = trajectory.header.servers.map(it => ({ ...it, fixture: "gone" }));
  const moved = { ...trajectory, header: { ...trajectory.header, servers } };
  expect(checkResults(catalog, { trajectory: moved })).toMatchObject({
    kind: "errored",
    message: expect.stringContaining("gone") as string,
  });
});
