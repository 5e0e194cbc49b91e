/** Contrast pairs: the same first turn with and without the tool, or with and without a value. */
import { beforeAll, describe, expect, test } from "vitest";
import { computeComposition, presets } from "../../../src/synthesis/pipeline/synthesisOptions.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";

function groupPairs(tasks: readonly Task[]): readonly (readonly Task[])[] {
  const byPair = new Map<unknown, Task[]>();
  for (const it of tasks)
    if (it.knobs["pair"] !== undefined)
      byPair.set(it.knobs["pair"], [...(byPair.get(it.knobs["pair"]) ?? []), it]);
  return [...byPair.values()];
}

/** Tests the contrast pairs of realistic tasks. */
export function testPairs(readTasks: () => readonly Task[]): void {
  let tasks: readonly Task[];
  let pairs: readonly (readonly Task[])[];
  beforeAll(() => {
    tasks = readTasks();
    pairs = groupPairs(tasks);
  });

  describe("contrast pairs", () => {
    test("are at least 5% of the tasks, and leave the composition exact", () => {
      expect(pairs.length * 2).toBeGreaterThan(0.05 * tasks.length);
      const kinds = { normal: 0, irrelevant: 0, clarify: 0, abstain: 0 };
      for (const { kind } of tasks) kinds[kind]++;
      expect(kinds).toEqual(computeComposition(presets.paper.mixture, tasks.length));
      expect(new Set(tasks.map(it => it.id)).size).toBe(tasks.length);
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
  });
}
