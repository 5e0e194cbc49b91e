/**
 * How a server's tools are tested by hand: calls in order on a fresh session of its small fixture,
 * the last answer held against what is expected; and at the end, that no tool was left out. Needs
 * the server alone, not the catalog.
 */
import { expect, test } from "vitest";
import { join } from "node:path";
import { openSessionByName, openCatalog } from "../../src/environment/catalog.ts";
import type { Json } from "../../src/environment/json.ts";
import type { ErrorType } from "../../src/environment/outcome.ts";
import type { Server } from "../../src/environment/server.ts";

/** A tool's short name and its arguments; an argument may take a value from the call before it. */
export type Call = readonly [tool: string, args: Record<string, Json>];

export interface Checks {
  /**
   * Makes the calls in order; all but the last must succeed. The last must give what is expected,
   * and change nothing unless it succeeds as a write.
   */
  check: (calls: readonly Call[], expected: object) => void;
  /**
   * To stand last in the file: every tool has succeeded once and has been turned down once in the
   * checks above.
   */
  checkAllTools: () => void;
}

export function createChecks(server: Server): Checks {
  const catalog = openCatalog([server], [join(import.meta.dirname, "../../resources/servers")]);
  const given = new Set<string>();
  const refused = new Set<string>();
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
        given.add(tool);
      }
      const [tool, args] = calls.at(-1)!;
      const before = session.digest;
      const { outcome } = session.call(`${server.name}_${tool}`, args);
      expect(outcome).toMatchObject(expected);
      const isWritten =
        outcome.kind === "ok" && server.tools.get(`${server.name}_${tool}`)!.effect === "write";
      if (!isWritten) expect(session.digest).toBe(before);
      (outcome.kind === "ok" ? given : refused).add(tool);
      expect(
        server.schema.safeParse(session.state[server.name]!.world).error?.message,
      ).toBeUndefined();
    },
    checkAllTools() {
      test("every tool has succeeded once and was turned down once", () => {
        const names = [...server.tools.keys()].map(it => it.slice(server.name.length + 1));
        expect({
          neverGiven: names.filter(it => !given.has(it)),
          neverRefused: names.filter(it => !refused.has(it)),
        }).toEqual({ neverGiven: [], neverRefused: [] });
      });
    },
  };
}

/** The call succeeds, and its value holds at least this. */
export const returns = (value: object) => ({ kind: "ok", value });

/**
 * The call is turned down by the server's rules or the tool's whole schema, in words that match.
 */
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
