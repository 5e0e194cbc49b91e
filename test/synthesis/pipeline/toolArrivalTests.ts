/** Tasks in which a later turn brings the tool that was missing. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import { catalog } from "../../contracts/transports.ts";

/** Tests the realistic tasks in which a later turn brings the missing tool. */
export function testToolArrival(readTasks: () => readonly Task[]): void {
  let clarify: readonly Task[];
  let later: readonly Task[];

  beforeAll(() => {
    const tasks = readTasks();
    clarify = tasks.filter(it => it.kind === "clarify");
    later = tasks.filter(it => it.turns.some(turn => turn.adds));
  });

  describe("tasks in which a tool arrives", () => {
    test("are some of the tasks with a missing tool, and only those", () => {
      expect(later.every(it => it.kind === "clarify" && it.knobs["broughtTool"] === true)).toBe(
        true,
      );
      expect(later.length).toBeGreaterThan(5);
      expect(later.length).toBeLessThan(clarify.length);
    });

    test("bring the tool that was missing in the turn before, and then it is called", () => {
      for (const task of later) {
        const at = task.turns.findIndex(it => it.adds);
        const [tool] = task.turns[at]!.adds!;
        expect(task.menu.map(it => it.name)).not.toContain(tool);
        expect(task.hidden).toContain(tool);
        expect(task.turns[at - 1]!.unmet!.map(it => it.name)).toContain(tool);
        const goals = task.turns[at]!.goals.flatMap(it => task.goals[it]!.calls);
        expect(goals.map(it => it.name)).toContain(tool);
        expect(goals.find(it => it.name === tool)!.arguments).toEqual(
          task.turns[at - 1]!.unmet!.find(it => it.name === tool)!.arguments,
        );
      }
    });

    test("replay", () => {
      for (const { trajectory } of later)
        expect(checkReplay(catalog, trajectory)).toEqual({
          verdict: "same",
          steps: listCalls(trajectory).length,
        });
    });

    test("bring it in many words", () => {
      const texts = later.map(it => it.turns.find(turn => turn.adds)!.user);
      expect(new Set(texts).size).toBeGreaterThan(texts.length / 2);
    });
  });
}
