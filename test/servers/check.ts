/**
 * Tests the tools of one server: `check` makes calls on a fresh session of the small fixture and
 * compares the last outcome with the expected one. Independent of the catalog of all servers.
 */
import { expect, test } from "vitest";
import { join } from "node:path";
import { openCatalog } from "../../src/environment/catalog.ts";
import type { Fixture } from "../../src/environment/fixture.ts";
import type { Json, JsonObject } from "../../src/environment/json.ts";
import type { ErrorType } from "../../src/environment/outcome.ts";
import type { Server } from "../../src/environment/server.ts";
import { openSession } from "../../src/environment/session.ts";

/** A tool's short name and its arguments. */
export type Call = readonly [tool: string, args: Record<string, Json>];

/** Values by path, such as `"coupons.cpn_101.expires": "2026-03-09"`; undefined deletes. */
export type Edits = Readonly<Record<string, Json | undefined>>;

/** How the first state differs from the small fixture. */
export interface Start {
  /** The time of the first call. */
  readonly now?: string;
  readonly edits?: Edits;
}

export interface Checks {
  /**
   * Makes the calls in order. All but the last must succeed. The last must have the expected
   * outcome, and changes the state only if it is a write that succeeds. Every state keeps the
   * schema and the invariants of the server.
   */
  check: (calls: readonly Call[], expected: object, start?: Start) => void;
  /**
   * Defines a test for each invariant of the server that it can be broken. The values by path are
   * what a write would have changed in the small fixture, or first in the state before it.
   */
  checkInvariants: (violations: Readonly<Record<string, Edits | readonly [Edits, Edits]>>) => void;
  /**
   * Defines a test that every tool succeeded once and was refused once in the checks before it.
   * Call it at the end of the file.
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
    check(calls, expected, start = {}) {
      const fixture = editFixture(catalog.getFixture(server.name, "small"), start);
      const session = openSession({ servers: [{ server, fixture }], seed: 1 });
      checkState(server, session.state[server.name]!.world);
      const call = ([tool, args]: Call) => {
        const before = session.state[server.name]!.world;
        const { outcome } = session.call(`${server.name}_${tool}`, args);
        checkState(server, session.state[server.name]!.world, before);
        return outcome;
      };
      for (const it of calls.slice(0, -1)) {
        expect(call(it), it[0]).toMatchObject({ kind: "ok" });
        succeededTools.add(it[0]);
      }
      const [tool, args] = calls.at(-1)!;
      const before = session.digest;
      const outcome = call([tool, args]);
      expect(outcome).toMatchObject(expected);
      const isWritten =
        outcome.kind === "ok" && server.tools.get(`${server.name}_${tool}`)!.effect === "write";
      if (!isWritten) expect(session.digest).toBe(before);
      (outcome.kind === "ok" ? succeededTools : refusedTools).add(tool);
    },
    checkInvariants(violations) {
      const { state } = catalog.getFixture(server.name, "small");
      test.each(server.invariants.map(it => [it.rule, it] as const))("%s", (rule, invariant) => {
        expect(violations).toHaveProperty([rule]);
        const edits = violations[rule]!;
        const [first, second] = "0" in edits ? (edits as [Edits, Edits]) : [{}, edits];
        const before = editState(state, first);
        expect(invariant.findViolation(before)).toBeUndefined();
        expect(invariant.findViolation(before, before)).toBeUndefined();
        expect(invariant.findViolation(editState(before, second), before)).toBeTypeOf("string");
      });
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

const editFixture = (fixture: Fixture, { now = fixture.now, edits = {} }: Start): Fixture => ({
  ...fixture,
  now,
  state: editState(fixture.state, edits),
});

/** A copy of the state with these values. */
export function editState(original: JsonObject, edits: Edits): JsonObject {
  const state = structuredClone(original) as Record<string, Json>;
  for (const [path, value] of Object.entries(edits)) {
    const keys = path.split(".");
    const last = keys.pop()!;
    let parent = state;
    for (const key of keys) parent = parent[key] as Record<string, Json>;
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  return state;
}

function checkState(server: Server, world: JsonObject, before?: JsonObject): void {
  expect(server.schema.safeParse(world).error?.message).toBeUndefined();
  for (const { rule, findViolation } of server.invariants)
    expect(findViolation(world, before), rule).toBeUndefined();
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
