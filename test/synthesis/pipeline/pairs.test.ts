/** Contrast pairs: the same first turn with and without the tool, or with and without a value. */
import { beforeAll, describe, expect, test } from "vitest";
import { computeComposition } from "../../../src/synthesis/pipeline/composition.ts";
import { presets } from "../../../src/synthesis/pipeline/presets.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { formatTaskLine } from "../../../src/trajectory/taskLine.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { synthesizeTasks } from "../synthesizeTasks.ts";

const options = {
  seed: 62,
  servers: [...catalog.servers.keys()],
  preset: "paper",
  menu: "realistic",
} as const;
const count = 300;
let tasks: readonly Task[];
let pairs: readonly (readonly Task[])[];

beforeAll(async () => {
  ({ tasks } = await synthesizeTasks(count, { ...options, count }));
  const byPair = new Map<unknown, Task[]>();
  for (const it of tasks)
    if (it.knobs["pair"] !== undefined)
      byPair.set(it.knobs["pair"], [...(byPair.get(it.knobs["pair"]) ?? []), it]);
  pairs = [...byPair.values()];
}, 240_000);

describe("contrast pairs", () => {
  test("are at least 5% of the tasks, and leave the composition exact", () => {
    expect(pairs.length * 2).toBeGreaterThan(0.05 * count);
    const kinds = { normal: 0, irrelevant: 0, clarify: 0, abstain: 0 };
    for (const { kind } of tasks) kinds[kind]++;
    expect(kinds).toEqual(computeComposition(presets.paper.mixture, count));
    expect(new Set(tasks.map(it => it.id)).size).toBe(count);
  });

  test("have a normal task and one that calls nothing, in the same split and world", () => {
    for (const pair of pairs) {
      expect(pair.map(it => it.kind).sort()).toEqual(["abstain", "normal"]);
      const [a, b] = pair as [Task, Task];
      expect(a.split).toBe(b.split);
      expect(a.servers).toEqual(b.servers);
      expect([a.seed, a.now, a.persona]).toEqual([b.seed, b.now, b.persona]);
      const normal = pair.find(it => it.kind === "normal")!;
      expect(normal.turns[0]!.goals.length).toBeGreaterThan(0);
      expect(listCalls(pair.find(it => it.kind === "abstain")!.trajectory)).toEqual([]);
    }
  });

  test("say the same where the tool is missing, and less where a value is", () => {
    const sorts = new Set<unknown>();
    for (const pair of pairs) {
      const normal = pair.find(it => it.kind === "normal")!;
      const idle = pair.find(it => it.kind === "abstain")!;
      const sort = idle.knobs["abstention"];
      sorts.add(sort);
      const offered = new Set(idle.menu.map(it => it.name));
      const goals = normal.turns[0]!.goals.flatMap(it => normal.goals[it]!.calls);
      if (sort === "cannot") {
        expect(idle.turns[0]!.user).toBe(normal.turns[0]!.user);
        const missing = idle.turns[0]!.unmet!.map(it => it.name);
        expect(missing.filter(it => offered.has(it))).toEqual([]);
        expect(idle.hidden).toEqual(expect.arrayContaining(missing));
      } else {
        expect(idle.turns[0]!.user).not.toBe(normal.turns[0]!.user);
        expect(idle.turns[0]!.reply).toContain("?");
        expect(goals.some(it => offered.has(it.name))).toBe(true);
      }
    }
    expect(sorts).toEqual(new Set(["cannot", "question"]));
  });

  test("are the same for the same seed", async () => {
    const again = await synthesizeTasks(60, { ...options, count });
    expect(again.tasks.map(formatTaskLine)).toEqual(tasks.slice(0, 60).map(formatTaskLine));
  });
});

test("the student's preset has no pairs", async () => {
  const student = await synthesizeTasks(40, { preset: "student", menu: "chain", count: 40 });
  expect(student.tasks.filter(it => it.knobs["pair"] !== undefined)).toEqual([]);
});
