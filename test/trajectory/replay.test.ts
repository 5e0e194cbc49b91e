/** Replaying a trajectory, describing differences, and stepping forward and back. */
import { describe, expect, test } from "vitest";
import { openCatalog, type Catalog } from "../../src/environment/catalog.ts";
import { deepFreeze } from "../../src/environment/digest.ts";
import { defineServer, createToolFactory, type Server } from "../../src/environment/server.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { TrajectoryCursor, type CursorPosition } from "../../src/trajectory/cursor.ts";
import { checkReplay, replayTrajectory } from "../../src/trajectory/replay.ts";
import type { CallEvent, Trajectory } from "../../src/trajectory/trajectory.ts";
import { z } from "zod";
import { catalog, moveFifty, moveTwice } from "./sampleTasks.ts";

const servers = await loadServers();

const { trajectory } = await moveTwice();
const banking = catalog.getServer("banking");

/** The catalog with one fixture or one server swapped. */
const catalogWith = (change: { balance?: number; server?: Server }): Catalog => {
  const list = servers.map(it => (it.name === change.server?.name ? change.server : it));
  const other = openCatalog(list, []);
  return {
    ...other,
    getFixture(server, name) {
      const fixture = catalog.getFixture(server, name);
      if (change.balance === undefined) return fixture;
      const state = structuredClone(fixture.state) as {
        accounts: { acc_101: { balance: number } };
      };
      state.accounts.acc_101.balance = change.balance;
      return deepFreeze({ ...fixture, state });
    },
  };
};

/** The event of a trajectory's nth call, changed. */
const edited = (change: Partial<CallEvent>): Trajectory => {
  const at = trajectory.events.findIndex(it => it.kind === "call");
  return {
    ...trajectory,
    events: trajectory.events.map((it, i) => (i === at ? ({ ...it, ...change } as CallEvent) : it)),
  };
};

describe("a replay", () => {
  test("is identical to the record", () =>
    expect(checkReplay(catalog, trajectory)).toEqual({ verdict: "same", steps: 3 }));
  test("restores the patches that the file omits", () => {
    const [first] = replayTrajectory(catalog, trajectory);
    expect(first!.recorded.patches).toBeUndefined();
    expect(first!.replayed.patches).toContainEqual({
      op: "replace",
      path: "/banking/world/accounts/acc_108/balance",
      value: 3550,
    });
  });
  test("of an edited record reports the fields that differ", () =>
    expect(
      checkReplay(catalog, edited({ outcome: { kind: "ok", value: { balance: 1 } } })),
    ).toMatchObject({
      verdict: "differs",
      what: "call 1, banking_transfer, gives another value",
      remedy:
        "synthesize it again if a later version of PROVE changed the rule; otherwise the record was edited, or a tool is not deterministic: report it with this file",
    }));
  test("of an edited call differs from that call on", () => {
    const verdicts = [
      ...replayTrajectory(
        catalog,
        edited({ arguments: { from_account: "acc_101", to_account: "acc_108", amount: 49 } }),
      ),
    ].map(it => it.verdict);
    expect(verdicts).toEqual(["differs", "differs", "differs"]);
  });
  test("on another fixture reports that the fixture changed", () =>
    expect(checkReplay(catalogWith({ balance: 5000 }), trajectory)).toMatchObject({
      verdict: "fixture changed",
      what: "the fixture small of banking has changed since",
      remedy: "restore that fixture, or synthesize the tasks anew",
    }));
  test("with other tools reports that the tools changed", () => {
    const Nothing = z.looseObject({});
    const tool = createToolFactory(Nothing);
    const server = defineServer({
      name: "banking",
      category: "Finance",
      summary: "",
      schema: Nothing,
      tools: {
        get_balance: tool({
          effect: "read",
          summary: "Nothing",
          input: {},
          returns: {},
          run: () => ({}),
        }),
      },
    });
    expect(checkReplay(catalogWith({ server }), trajectory)).toMatchObject({
      verdict: "tool changed",
      what: "the tools of banking have changed since",
    });
  });
  test("of a broken call compares only the state", () => {
    const broken = edited({ outcome: { kind: "broken" } });
    expect([...replayTrajectory(catalog, broken)][0]).toMatchObject({ verdict: "differs" });
  });
  test("of a missing server is an error that the user can fix", () => {
    const gone = {
      ...trajectory,
      header: {
        ...trajectory.header,
        servers: [{ name: "robbing", fixture: "small", digest: "" }],
      },
    };
    expect(() => checkReplay(catalog, gone)).toThrow(/there is no server robbing: use the version/);
  });
  test("is the same if the server's tools changed but no step differs", () => {
    const pinned = { ...trajectory, header: { ...trajectory.header, catalog: "older" } };
    expect(checkReplay(catalog, pinned).verdict).toBe("same");
  });
});

describe("a cursor", () => {
  /** Where it stands, in a word, and what acc_101 holds there. */
  const seen = ({ position, event, state }: CursorPosition) => {
    const what = event ? ("name" in event ? event.name : event.kind) : "start";
    return `${position} ${what} ${(state["banking"]!.world as { accounts: Record<string, { balance: number }> }).accounts["acc_101"]!.balance}`;
  };
  const walk = (cursor: TrajectoryCursor, ...moves: ("step" | "stepBack")[]) =>
    moves.map(it => seen(cursor[it]()));

  test("steps forward over messages that only make calls, and stays at the end", () => {
    const cursor = new TrajectoryCursor(catalog, trajectory);
    expect(seen(cursor.current)).toBe("0 start 3148.95");
    expect(walk(cursor, ...Array.from({ length: 9 }, () => "step" as const))).toEqual([
      "1 user 3148.95",
      "3 banking_transfer 3098.95",
      "4 banking_transfer 3078.95",
      "5 assistant 3078.95",
      "6 user 3078.95",
      "8 banking_get_balance 3078.95",
      "9 assistant 3078.95",
      "10 ended 3078.95",
      "10 ended 3078.95",
    ]);
    expect(cursor.current.atEnd).toBe(true);
  });
  test("steps back to the earlier state, and stays at the start", () => {
    const cursor = new TrajectoryCursor(catalog, trajectory);
    cursor.goTo(5);
    expect(walk(cursor, "stepBack", "stepBack", "stepBack", "stepBack", "stepBack")).toEqual([
      "4 banking_transfer 3078.95",
      "3 banking_transfer 3098.95",
      "1 user 3148.95",
      "0 start 3148.95",
      "0 start 3148.95",
    ]);
  });
  test("continues to the next matching event in both directions, or to the end", () => {
    const cursor = new TrajectoryCursor(catalog, trajectory);
    const onTransfers = (index: number) =>
      (trajectory.events[index] as CallEvent).name === "banking_transfer";
    expect(
      [
        cursor.continue(onTransfers),
        cursor.continue(onTransfers),
        cursor.continue(onTransfers),
      ].map(it => it.position),
    ).toEqual([3, 4, 10]);
    expect(
      [
        cursor.continueBack(onTransfers),
        cursor.continueBack(onTransfers),
        cursor.continueBack(onTransfers),
      ].map(it => it.position),
    ).toEqual([4, 3, 0]);
  });
  test("returns the changes of the current call", () => {
    const place = new TrajectoryCursor(catalog, trajectory).goTo(3);
    expect(place.patches.map(it => it.path)).toContain("/banking/world/accounts/acc_101/balance");
    expect(place.before).not.toBe(place.state);
    expect(place.step!.verdict).toBe("same");
  });
  test("describes other positions without going there", () => {
    const cursor = new TrajectoryCursor(catalog, trajectory);
    expect(seen(cursor.at(4))).toBe("4 banking_transfer 3078.95");
    expect(seen(cursor.current)).toBe("0 start 3148.95");
  });
  test("stays within the trajectory", async () => {
    const cursor = new TrajectoryCursor(catalog, (await moveFifty()).trajectory);
    expect([cursor.goTo(-5).position, cursor.goTo(999).atEnd]).toEqual([0, true]);
  });
});

test("the tools of a server have the hash that tasks pin", () => {
  expect(catalog.hashTools(["banking"])).toBe(trajectory.header.catalog);
  expect(catalogWith({ server: { ...banking } }).hashTools(["banking"])).toBe(
    trajectory.header.catalog,
  );
});
