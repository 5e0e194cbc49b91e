/** Variants of a task are tasks of its shape about other things. */
import { beforeAll, expect, test } from "vitest";
import { getTaskShape, synthesizeVariants } from "../../../src/synthesis/pipeline/variants.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/doors.ts";
import { made, resources } from "../made.ts";

let tasks: Task[];
beforeAll(async () => {
  ({ tasks } = await made(60, {
    servers: [...catalog.servers.keys()],
    preset: "paper",
    crossServerShare: 0.3,
    seed: 5,
  }));
});

async function listed(task: Task, count: number, seed = 1): Promise<Task[]> {
  const all: Task[] = [];
  for await (const it of synthesizeVariants(task, { catalog, resources, seed, count }))
    all.push(it);
  return all;
}

const sorts: [what: string, is: (it: Task) => boolean][] = [
  [
    "a talk in which all is said",
    it => it.kind === "normal" && it.info === "complete" && it.knobs["bridges"] === undefined,
  ],
  [
    "a talk in which something has to be asked",
    it => it.kind === "normal" && it.info === "missing",
  ],
  ["a terse talk", it => it.kind === "normal" && it.info === "minimal"],
  ["a talk over several servers", it => it.knobs["bridges"] !== undefined],
  ["a talk that lacks a tool", it => it.kind === "clarify"],
  ["a talk in which nothing can be done", it => it.kind === "irrelevant"],
  ["a question that needs no tool", it => it.kind === "abstain"],
];

test.each(sorts)("%s", async (_, is) => {
  let most: { task: Task; variants: Task[] } | undefined;
  // a rare talk may have no like; three of a sort have
  for (const task of tasks.filter(is).slice(0, 3)) {
    const variants = await listed(task, 4);
    if (variants.length > (most?.variants.length ?? -1)) most = { task, variants };
    if (variants.length === 4) break;
  }
  const { task, variants } = most!;
  expect(variants).toHaveLength(4);
  const calls = (it: Task) =>
    JSON.stringify(listCalls(it.trajectory).map(call => [call.name, call.arguments]));
  for (const it of variants) {
    expect([it.kind, it.info, it.turns.length, it.split]).toEqual([
      task.kind,
      task.info,
      task.turns.length,
      task.split,
    ]);
    expect(it.goals.map(goal => [goal.turn, goal.calls.map(call => call.name)])).toEqual(
      task.goals.map(goal => [goal.turn, goal.calls.map(call => call.name)]),
    );
    expect(getTaskShape(it)).toBe(getTaskShape(task));
    expect(it.turns.map(turn => turn.user)).not.toEqual(task.turns.map(turn => turn.user));
    expect(checkReplay(catalog, it.trajectory).verdict).toBe("same");
    if (task.goals.length > 0) expect(calls(it)).not.toBe(calls(task));
    for (const call of it.goals.flatMap(goal => goal.calls))
      expect(it.menu.map(entry => entry.name)).toContain(call.name);
  }
  expect(new Set(variants.map(it => it.id)).size).toBe(4);
  expect(new Set(variants.map(it => it.turns.map(turn => turn.user).join("\n"))).size).toBe(4);
});

test("the same seed makes the same ones, and another makes others", async () => {
  const task = tasks.find(sorts[0]![1])!;
  const first = await listed(task, 3);
  expect(await listed(task, 3)).toEqual(first);
  expect((await listed(task, 3, 2)).map(it => it.turns)).not.toEqual(first.map(it => it.turns));
});

test("a variant can be varied in turn", async () => {
  const task = tasks.find(sorts[0]![1])!;
  const [variant] = await listed(task, 1);
  const [next] = await listed(variant!, 1, 7);
  expect(getTaskShape(next!)).toBe(getTaskShape(task));
});

test("stops when told to, and says which server is not here", async () => {
  const task = tasks.find(sorts[0]![1])!;
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(
    synthesizeVariants(task, { catalog, resources, seed: 1, count: 3, signal }).next(),
  ).rejects.toThrow("enough");
  const gone: Task = { ...task, servers: [{ ...task.servers[0]!, name: "weather" }] };
  await expect(
    synthesizeVariants(gone, { catalog, resources, seed: 1, count: 3 }).next(),
  ).rejects.toThrow(/is of weather, which is not here/);
});
