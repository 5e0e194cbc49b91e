/**
 * Tasks that need several servers of one world: a value flows from one server's answer into
 * another's call, and all else works on them as on any task.
 */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parseVariantName } from "../../../src/environment/variant.ts";
import { rollout } from "../../../src/policy/rollout.ts";
import { createTeacherPolicy } from "../../../src/policy/scripted.ts";
import { provePlusProfile } from "../../../src/reward/profiles.ts";
import { scoreAttempt } from "../../../src/reward/reward.ts";
import {
  parseCrossServerLinks,
  readCrossServerLinks,
  type CrossServerLink,
} from "../../../src/synthesis/text/crossServerLinks.ts";
import { isHeldOut } from "../../../src/synthesis/pipeline/split.ts";
import { createAttemptFactory } from "../../../src/trajectory/attempt.ts";
import { TrajectoryCursor } from "../../../src/trajectory/cursor.ts";
import { readTasks } from "../../../src/trajectory/file.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { formatTaskLine } from "../../../src/trajectory/taskLine.ts";
import { listCalls, asFinished } from "../../../src/trajectory/trajectory.ts";
import { formatTranscript } from "../../../src/trajectory/transcript.ts";
import { catalog, root } from "../../contracts/doors.ts";
import { made, resources } from "../made.ts";

const serverOf = (tool: string) => catalog.tools.get(tool)!.server;

let all: Task[];
let crossing: Task[];
beforeAll(async () => {
  ({ tasks: all } = await made(90, {
    servers: [...catalog.servers.keys()],
    preset: "paper",
    crossServerShare: 1,
    seed: 4,
  }));
  crossing = all.filter(it => it.knobs["bridges"] !== undefined);
});

describe("cross-server links", () => {
  const links = readCrossServerLinks(resources, catalog);

  test("connect most servers with most others, each with several clauses", () => {
    expect(links.length).toBeGreaterThanOrEqual(25);
    expect(
      new Set(links.flatMap(it => [serverOf(it.from), serverOf(it.to)])).size,
    ).toBeGreaterThanOrEqual(14);
    for (const { name, forms = [], after = [] } of links)
      expect(forms.length + after.length, name).toBeGreaterThanOrEqual(3);
  });

  test("name only entities of the shipped fixtures", () => {
    const worlds = new Map(
      [...catalog.servers.keys()].map(it => [
        it,
        readFileSync(join(root, "resources/servers", it, "fixtures/full.fixture.json"), "utf8") +
          readFileSync(join(root, "resources/servers", it, "fixtures/small.fixture.json"), "utf8"),
      ]),
    );
    const entity = (tool: string, key: string) =>
      JSON.stringify(
        (catalog.tools.get(tool)!.inputSchema["properties"] as Record<string, unknown>)[key],
      );
    for (const { name, from, to, cases = [] } of links)
      for (const [key, values] of cases.flatMap(it => Object.entries(it))) {
        const [tool, argument] = key.startsWith("from.") ? [from, key.slice(5)] : [to, key];
        // files are named by their paths, and times and words are no things
        if (!/"x-entity"/.test(entity(tool, argument)) || argument === "path") continue;
        for (const it of [values].flat())
          expect(worlds.get(serverOf(tool)), `${name}: ${JSON.stringify(it)}`).toContain(
            JSON.stringify(it),
          );
      }
  });

  const validLink: CrossServerLink = {
    name: "a",
    from: "crm_get_deal",
    to: "email_send_message",
    fill: { to: "contact" },
    forms: ["write to the contact of {from.deal_id}, subject {subject}: {text}"],
    reply: ["Done."],
  };
  const invalidLinks: [what: string, link: object, why: RegExp][] = [
    [
      "a tool that is not there",
      { ...validLink, to: "email_shout" },
      /there is no tool email_shout/,
    ],
    [
      "one server",
      {
        ...validLink,
        from: "email_get_message",
        fill: { text: "text" },
        forms: ["send {from.message_id} to {to}, subject {subject}"],
      },
      /are of one server/,
    ],
    [
      "a value that is said",
      { ...validLink, forms: ["write to {to} about {from.deal_id}, subject {subject}: {text}"] },
      /which should flow/,
    ],
    [
      "an argument that nobody says",
      { ...validLink, forms: ["write to the contact of {from.deal_id}: {text}"] },
      /does not say subject/,
    ],
    [
      "a source that is not named",
      { ...validLink, forms: ["write to the contact, subject {subject}: {text}"] },
      /does not name \{from\.deal_id\}/,
    ],
    [
      "a change that goes unsaid",
      {
        ...validLink,
        from: "crm_add_note",
        fill: { to: "title" },
        forms: ["note {from.text} on {from.deal_id} and write, subject {subject}: {text}"],
      },
      /changes something/,
    ],
    ["a field that no result has", { ...validLink, fill: { to: "boss" } }, /shows no boss/],
    ["a word too many", { ...validLink, after: "so" }, /at \/links\/0\/after/],
  ];
  test.each(invalidLinks)("are rejected for %s", (_, link, why) => {
    expect(() =>
      parseCrossServerLinks(
        JSON.stringify({ format: "prove/crossServerLinks@1", links: [link] }),
        catalog,
        "my.json",
      ),
    ).toThrow(why);
  });
  test("are accepted if they are valid; text that is not JSON is rejected", () => {
    expect(
      parseCrossServerLinks(
        JSON.stringify({ format: "prove/crossServerLinks@1", links: [validLink] }),
        catalog,
        "my.json",
      ),
    ).toEqual([validLink]);
    expect(() => parseCrossServerLinks("{", catalog, "my.json")).toThrow(/my\.json:1 is not JSON/);
  });
});

test("a value that nobody said goes from one server's answer into a call of another", () => {
  expect(crossing.length).toBeGreaterThan(50);
  for (const { id, goals, servers } of crossing) {
    const crossed = goals.some(goal =>
      goal.after.some(
        edge =>
          edge.kind === "explicit" &&
          goal.calls.some(call =>
            goals[edge.goal]!.calls.every(it => serverOf(it.name) !== serverOf(call.name)),
          ),
      ),
    );
    expect(crossed, id).toBe(true);
    expect(
      new Set(goals.flatMap(it => it.calls.map(call => serverOf(call.name)))).size,
      id,
    ).toBeGreaterThanOrEqual(2);
    for (const { calls } of goals)
      for (const call of calls) expect(servers.map(it => it.name)).toContain(serverOf(call.name));
  }
  expect(
    crossing.some(
      it => new Set(it.goals.flatMap(goal => goal.calls.map(call => serverOf(call.name)))).size > 2,
    ),
  ).toBe(true);
});

test("all servers of a talk tell of one world", () => {
  for (const { knobs, servers } of crossing) {
    const needed = servers
      .slice(0, knobs["across"] as number)
      .map(it => parseVariantName(it.fixture)?.fixture ?? it.fixture);
    expect(new Set(needed).size).toBe(1);
  }
});

test("the user knows no ids, tools or slots, and every turn is answered", () => {
  for (const { turns } of crossing)
    for (const { user, reply } of turns) {
      expect(`${user}${reply}`).not.toMatch(
        /[{}|\u0000-\u0008]|undefined|\bobject\b|  |\.\.$|from\.\w/,
      );
      expect(user).not.toMatch(/\b[a-z]{2,5}_\d{3,}\b/);
      expect(reply).not.toBe("");
    }
});

test("a held-out server makes the task one of its own, and others show none of its tools", () => {
  expect(crossing.some(it => it.split === "heldout-server")).toBe(true);
  for (const { split, goals, menu } of crossing) {
    expect(split === "heldout-server").toBe(
      goals.some(it => it.calls.some(call => isHeldOut(serverOf(call.name)))),
    );
    if (split !== "heldout-server")
      expect(menu.filter(it => isHeldOut(serverOf(it.name)))).toEqual([]);
    for (const call of goals.flatMap(it => it.calls))
      expect(menu.map(it => it.name)).toContain(call.name);
  }
});

test("replays byte for byte, steps back and forth, and reads as a transcript", () => {
  for (const it of crossing) {
    expect(checkReplay(catalog, it.trajectory).verdict, it.id).toBe("same");
    expect(formatTranscript(it.trajectory, { task: it }).text).toContain(it.turns[0]!.user);
  }
  const cursor = new TrajectoryCursor(catalog, crossing[0]!.trajectory);
  const { state: start } = cursor.current;
  expect(Object.keys(start)).toEqual(crossing[0]!.servers.map(it => it.name));
  while (!cursor.current.atEnd) cursor.step();
  expect(cursor.current.state).not.toEqual(start);
  while (cursor.current.position > 0) cursor.stepBack();
  expect(cursor.current.state).toEqual(start);
});

test("the teacher's own calls score in full, and those of one server alone do not", async () => {
  const attemptOf = createAttemptFactory(catalog);
  for (const it of crossing.slice(0, 25)) {
    const own = scoreAttempt(attemptOf(it, asFinished(it.trajectory)!), provePlusProfile);
    expect(own, it.id).toMatchObject({
      extras: { success: { value: 1 } },
      parts: { coverage: { score: 1 } },
    });
    const again = (await rollout(it, createTeacherPolicy(it), catalog)).trajectory;
    expect(listCalls(again).map(call => call.digest)).toEqual(
      listCalls(it.trajectory).map(call => call.digest),
    );
    const [first] = it.servers;
    const half = {
      ...it.trajectory,
      events: it.trajectory.events.filter(
        event => event.kind !== "call" || serverOf(event.name) === first!.name,
      ),
    };
    expect(scoreAttempt(attemptOf(it, asFinished(half)!), provePlusProfile)).not.toMatchObject({
      parts: { coverage: { score: 1 } },
    });
  }
});

test("is written to a file and read again as it was", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "prove-cross-")), "a.tasks.jsonl");
  writeFileSync(file, crossing.map(it => `${formatTaskLine(it)}\n`).join(""));
  let i = 0;
  for await (const it of readTasks(file)) expect(it).toEqual(crossing[i++]);
  expect(i).toBe(crossing.length);
});

test("the same seed makes the same talks, and the student's mixture has none of them", async () => {
  const again = await made(20, {
    servers: [...catalog.servers.keys()],
    preset: "paper",
    crossServerShare: 1,
    seed: 4,
  });
  expect(again.tasks).toEqual(all.slice(0, 20));
  const { tasks } = await made(25, { servers: [...catalog.servers.keys()] });
  expect(tasks.filter(it => it.knobs["bridges"] !== undefined)).toEqual([]);
});
