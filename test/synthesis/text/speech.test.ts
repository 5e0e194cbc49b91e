/** What is said on every server, held to what no person would say. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/doors.ts";
import { made } from "../made.ts";

let tasks: Task[];
beforeAll(async () => {
  ({ tasks } = await made(600, {
    servers: [...catalog.servers.keys()],
    seed: 23,
    preset: "paper",
  }));
}, 240_000);

/** Without what is quoted, and without paths and addresses, which are as they are. */
const plain = (text: string) =>
  text
    .replaceAll(/["“][^"”]*["”]/g, "…")
    .replaceAll(/[~\w./-]*[/@][\w./@-]+|[\w-]+\.(?:md|txt|csv|log|zip|tar|pdf|svg)\b/g, "…");

const slips: [what: string, slip: RegExp][] = [
  ["a word twice", /(?<![-\w.])\b([a-z]{2,}) \1\b(?![-.]\w)/i],
  ["an article too many", /\b(?:the|a|my|your) (?:my|your|the|a|it)\b/],
  ["an id", /\b(?!v_)[a-z]{2,5}_\d{2,}\b/],
  ["half the cents", /(?<![\d.])\d+\.\d euros?\b/],
  ["two currencies", /€[\d.]+ euros/],
  ["a space before a comma", / [,.?!](?: |$)/],
  ["an end that is none", /[,:;]$/],
  ["an open slot", /[{}|\u0000-\u0008]|\bundefined\b|\bNaN\b|\[object/],
  ["down it", /\b(?:turn|call|put|write) (?:down|off|up) (?:it|them)\b/i],
];
test.each(slips)("nobody says %s", (_, slip) => {
  for (const { id, turns } of tasks)
    for (const { user, reply } of turns)
      for (const text of [user, reply]) expect(plain(text), id).not.toMatch(slip);
});

const stumbles: [what: string, stumble: RegExp][] = [
  ["Done twice", /\bDone\b.*\bDone\b/],
  [
    "that it is sorry twice",
    /\b(?:sorry|afraid|Unfortunately)\b.*\b(?:sorry|afraid|Unfortunately)\b/i,
  ],
  ["a date as machines do", /\b\d{4}-\d{2}-\d{2}/],
  [
    "one things",
    /(?<![\d.,:/-])\b1 (?:files|tasks|messages|events|minutes|lines|items|places|euros|orders)\b/,
  ],
  ["but after But", /\bBut\b[^.]*, but\b/],
  ["a name that only a machine gives", /(?<![\w.:#])[a-z]+_[a-z]+\b/],
];
test.each(stumbles)("the assistant never says %s", (_, stumble) => {
  const said = tasks.flatMap(({ id, turns }) =>
    turns.flatMap(({ user, reply }) =>
      !stumble.test(user) && stumble.test(plain(reply)) ? [`${id}: ${reply}`] : [],
    ),
  );
  expect(said).toEqual([]);
});

test("no answer says the same sentence twice", () => {
  for (const { id, turns } of tasks) {
    for (const { reply } of turns) {
      const sentences = plain(reply)
        .split(/(?<=[.?!]) /)
        .filter(it => it.length > 3);
      expect(new Set(sentences).size, `${id}: ${reply}`).toBe(sentences.length);
    }
  }
});

test("nobody asks a second time for what was done, and a change is not taken back at once", () => {
  for (const { id, trajectory } of tasks) {
    const granted = listCalls(trajectory).filter(
      it =>
        it.outcome.kind === "ok" &&
        catalog.tools.get(it.name)!.effect === "write" &&
        !JSON.stringify(it.arguments).match(/:-?\d/),
    );
    const keys = granted.map(it => `${it.name} ${JSON.stringify(it.arguments)}`);
    expect(new Set(keys).size, id).toBe(keys.length);
  }
});

test("what cannot be done is told in other words each time, and no more than twice", () => {
  for (const { id, kind, turns } of tasks) {
    if (kind !== "irrelevant") continue;
    expect(turns.length, id).toBeLessThan(3);
    expect(new Set(turns.map(it => it.reply)).size, id).toBe(turns.length);
  }
});

test("nobody is pleased that there is nothing", () => {
  const isNothing = (reply = "") =>
    /^(None|Nobody|Nothing|There (is|are) no\b)[^.]*\.$/.test(reply);
  const isPleased = (user: string) =>
    /^(Oh, )?(good|great|lovely|perfect|nice|wonderful|splendid|excellent|awesome)\b/i.test(user);
  expect(
    tasks.flatMap(({ id, turns }) =>
      turns
        .filter(({ user }, i) => isNothing(turns[i - 1]?.reply) && isPleased(user))
        .map(it => `${id}: ${it.user}`),
    ),
  ).toEqual([]);
});

test("nobody speaks of themselves by name", () => {
  for (const { id, turns } of tasks)
    for (const { user } of turns) expect(user, id).not.toMatch(/\bAna Ruiz\b/);
});

test("what was refused is not asked for again in the same words", () => {
  for (const { id, trajectory } of tasks) {
    const refused = listCalls(trajectory)
      .filter(it => it.outcome.kind === "refused")
      .map(it => `${it.name} ${JSON.stringify(it.arguments)}`);
    expect(new Set(refused).size, id).toBe(refused.length);
  }
});

describe("what users say", () => {
  test("is put right now and then, is numbered now and then, and points at what was read out", () => {
    const said = tasks.flatMap(it => it.turns.map(turn => turn.user));
    for (const habit of [
      /, (?:no|sorry|no wait|I mean),? /,
      /^.*\b1\) .* 2\) /,
      /\bthe (?:first|second|third|other) one\b/,
      /\bthe second \w+|\bthe first \w+/,
      /€\d/,
      /\bnext week\b|\btomorrow\b/,
    ])
      expect(said.filter(it => habit.test(it)).length, String(habit)).toBeGreaterThan(0);
  });

  test("half-said names are put right by the server's hint", () => {
    const mended = tasks.filter(({ trajectory }) => {
      const calls = listCalls(trajectory);
      return calls.some(
        (it, i) =>
          it.outcome.kind === "refused" &&
          it.outcome.type === "not_found" &&
          it.outcome.hint !== undefined &&
          calls[i + 1]?.name === it.name &&
          calls[i + 1]?.outcome.kind === "ok",
      );
    });
    for (const it of mended) expect(it.provenance.log.join(" ")).toMatch(/retry/);
  });

  test("differs from talk to talk", () => {
    const openings = tasks.map(it => it.turns[0]!.user);
    expect(new Set(openings).size).toBeGreaterThan(0.9 * openings.length);
    expect(new Set(tasks.map(it => it.persona)).size).toBeGreaterThan(14);
  });
});
