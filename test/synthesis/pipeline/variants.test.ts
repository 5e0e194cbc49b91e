/** Variants of a task have its shape, with other entities and words. */
import { beforeAll, expect, test } from "vitest";
import { getTaskShape, synthesizeVariants } from "../../../src/synthesis/pipeline/variants.ts";
import { listGoalEdges } from "../../../src/trajectory/seenTasks.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import { listOfferedItems, type Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { readSharedTasks, resources, synthesizeTasks } from "../synthesizeTasks.ts";

let tasks: Task[];
let taskWithRecovery: Task;
beforeAll(async () => {
  const sets = await Promise.all([readSharedTasks("paper"), readSharedTasks("realistic")]);
  const result = { tasks: sets.flatMap(it => it.tasks) };
  const hasRecovery = (it: Task) => it.knobs["recovery"] !== undefined;
  tasks = result.tasks.filter(it => !hasRecovery(it));
  taskWithRecovery = result.tasks.find(hasRecovery)!;
});

async function collectVariants(task: Task, count: number, seed = 1): Promise<Task[]> {
  const all: Task[] = [];
  for await (const it of synthesizeVariants(task, { catalog, resources, seed, count }))
    all.push(it);
  return all;
}

test("variants can be limited to the edges of the task", async () => {
  const { tasks: maps } = await synthesizeTasks(40, { servers: ["maps"], seed: 4 });
  // a place that is found leads to places nearby, or to a route, or to its details
  const found = maps.filter(({ goals }) => {
    const edges = listGoalEdges(goals);
    return edges.includes("maps_search_places > maps_nearby_places") && edges.length > 2;
  });
  expect(found.length).toBeGreaterThan(0);
  let others = 0;
  for (const task of found) {
    const listEdges = async (keepsEdges: boolean) => {
      const options = { catalog, resources, seed: 5, count: 4, keepsEdges };
      const edges: string[] = [];
      for await (const it of synthesizeVariants(task, { ...options, preset: "student" }))
        edges.push(...listGoalEdges(it.goals));
      return new Set(edges);
    };
    const own = new Set(listGoalEdges(task.goals));
    others += [...(await listEdges(false))].filter(it => !own.has(it)).length;
    expect(await listEdges(true)).toEqual(own);
  }
  expect(others).toBeGreaterThan(0);
});

/** The calls of each turn that a condition has ruled out. */
const countConditional = ({ turns }: Task): number[] =>
  turns.map(it => it.conditional?.length ?? 0);

const kinds: [what: string, is: (it: Task) => boolean][] = [
  [
    "a complete conversation",
    it => it.kind === "normal" && it.info === "complete" && it.knobs["bridges"] === undefined,
  ],
  ["a conversation with a missing value", it => it.kind === "normal" && it.info === "missing"],
  ["a minimal conversation", it => it.kind === "normal" && it.info === "minimal"],
  ["a conversation across servers", it => it.knobs["bridges"] !== undefined],
  [
    "a scenario with a condition that holds",
    it => it.kind === "normal" && it.knobs["conditions"] === "met",
  ],
  [
    "a scenario with a condition that does not hold",
    it => it.kind === "normal" && it.knobs["conditions"] === "not met",
  ],
  [
    "a scenario with a limit",
    it => it.kind === "normal" && it.knobs["scenario"] !== undefined && it.knobs["limits"] === 1,
  ],
  [
    "a scenario with a change of mind",
    it =>
      it.kind === "normal" && it.knobs["scenario"] !== undefined && it.knobs["changesOfMind"] === 1,
  ],
  [
    "a conversation with a missing tool",
    // a call with one argument of few values may stay the same
    it =>
      it.kind === "clarify" &&
      it.goals.some(goal => goal.calls.some(call => Object.keys(call.arguments).length > 1)),
  ],
  [
    "an irrelevant conversation",
    it => it.kind === "irrelevant" && it.knobs["scenario"] === undefined,
  ],
  ["a question that needs no tool", it => it.kind === "abstain"],
];

const formatCalls = (it: Task) =>
  JSON.stringify(listCalls(it.trajectory).map(call => [call.name, call.arguments]));

test.each(kinds)("%s has four different variants", async (_, is) => {
  let best: { task: Task; variants: Task[] } | undefined;
  // a rare task may have no variants; one of a few has
  for (const task of tasks.filter(is).slice(0, 24)) {
    const variants = await collectVariants(task, 4);
    // a call with few arguments may stay the same
    const others = variants.filter(
      it => task.goals.length === 0 || formatCalls(it) !== formatCalls(task),
    );
    if (others.length > (best?.variants.length ?? -1)) best = { task, variants: others };
    if (others.length === 4) break;
  }
  const { task, variants } = best!;
  expect(variants).toHaveLength(4);
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
    for (const knob of ["scenario", "conditions", "limits", "changesOfMind"])
      expect([knob, it.knobs[knob]]).toEqual([knob, task.knobs[knob]]);
    expect(countConditional(it)).toEqual(countConditional(task));
    expect(it.turns.map(turn => turn.user)).not.toEqual(task.turns.map(turn => turn.user));
    expect(checkReplay(catalog, it.trajectory).verdict).toBe("same");
    if (task.goals.length > 0) expect(formatCalls(it)).not.toBe(formatCalls(task));
    for (const call of it.goals.flatMap(goal => goal.calls))
      expect(listOfferedItems(it).map(entry => entry.name)).toContain(call.name);
  }
  expect(new Set(variants.map(it => it.id)).size).toBe(4);
  expect(new Set(variants.map(it => it.turns.map(turn => turn.user).join("\n"))).size).toBe(4);
});

test("the same seed gives the same variants, and another seed gives others", async () => {
  const task = tasks.find(kinds[0]![1])!;
  const first = await collectVariants(task, 3);
  expect(await collectVariants(task, 3)).toEqual(first);
  expect((await collectVariants(task, 3, 2)).map(it => it.turns)).not.toEqual(
    first.map(it => it.turns),
  );
});

test("a variant has variants of its own", async () => {
  const task = tasks.find(kinds[0]![1])!;
  const [variant] = await collectVariants(task, 1);
  const [next] = await collectVariants(variant!, 1, 7);
  expect(getTaskShape(next!)).toBe(getTaskShape(task));
});

test("a task with a recovery has no variants", async () => {
  await expect(collectVariants(taskWithRecovery, 1)).rejects.toThrow(/has to recover/);
});

test("an aborted signal stops the synthesis, and a server that does not exist is an error", async () => {
  const task = tasks.find(kinds[0]![1])!;
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(
    synthesizeVariants(task, { catalog, resources, seed: 1, count: 3, signal }).next(),
  ).rejects.toThrow("enough");
  const gone: Task = { ...task, servers: [{ ...task.servers[0]!, name: "weather" }] };
  await expect(
    synthesizeVariants(gone, { catalog, resources, seed: 1, count: 3 }).next(),
  ).rejects.toThrow(/is of weather, which is not here/);
});
