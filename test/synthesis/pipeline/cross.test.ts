/**
 * Tasks across servers: a value from one server's result is an argument of another server's call,
 * and everything else works as for other tasks.
 */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parseFixtureName } from "../../../src/environment/fixture.ts";
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
import { type Task, formatTaskLine } from "../../../src/trajectory/task.ts";
import { listCalls, asFinished } from "../../../src/trajectory/trajectory.ts";
import { formatTranscript } from "../../../src/trajectory/transcript.ts";
import { catalog, root } from "../../contracts/transports.ts";
import { synthesizeTasks, resources } from "../synthesizeTasks.ts";

const getServerName = (tool: string) => catalog.tools.get(tool)!.server;

let allTasks: readonly Task[];
let crossServerTasks: readonly Task[];
beforeAll(async () => {
  ({ tasks: allTasks } = await synthesizeTasks(60, {
    servers: [...catalog.servers.keys()],
    preset: "paper",
    crossServerShare: 1,
    seed: 4,
  }));
  crossServerTasks = allTasks.filter(it => it.knobs["bridges"] !== undefined);
});

describe("cross-server links", () => {
  const links = readCrossServerLinks(resources, catalog);

  test("connect most servers with most others, each with several clauses", () => {
    expect(links.length).toBeGreaterThanOrEqual(25);
    expect(
      new Set(links.flatMap(it => [getServerName(it.from), getServerName(it.to)])).size,
    ).toBeGreaterThanOrEqual(14);
    for (const { name, forms = [], after = [] } of links)
      expect(forms.length + after.length, name).toBeGreaterThanOrEqual(3);
  });

  test("name only entities of the shipped fixtures", () => {
    const fixturesByServer = new Map(
      [...catalog.servers.keys()].map(it => [
        it,
        readFileSync(join(root, "resources/servers", it, "fixtures/full.fixture.json"), "utf8") +
          readFileSync(join(root, "resources/servers", it, "fixtures/small.fixture.json"), "utf8"),
      ]),
    );
    const getSchemaText = (tool: string, key: string) =>
      JSON.stringify(
        (catalog.tools.get(tool)!.inputSchema["properties"] as Record<string, unknown>)[key],
      );
    for (const { name, from, to, cases = [] } of links)
      for (const [key, values] of cases.flatMap(it => Object.entries(it))) {
        const [tool, argument] = key.startsWith("from.") ? [from, key.slice(5)] : [to, key];
        // a path need not exist in a fixture, and other arguments are not entities
        if (!/"x-entity"/.test(getSchemaText(tool, argument)) || argument === "path") continue;
        for (const it of [values].flat())
          expect(
            fixturesByServer.get(getServerName(tool)),
            `${name}: ${JSON.stringify(it)}`,
          ).toContain(JSON.stringify(it));
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
    ["an unknown tool", { ...validLink, to: "email_shout" }, /there is no tool email_shout/],
    [
      "two tools of one server",
      {
        ...validLink,
        from: "email_get_message",
        fill: { text: "text" },
        forms: ["send {from.message_id} to {to}, subject {subject}"],
      },
      /are of one server/,
    ],
    [
      "a clause that says a passed value",
      { ...validLink, forms: ["write to {to} about {from.deal_id}, subject {subject}: {text}"] },
      /which should flow/,
    ],
    [
      "a clause without a required argument",
      { ...validLink, forms: ["write to the contact of {from.deal_id}: {text}"] },
      /does not say subject/,
    ],
    [
      "a clause that does not name the first call's entity",
      { ...validLink, forms: ["write to the contact, subject {subject}: {text}"] },
      /does not name \{from\.deal_id\}/,
    ],
    [
      "a first call that writes without being asked for",
      {
        ...validLink,
        from: "crm_add_note",
        fill: { to: "title" },
        forms: ["note {from.text} on {from.deal_id} and write, subject {subject}: {text}"],
      },
      /changes something/,
    ],
    [
      "a field that the result does not have",
      { ...validLink, fill: { to: "boss" } },
      /shows no boss/,
    ],
    ["an invalid type", { ...validLink, after: "so" }, /at \/links\/0\/after/],
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

test("a value that the user has not said goes from one server's result into another server's call", () => {
  expect(crossServerTasks.length).toBeGreaterThan(35);
  for (const { id, goals, servers } of crossServerTasks) {
    const crossed = goals.some(goal =>
      goal.after.some(
        edge =>
          edge.kind === "explicit" &&
          goal.calls.some(call =>
            goals[edge.goal]!.calls.every(
              it => getServerName(it.name) !== getServerName(call.name),
            ),
          ),
      ),
    );
    expect(crossed, id).toBe(true);
    expect(
      new Set(goals.flatMap(it => it.calls.map(call => getServerName(call.name)))).size,
      id,
    ).toBeGreaterThanOrEqual(2);
    for (const { calls } of goals)
      for (const call of calls)
        expect(servers.map(it => it.name)).toContain(getServerName(call.name));
  }
  expect(
    crossServerTasks.some(
      it =>
        new Set(it.goals.flatMap(goal => goal.calls.map(call => getServerName(call.name)))).size >
        2,
    ),
  ).toBe(true);
});

test("all servers of a task have the same fixture, so that their data is consistent", () => {
  for (const { knobs, servers } of crossServerTasks) {
    const needed = servers
      .slice(0, knobs["across"] as number)
      .map(it => parseFixtureName(it.fixture).base);
    expect(new Set(needed).size).toBe(1);
  }
});

test("the user says no ids, tool names or slots, and every turn has a reply", () => {
  for (const { turns } of crossServerTasks)
    for (const { user, reply } of turns) {
      expect(`${user}${reply}`).not.toMatch(
        /[{}|\u0000-\u0008]|undefined|\bobject\b|  |\.\.$|from\.\w/,
      );
      expect(user).not.toMatch(/\b[a-z]{2,5}_\d{3,}\b/);
      expect(reply).not.toBe("");
    }
});

test("a task that calls a held-out server is in its split, and no other menu has its tools", () => {
  expect(crossServerTasks.some(it => it.split === "heldout-server")).toBe(true);
  for (const { split, goals, menu } of crossServerTasks) {
    expect(split === "heldout-server").toBe(
      goals.some(it => it.calls.some(call => isHeldOut(getServerName(call.name)))),
    );
    if (split !== "heldout-server")
      expect(menu.filter(it => isHeldOut(getServerName(it.name)))).toEqual([]);
    for (const call of goals.flatMap(it => it.calls))
      expect(menu.map(it => it.name)).toContain(call.name);
  }
});

test("trajectories replay exactly, can be stepped in both directions, and have transcripts", () => {
  for (const it of crossServerTasks) {
    expect(checkReplay(catalog, it.trajectory).verdict, it.id).toBe("same");
    expect(formatTranscript(it.trajectory, { task: it }).text).toContain(it.turns[0]!.user);
  }
  const cursor = new TrajectoryCursor(catalog, crossServerTasks[0]!.trajectory);
  const { state: start } = cursor.current;
  expect(Object.keys(start)).toEqual(crossServerTasks[0]!.servers.map(it => it.name));
  while (!cursor.current.atEnd) cursor.step();
  expect(cursor.current.state).not.toEqual(start);
  while (cursor.current.position > 0) cursor.stepBack();
  expect(cursor.current.state).toEqual(start);
});

test("the teacher's calls get the full score, and those of one server alone do not", async () => {
  const attemptOf = createAttemptFactory(catalog);
  for (const it of crossServerTasks.slice(0, 15)) {
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
        event => event.kind !== "call" || getServerName(event.name) === first!.name,
      ),
    };
    expect(scoreAttempt(attemptOf(it, asFinished(half)!), provePlusProfile)).not.toMatchObject({
      parts: { coverage: { score: 1 } },
    });
  }
});

test("tasks are the same after writing and reading them", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "prove-cross-")), "a.tasks.jsonl");
  writeFileSync(file, crossServerTasks.map(it => `${formatTaskLine(it)}\n`).join(""));
  let i = 0;
  for await (const it of readTasks(file)) expect(it).toEqual(crossServerTasks[i++]);
  expect(i).toBe(crossServerTasks.length);
});

test("the same seed gives the same tasks, and the student preset has no tasks across servers", async () => {
  const again = await synthesizeTasks(20, {
    servers: [...catalog.servers.keys()],
    preset: "paper",
    crossServerShare: 1,
    seed: 4,
  });
  expect(again.tasks).toEqual(allTasks.slice(0, 20));
  const { tasks } = await synthesizeTasks(25, { servers: [...catalog.servers.keys()] });
  expect(tasks.filter(it => it.knobs["bridges"] !== undefined)).toEqual([]);
});
