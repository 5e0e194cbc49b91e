/**
 * Conversations on each server of the catalog: every tool is talked about, in words that a person
 * would use.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { getDeclarations } from "../../../src/synthesis/graph/declarations.ts";
import { containsToken } from "../../../src/synthesis/text/containsToken.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/doors.ts";
import { made } from "../made.ts";

describe.each([...catalog.servers.values()].map(it => [it.name, it] as const))(
  "%s",
  (name, server) => {
    let tasks: Task[];
    beforeAll(async () => {
      ({ tasks } = await made(150, { servers: [name], seed: 7, preset: "paper" }));
    });

    test("has every tool among the calls", () => {
      const called = new Set(tasks.flatMap(it => listCalls(it.trajectory).map(call => call.name)));
      expect([...server.tools.keys()].filter(it => !called.has(it))).toEqual([]);
    });

    test("is spoken of without ids but the ones people know, and without names of tools", () => {
      const declarations = getDeclarations(server);
      for (const { turns, goals } of tasks) {
        const said = turns.map(it => it.user).join("\n");
        expect([...server.tools.keys()].filter(it => containsToken(said, it))).toEqual([]);
        for (const call of goals.flatMap(it => it.calls))
          for (const { key, isSpoken } of declarations.get(call.name)?.inputs ?? []) {
            const id = call.arguments[key];
            if (!isSpoken && typeof id === "string")
              expect(containsToken(said, id), `${id} in ${said}`).toBe(false);
          }
      }
    });

    test("is spoken of and answered in whole sentences", () => {
      for (const { user, reply } of tasks.flatMap(it => it.turns)) {
        expect(`${user}${reply}`).not.toMatch(/[{}|\u0000-\u0008]|undefined|\bobject\b|  |\.\.$/);
        expect(user).toMatch(/^["“~/#€-]*[\p{L}\d.]/u);
        expect(reply).not.toBe("");
      }
    });

    test("replays byte for byte", () => {
      for (const it of tasks)
        expect(checkReplay(catalog, it.trajectory).verdict, it.id).toBe("same");
    });
  },
);
