/** Conversations on each server of the catalog call every tool and read like a person's. */
import { beforeAll, describe, expect, test } from "vitest";
import { getDeclarations } from "../../../src/synthesis/graph/declarations.ts";
import { containsToken } from "../../../src/trajectory/containsToken.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { synthesizeTasks } from "../synthesizeTasks.ts";

describe.each([...catalog.servers.values()].map(it => [it.name, it] as const))(
  "%s",
  (name, server) => {
    let tasks: Task[];
    beforeAll(async () => {
      ({ tasks } = await synthesizeTasks(150, { servers: [name], seed: 7, preset: "paper" }));
    });

    test("every tool is called", () => {
      const called = new Set(tasks.flatMap(it => listCalls(it.trajectory).map(call => call.name)));
      expect([...server.tools.keys()].filter(it => !called.has(it))).toEqual([]);
    });

    test("users say no tool names and only ids that are declared as spoken", () => {
      const declarations = getDeclarations(server);
      for (const { turns, goals } of tasks) {
        const userText = turns.map(it => it.user).join("\n");
        expect([...server.tools.keys()].filter(it => containsToken(userText, it))).toEqual([]);
        for (const call of goals.flatMap(it => it.calls))
          for (const { key, isSpoken } of declarations.get(call.name)?.inputs ?? []) {
            const id = call.arguments[key];
            if (!isSpoken && typeof id === "string")
              expect(containsToken(userText, id), `${id} in ${userText}`).toBe(false);
          }
      }
    });

    test("texts have no open slots, and replies are not empty", () => {
      for (const { user, reply } of tasks.flatMap(it => it.turns)) {
        expect(`${user}${reply}`).not.toMatch(/[{}|\u0000-\u0008]|undefined|\bobject\b|  |\.\.$/);
        expect(user).toMatch(/^["“~/#€-]*[\p{L}\d.]/u);
        expect(reply).not.toBe("");
      }
    });

    test("trajectories replay exactly", () => {
      for (const it of tasks)
        expect(checkReplay(catalog, it.trajectory).verdict, it.id).toBe("same");
    });
  },
);
