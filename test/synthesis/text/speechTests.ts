/** The texts of six hundred conversations on all servers have none of the known language errors. */
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/environment/json.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";

/** Removes quotations, paths and addresses, which are not changed by the templates. */
const removeVerbatim = (text: string) =>
  text
    .replaceAll(/["“][^"”]*["”]/g, "…")
    .replaceAll(/[~\w./-]*[/@][\w./@-]+|[\w-]+\.(?:md|txt|csv|log|zip|tar|pdf|svg)\b/g, "…");

const errors: [what: string, pattern: RegExp][] = [
  ["a repeated word", /(?<![-\w.])\b([a-z]{2,}) \1\b(?![-.]\w)/i],
  ["two articles", /\b(?:the|a|my|your) (?:my|your|the|a|it)\b/],
  ["an id", /\b(?!v_)[a-z]{2,5}_\d{2,}\b/],
  ["an amount with one decimal", /(?<![\d.])\d+\.\d euros?\b/],
  ["two currencies", /€[\d.]+ euros/],
  ["a space before a comma", / [,.?!](?: |$)/],
  ["a comma or colon at the end", /[,:;]$/],
  ["an open slot", /[{}|\u0000-\u0008]|\bundefined\b|\bNaN\b|\[object/],
  ["a pronoun after the particle", /\b(?:turn|call|put|write) (?:down|off|up) (?:it|them)\b/i],
];

/** Tests the texts of tasks. */
export function testSpeech(readTasks: () => readonly Task[]): void {
  let tasks: readonly Task[];
  beforeAll(() => {
    tasks = readTasks();
  });
  test.each(errors)("no text has %s", (_, pattern) => {
    for (const { id, turns } of tasks)
      for (const { user, reply } of turns)
        for (const text of [user, reply]) expect(removeVerbatim(text), id).not.toMatch(pattern);
  });

  const replyErrors: [what: string, pattern: RegExp][] = [
    ["Done twice", /\bDone\b.*\bDone\b/],
    ["two apologies", /\b(?:sorry|afraid|Unfortunately)\b.*\b(?:sorry|afraid|Unfortunately)\b/i],
    ["an ISO date", /\b\d{4}-\d{2}-\d{2}/],
    [
      "a plural after 1",
      /(?<![\d.,:/-])\b1 (?:files|tasks|messages|events|minutes|lines|items|places|euros|orders)\b/,
    ],
    ["but after But", /\bBut\b[^.]*, but\b/],
    ["an identifier in snake case", /(?<![\w.:#])[a-z]+_[a-z]+\b/],
  ];
  test.each(replyErrors)("no reply has %s", (_, pattern) => {
    const replies = tasks.flatMap(({ id, turns }) =>
      turns.flatMap(({ user, reply }) =>
        !pattern.test(user) && pattern.test(removeVerbatim(reply)) ? [`${id}: ${reply}`] : [],
      ),
    );
    expect(replies).toEqual([]);
  });

  test("no reply has the same sentence twice", () => {
    for (const { id, turns } of tasks) {
      for (const { reply } of turns) {
        const sentences = reply
          .replaceAll(/["“][^"”]*["”]/g, "…")
          .split(/(?<=[.?!]) /)
          .filter(it => it.length > 3);
        expect(new Set(sentences).size, `${id}: ${reply}`).toBe(sentences.length);
      }
    }
  });

  test("a list is cut only if it has more than twelve rows", () => {
    const listLengths = (it: Task) =>
      listCalls(it.trajectory).flatMap(({ outcome }) => {
        if (outcome.kind !== "ok") return [];
        const { total, ...fields } = (outcome.value ?? {}) as JsonObject;
        const lengths = Object.values(fields).flatMap(rows =>
          Array.isArray(rows) ? [rows.length] : [],
        );
        // the tool itself leaves rows out
        return Number(total) > Math.max(...lengths) ? [Infinity] : lengths;
      });
    const cut = tasks.filter(
      it =>
        it.turns.some(({ reply }) => / and \d+ more\b(?!\))/.test(removeVerbatim(reply))) &&
        Math.max(...listLengths(it)) <= 12,
    );
    expect(cut.map(it => it.id)).toEqual([]);
  });

  test("no reply names a sum of money without its currency", () => {
    for (const { id, turns } of tasks)
      for (const { reply } of turns)
        expect(reply, id).not.toMatch(/\b(?:have moved|Here you are:) \d[\d.]*(?! euro|[\d.])/);
  });

  test("a value that is added to a request belongs to it", () => {
    for (const { id, turns } of tasks)
      for (const { user } of turns)
        expect(user, id).not.toMatch(
          /(?<!ahead|now|please),? (?:and|then) use (?:my |the )?[A-Z][^,.]*[.?]?$/,
        );
  });

  test("no conversation makes the same write twice", () => {
    for (const { id, trajectory } of tasks) {
      const writes = listCalls(trajectory).filter(
        it =>
          it.outcome.kind === "ok" &&
          catalog.tools.get(it.name)!.effect === "write" &&
          !JSON.stringify(it.arguments).match(/:-?\d/) &&
          // a basket can be emptied, filled and emptied again
          Object.keys(it.arguments as object).length > 0,
      );
      const keys = writes.map(it => `${it.name} ${JSON.stringify(it.arguments)}`);
      expect(new Set(keys).size, id).toBe(keys.length);
    }
  });

  test("irrelevant conversations have at most two turns, with different replies", () => {
    for (const { id, kind, turns } of tasks) {
      if (kind !== "irrelevant") continue;
      expect(turns.length, id).toBeLessThan(3);
      expect(new Set(turns.map(it => it.reply)).size, id).toBe(turns.length);
    }
  });

  test("no user sounds pleased after a reply that there is nothing", () => {
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

  test("no user says their own name", () => {
    for (const { id, turns } of tasks)
      for (const { user } of turns) expect(user, id).not.toMatch(/\bAna Ruiz\b/);
  });

  test("no refused call is made again with the same arguments, unless something was changed", () => {
    for (const { id, trajectory } of tasks) {
      let changes = 0;
      const refusedCalls = listCalls(trajectory).flatMap(it => {
        if (it.outcome.kind === "ok" && catalog.tools.get(it.name)!.effect === "write") changes++;
        return it.outcome.kind === "refused"
          ? [`${changes} ${it.name} ${JSON.stringify(it.arguments)}`]
          : [];
      });
      expect(new Set(refusedCalls).size, id).toBe(refusedCalls.length);
    }
  });

  describe("user turns", () => {
    test("have corrections, numbered lists, positions in a list, relative days and currency signs", () => {
      const userTexts = tasks.flatMap(it => it.turns.map(turn => turn.user));
      for (const pattern of [
        /, (?:no|sorry|no wait|I mean),? /,
        /^.*\b1\) .* 2\) /,
        /\bthe (?:first|second|third|other) one\b/,
        /\bthe second \w+|\bthe first \w+/,
        /€\d/,
        /\bnext week\b|\btomorrow\b/,
      ])
        expect(userTexts.filter(it => pattern.test(it)).length, String(pattern)).toBeGreaterThan(0);
    });

    test("have partial names, which are retried with the server's hint", () => {
      const retried = tasks.filter(({ trajectory }) => {
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
      for (const it of retried) expect(it.provenance.log.join(" ")).toMatch(/retry/);
    });

    test("differ between conversations", () => {
      const openings = tasks.map(it => it.turns[0]!.user);
      expect(new Set(openings).size).toBeGreaterThan(0.9 * openings.length);
      expect(new Set(tasks.map(it => it.persona)).size).toBeGreaterThan(14);
    });
  });
}
