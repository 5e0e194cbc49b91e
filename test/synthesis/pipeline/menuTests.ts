/**
 * Realistic menus: 20 to 40 tools in every kind of task, and nothing that does a hidden tool's
 * work.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { TellsAudit } from "../../lab/tells.ts";
import { getDeclarations } from "../../../src/synthesis/graph/declarations.ts";
import { isSubstitute } from "../../../src/synthesis/pipeline/menu/menu.ts";
import { isHeldOut } from "../../../src/synthesis/pipeline/split.ts";
import { listOfferedItems, type Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";

/** Tests the menus of realistic tasks. */
export function testMenus(readTasks: () => readonly Task[]): void {
  let tasks: readonly Task[];
  beforeAll(() => {
    tasks = readTasks();
  });

  const getServer = (tool: string) => catalog.tools.get(tool)!.server;
  const getDeclaration = (tool: string) =>
    getDeclarations(catalog.getServer(getServer(tool))).get(tool)!;

  describe("realistic menus", () => {
    test("have 20 to 40 tools of several servers in every kind of task", () => {
      for (const kind of ["normal", "irrelevant", "clarify", "abstain"] as const) {
        const own = tasks.filter(it => it.kind === kind);
        expect(own.length).toBeGreaterThan(10);
        const sizes = own.map(it => it.menu.length);
        expect(Math.min(...sizes)).toBeGreaterThanOrEqual(20);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(40);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeGreaterThan(8);
        for (const { menu } of own)
          expect(new Set(menu.map(it => getServer(it.name))).size).toBeGreaterThan(2);
      }
      expect(tasks.every(it => it.knobs["menu"] === "realistic")).toBe(true);
    });

    test("offer every tool once, at any place, and all that the goals call", () => {
      const places: number[] = [];
      for (const task of tasks) {
        const names = task.menu.map(it => it.name);
        const offered = listOfferedItems(task).map(it => it.name);
        expect(new Set(offered).size).toBe(offered.length);
        for (const goal of task.goals)
          for (const { name } of goal.calls) {
            expect(offered).toContain(name);
            if (names.includes(name)) places.push(names.indexOf(name) / names.length);
          }
      }
      const mean = places.reduce((a, b) => a + b, 0) / places.length;
      expect(mean).toBeGreaterThan(0.42);
      expect(mean).toBeLessThan(0.55);
    });

    test("have neither a hidden tool nor one that does what a hidden tool does", () => {
      const hiding = tasks.filter(it => it.hidden.length > 0);
      expect(hiding.length).toBeGreaterThan(40);
      for (const { menu, hidden, trajectory } of hiding)
        for (const { name } of menu) {
          expect(hidden).not.toContain(name);
          // what the conversation called did not do the hidden tool's work
          if (listCalls(trajectory).some(it => it.name === name)) continue;
          for (const it of hidden)
            expect(isSubstitute(getDeclaration(name), getDeclaration(it))).toBe(false);
        }
    });

    test("offer tools of held-out servers in held-out tasks only", () => {
      const others = tasks.filter(it => it.split !== "heldout-server");
      const offered = others.flatMap(it => it.menu.map(entry => getServer(entry.name)));
      expect(offered.filter(isHeldOut)).toEqual([]);
    });

    test("have no shape that tells whether a call is wanted", () => {
      const audit = new TellsAudit(it => catalog.tools.get(it));
      for (const it of tasks) audit.add(it);
      expect(audit.report()!.menu.auc).toBeLessThan(0.62);
    });
  });
}
