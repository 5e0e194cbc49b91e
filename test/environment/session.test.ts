/** A session's state after opening, calls, failures, forking and restoring. */
import { z } from "zod";
import { describe, expect, test } from "vitest";
import { CallMemo, maxMemoCalls, openSession } from "../../src/environment/session.ts";
import { parseFixture } from "../../src/environment/fixture.ts";
import { computeDigest, deepFreeze } from "../../src/environment/digest.ts";
import { canonicalJson, type Json } from "../../src/environment/json.ts";
import {
  defineServer,
  findEntity,
  refuse,
  createToolFactory,
} from "../../src/environment/server.ts";
import { id } from "../../src/environment/fieldSchemas.ts";

const World = z.strictObject({
  notes: z.record(z.string(), z.strictObject({ text: z.string(), tags: z.array(z.string()) })),
});
const tool = createToolFactory(World);
const notes = defineServer({
  name: "notes",
  category: "Test",
  summary: "notes with tags",
  schema: World,
  tools: {
    add: tool({
      effect: "write",
      summary: "add a note",
      input: { text: z.string() },
      returns: { note_id: id("note"), at: z.string(), luck: z.number() },
      run: ({ notes: all }, { text }, { now, newId, random }) => {
        const note_id = newId("note");
        all[note_id] = { text, tags: [] };
        return { note_id, at: now, luck: random() };
      },
    }),
    tag: tool({
      effect: "write",
      summary: "tag a note, at most two times",
      input: { note_id: id("note"), tag: z.string() },
      returns: { tags: z.array(z.string()) },
      run: ({ notes: all }, { note_id, tag }) => {
        const note = findEntity(all, note_id, "note");
        note.tags.push(tag);
        if (note.tags.length > 2) refuse("limit_exceeded", "two tags are enough", "drop one");
        return { tags: note.tags };
      },
    }),
    read: tool({
      effect: "read",
      summary: "read a note",
      input: { note_id: id("note") },
      returns: { text: z.string() },
      run: ({ notes: all }, { note_id }) => ({ text: findEntity(all, note_id, "note").text }),
    }),
    spoil: tool({
      effect: "read",
      summary: "a read that writes",
      input: {},
      returns: {},
      run: ({ notes: all }) => {
        all["x"] = { text: "", tags: [] };
        return {};
      },
    }),
    crash: tool({
      effect: "write",
      summary: "a write that throws",
      input: {},
      returns: {},
      run: ({ notes: all }) => {
        delete all["note_101"];
        throw new TypeError("oops");
      },
    }),
  },
});
const fixture = parseFixture(
  notes,
  JSON.stringify({
    format: "prove/fixture@1",
    server: "notes",
    name: "one",
    now: "2026-02-28T23:59",
    state: { notes: { note_101: { text: "milk", tags: [] } } },
  }),
  "one.fixture.json",
);
const open = (seed = 1, menu?: string[]) =>
  openSession({ servers: [{ server: notes, fixture }], seed, ...(menu ? { menu } : {}) });

describe("a session", () => {
  test("advances its clock by a minute with each successful write, past the end of a month", () => {
    const session = open();
    session.call("notes_read", { note_id: "note_101" });
    expect(session.call("notes_add", { text: "a" }).outcome).toMatchObject({
      value: { at: "2026-02-28T23:59" },
    });
    expect(session.call("notes_add", { text: "b" }).outcome).toMatchObject({
      value: { at: "2026-03-01T00:00" },
    });
  });

  test("leaves state, clock and draws unchanged if a write is refused halfway", () => {
    const session = open();
    session.call("notes_tag", { note_id: "note_101", tag: "a" });
    session.call("notes_tag", { note_id: "note_101", tag: "b" });
    const before = session.state;
    const { outcome, patches } = session.call("notes_tag", { note_id: "note_101", tag: "c" });
    expect(outcome).toEqual({
      kind: "refused",
      type: "limit_exceeded",
      message: "two tags are enough",
      hint: "drop one",
    });
    expect(patches).toEqual([]);
    expect(session.state).toBe(before);
  });

  test("reports a bug of the server as broken and keeps the state", () => {
    const session = open();
    const before = session.state;
    expect(session.call("notes_crash", {}).outcome).toMatchObject({
      kind: "broken",
      message: expect.stringContaining("oops") as string,
    });
    expect(session.call("notes_spoil", {}).outcome).toMatchObject({ kind: "broken" });
    expect(session.state).toBe(before);
  });

  test("has only the tools of its menu", () => {
    const session = open(1, ["notes_read"]);
    expect(session.call("notes_add", { text: "a" }).outcome).toMatchObject({
      kind: "unknown-tool",
      type: "unknown_tool",
    });
    expect(session.call("__proto__", {}).outcome).toMatchObject({ kind: "unknown-tool" });
    expect(session.call("notes_read", { note_id: "note_101" }).outcome).toMatchObject({
      kind: "ok",
    });
  });

  test("executes a call on a state once if it shares a memo", () => {
    const memo = new CallMemo();
    const openShared = (menu?: string[]) =>
      openSession({
        servers: [{ server: notes, fixture }],
        seed: 1,
        ...(menu ? { menu } : {}),
        memo,
      });
    const calls = [
      ["notes_add", { text: "a" }],
      ["notes_crash", {}],
      ["notes_read", { note_id: "note_101" }],
      ["notes_add", { text: "a" }],
    ] as const;
    const [first, second, alone] = [openShared(), openShared(), open()];
    for (const [name, args] of calls) {
      const result = first.call(name, args);
      expect(second.call(name, args)).toBe(result);
      expect(alone.call(name, args).digest).toBe(result.digest);
    }
    expect(second.state).toBe(first.state);
    expect(openShared(["notes_read"]).call("notes_add", { text: "a" }).outcome.kind).toBe(
      "unknown-tool",
    );
  });

  test("executes calls again that came after the most that a memo keeps", () => {
    const memo = new CallMemo();
    const session = open();
    let executed = 0;
    const call = (number: number) =>
      memo.getOrExecute(session.state, "notes_read", { number }, () => ({
        result: { outcome: { kind: "ok", value: ++executed }, patches: [], digest: session.digest },
        after: session.state,
      })).result.outcome;
    for (let i = 0; i < maxMemoCalls; i++) call(i);
    expect(call(0)).toEqual({ kind: "ok", value: 1 });
    expect(call(maxMemoCalls - 1)).toEqual({ kind: "ok", value: maxMemoCalls });
    for (const count of [1, 2])
      expect(call(maxMemoCalls)).toEqual({ kind: "ok", value: maxMemoCalls + count });
    expect(call(1)).toEqual({ kind: "ok", value: 2 });
  });

  test("forks without a copy into two independent sessions", () => {
    const session = open();
    const fork = session.fork();
    expect(fork.state).toBe(session.state);
    fork.call("notes_add", { text: "a" });
    expect(session.state["notes"]!.world).toEqual(fixture.state);
    expect(fork.digest).not.toBe(session.digest);
  });

  test("continues from a restored state with the same ids and random numbers", () => {
    const session = open();
    session.call("notes_add", { text: "a" });
    const snapshot = session.state;
    const first = session.call("notes_add", { text: "b" });
    session.restore(snapshot);
    expect(session.call("notes_add", { text: "b" })).toEqual(first);
  });

  test("never creates an id twice, nor one that a fixture could have", () => {
    const session = open();
    const ids = Array.from({ length: 200 }, () => {
      const { outcome } = session.call("notes_add", { text: "x" });
      return outcome.kind === "ok" ? (outcome.value as { note_id: string }).note_id : "";
    });
    expect(new Set(ids).size).toBe(200);
    for (const it of ids) expect(it).toMatch(/^note_[1-9]\d{3}$/);
  });

  test("returns patches with the paths of the changes", () => {
    const { patches } = open().call("notes_tag", { note_id: "note_101", tag: "a" });
    expect(patches).toContainEqual({
      op: "add",
      path: "/notes/world/notes/note_101/tags/0",
      value: "a",
    });
    expect(patches).toContainEqual({
      op: "replace",
      path: "/notes/clock",
      value: "2026-03-01T00:00",
    });
  });
});

test("a definition that requires a tool it does not have throws", () =>
  expect(() =>
    defineServer({
      name: "bad",
      category: "",
      summary: "",
      schema: World,
      tools: {
        one: tool({
          effect: "read",
          summary: "",
          input: {},
          returns: {},
          requires: ["two"],
          run: () => ({}),
        }),
      },
    }),
  ).toThrow(/bad_one requires two/));

test("canonical text sorts keys, drops undefined and keeps shortest numbers", () =>
  expect(canonicalJson({ b: [1.0, null], a: { z: undefined, y: "é" } })).toBe(
    '{"a":{"y":"é"},"b":[1,null]}',
  ));

test("the digest follows the value, not the order of its keys", () => {
  expect(computeDigest(deepFreeze({ a: 1, b: { c: [1, 2] } }))).toBe(
    computeDigest(deepFreeze({ b: { c: [1, 2] }, a: 1 })),
  );
  expect(computeDigest(deepFreeze({ a: 1, b: { c: [2, 1] } }))).not.toBe(
    computeDigest(deepFreeze({ a: 1, b: { c: [1, 2] } })),
  );
  expect(computeDigest(deepFreeze({ a: "1" }))).not.toBe(computeDigest(deepFreeze({ a: 1 })));
});

test("the digest of a wide table depends on its entries and keys, not on their order", () => {
  const table = (change: (entries: [string, Json][]) => [string, Json][]) =>
    computeDigest(
      deepFreeze(
        Object.fromEntries(change(Array.from({ length: 60 }, (_, i) => [`k${i}`, { n: i }]))),
      ),
    );
  const digest = table(it => it);
  expect(table(it => it.toReversed())).toBe(digest);
  const others = [
    table(it => it.slice(1)),
    table(it => [...it, ["k60", { n: 0 }]]),
    table(it => it.with(7, ["k7", { n: 8 }])),
    table(it => it.with(7, ["k7", { n: 8 }]).with(8, ["k8", { n: 7 }])),
    table(it => it.with(3, ["k3", "3"])),
  ];
  expect(new Set([digest, ...others]).size).toBe(6);
});
