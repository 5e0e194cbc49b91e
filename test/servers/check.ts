/**
 * Tests the tools of one server: `check` makes calls on a fresh session of the small fixture and
 * compares the last outcome with the expected one. Independent of the catalog of all servers.
 */
import { expect, test } from "vitest";
import { join } from "node:path";
import { openSessionByName, openCatalog } from "../../src/environment/catalog.ts";
import type { Json } from "../../src/environment/json.ts";
import type { ErrorType } from "../../src/environment/outcome.ts";
import type { Server } from "../../src/environment/server.ts";

/** A tool's short name and its arguments. */
export type Call = readonly [tool: string, args: Record<string, Json>];

export interface Checks {
  /**
   * Makes the calls in order. All but the last must succeed. The last must have the expected outcome,
   * and changes the state only if it is a write that succeeds.
   */
  check: (calls: readonly Call[], expected: object) => void;
  /**
   * Defines a test that every tool succeeded once and was refused once in the checks before it. Call
   * it at the end of the file.
   */
  checkAllTools: () => void;
}

const shippedFixtures = join(import.meta.dirname, "../../resources/servers");

/** The checks of a server whose small fixture is in this folder. */
export function createChecks(server: Server, folder = shippedFixtures): Checks {
  const catalog = openCatalog([server], [folder]);
  const succeededTools = new Set<string>();
  const refusedTools = new Set<string>();
  return {
    check(calls, expected) {
      const session = openSessionByName(catalog, {
        servers: [{ name: server.name, fixture: "small" }],
        seed: 1,
      });
      for (const [tool, args] of calls.slice(0, -1)) {
        expect(session.call(`${server.name}_${tool}`, args).outcome, tool).toMatchObject({
          kind: "ok",
        });
        succeededTools.add(tool);
      }
      const [tool, args] = calls.at(-1)!;
      const before = session.digest;
      const { outcome } = session.call(`${server.name}_${tool}`, args);
      expect(outcome).toMatchObject(expected);
      const isWritten =
        outcome.kind === "ok" && server.tools.get(`${server.name}_${tool}`)!.effect === "write";
      if (!isWritten) expect(session.digest).toBe(before);
      (outcome.kind === "ok" ? succeededTools : refusedTools).add(tool);
      expect(
        server.schema.safeParse(session.state[server.name]!.world).error?.message,
      ).toBeUndefined();
    },
    checkAllTools() {
      test("every tool has succeeded once and was refused once", () => {
        const names = [...server.tools.keys()].map(it => it.slice(server.name.length + 1));
        expect({
          neverSucceeded: names.filter(it => !succeededTools.has(it)),
          neverRefused: names.filter(it => !refusedTools.has(it)),
        }).toEqual({ neverSucceeded: [], neverRefused: [] });
      });
    },
  };
}

/** The call succeeds, and its value contains at least this. */
export const returns = (value: object) => ({ kind: "ok", value });

/** The tool's full schema or the server's rules refuse the call, with a message that matches. */
export const refuses = (type: ErrorType, message: RegExp) => ({
  kind: "refused",
  type,
  message: expect.stringMatching(message) as string,
});

/** The call lacks a required argument or has one of a wrong JSON type. */
export const rejectsArguments = (message: RegExp) => ({
  kind: "bad-arguments",
  message: expect.stringMatching(message) as string,
});
