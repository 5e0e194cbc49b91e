/** The index of a tasks file, and filtering and searching its tasks. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { FilteredTasks, parseTaskFilter } from "../../../src/editor/tasks/taskFilter.ts";
import { indexTasks, readTask } from "../../../src/editor/attempts/taskIndex.ts";
import { searchTasks, type SearchHit } from "../../../src/editor/tasks/taskSearch.ts";
import { formatTaskLine } from "../../../src/trajectory/task.ts";
import { abstain, moveFifty, moveTwice } from "../../trajectory/sampleTasks.ts";
import { writeManyTasks } from "../manyTasks.ts";
import { measureLongestRun } from "../turns.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-index-"));
afterAll(() => rmSync(folder, { recursive: true }));

const writeTasks = (text: string): string => {
  const file = join(folder, "few.tasks.jsonl");
  writeFileSync(file, text);
  return file;
};

test("a task is indexed with its first request and its required calls, and read by its position", async () => {
  const tasks = [await moveFifty(), await moveTwice(), await abstain()];
  const file = writeTasks(`${tasks.map(formatTaskLine).join("\n")}\n`);
  const { entries, skipped } = await indexTasks(file);
  expect(skipped).toEqual([]);
  expect(entries.map(it => [it.number, it.request, it.goals.join(" ")])).toEqual([
    [1, "Move 50 euros from acc_101 to my savings.", "banking_list_accounts banking_transfer"],
    [
      2,
      "Move 50 to Savings and 20 to the holiday fund.",
      "banking_transfer banking_transfer banking_get_balance",
    ],
    [3, "Book me a flight to Porto.", ""],
  ]);
  expect(await readTask(file, entries[1]!)).toEqual(tasks[1]);
});

test("a line that is not a task is listed with the reason, and the others are indexed", async () => {
  const good = formatTaskLine(await moveFifty());
  const file = writeTasks(
    [
      '{"format":"prove/task@9"}',
      "not json",
      "",
      good,
      '{"format":"prove/task@1","id":"x"}',
      JSON.stringify({ ...(JSON.parse(good) as object), goals: 5 }),
      good.replace('"goals":[', `"x":${"[".repeat(3_000)}${"]".repeat(3_000)},"goals":[`),
      good.slice(0, 200),
    ].join("\n"),
  );
  const { entries, skipped } = await indexTasks(file);
  expect(entries.map(it => it.number)).toEqual([4]);
  expect(skipped).toEqual([
    { line: 1, reason: "its format is prove/task@9, and this version reads prove/task@4" },
    { line: 2, reason: expect.stringContaining("is not JSON") },
    { line: 5, reason: "it lacks a field that every task has" },
    { line: 6, reason: expect.stringMatching(/^its fields are not as expected \(/) },
    { line: 7, reason: "it is nested more than 96 levels deep" },
    { line: 8, reason: "the line is torn: its end was never written" },
  ]);
});

test("a last line is called torn only if it was cut off", async () => {
  const { skipped } = await indexTasks(writeTasks('{"format":"prove/task@1","id":"x"}'));
  expect(skipped).toEqual([{ line: 1, reason: "it lacks a field that every task has" }]);
});

test("a task is indexed whatever the order of its keys", async () => {
  const { trajectory, ...rest } = JSON.parse(formatTaskLine(await moveFifty())) as Record<
    string,
    unknown
  >;
  const file = writeTasks(
    `${JSON.stringify({ trajectory, ...rest }, null, 1).replaceAll("\n", " ")}\n`,
  );
  const { entries, skipped } = await indexTasks(file);
  expect(skipped).toEqual([]);
  expect(entries).toMatchObject([
    { id: rest["id"], goals: ["banking_list_accounts", "banking_transfer"] },
  ]);
});

test("a file that changed since it was indexed is reported", async () => {
  const file = writeTasks(`${formatTaskLine(await moveFifty())}\n`);
  const [entry] = (await indexTasks(file)).entries;
  writeFileSync(file, "shorter\n");
  await expect(readTask(file, entry!)).rejects.toMatchObject({
    what: expect.stringContaining("has changed since it was listed"),
    remedy: "refresh the view and open it again",
  });
});

test("a missing file is reported", async () => {
  await expect(indexTasks(join(folder, "gone.tasks.jsonl"))).rejects.toMatchObject({
    what: expect.stringContaining("there is no file"),
  });
});

test("only the new lines of a file that has grown are read; a rewritten file is read again", async () => {
  const [fifty, twice, none] = [await moveFifty(), await moveTwice(), await abstain()].map(
    formatTaskLine,
  ) as [string, string, string];
  const ids = async () => (await indexTasks(file)).entries.map(it => it.request.split(" ")[0]);
  const file = writeTasks(`${fifty}\n${twice.slice(0, 300)}`);
  const before = await indexTasks(file);
  expect(before).toMatchObject({
    entries: [{ number: 1 }],
    skipped: [{ line: 2, reason: "the line is torn: its end was never written" }],
  });
  appendFileSync(file, `${twice.slice(300)}\n`);
  const after = await indexTasks(file);
  expect(after).toMatchObject({ entries: [{ number: 1 }, { number: 2 }], skipped: [] });
  appendFileSync(file, `${none}\n`);
  expect((await indexTasks(file)).entries).toBe(after.entries);
  expect(await readTask(file, after.entries[2]!)).toEqual(await abstain());
  writeFileSync(file, `${none}\n${fifty}\n${twice}\n`);
  expect(await ids()).toEqual(["Book", "Move", "Move"]);
});

const checkFilter = async (filter: string, expected: readonly string[]) => {
  const tasks = [
    { ...(await moveFifty()), kind: "clarify" as const },
    {
      ...(await moveTwice()),
      split: "heldout-chain" as const,
      knobs: { distractors: 3, lists: false },
    },
    await abstain(),
  ];
  const { entries } = await indexTasks(
    writeTasks(tasks.map(it => `${formatTaskLine(it)}\n`).join("")),
  );
  const shown = await new FilteredTasks(entries, parseTaskFilter(filter)).list();
  expect(shown.map(it => ["fifty", "twice", "none"][it.number - 1])).toEqual(expected);
};

test("an empty filter matches all tasks", () => checkFilter(" ", ["fifty", "twice", "none"]));
test("all words must occur, in upper or lower case", () =>
  checkFilter("BANKING savings holiday", ["twice"]));
test("a quoted phrase must occur as it is", () => checkFilter('"to savings"', ["twice"]));
test("a field matches if one of its values contains the text", () =>
  checkFilter("tool:get_balance", ["twice"]));
test("values separated by commas are alternatives", () =>
  checkFilter("split:heldout,abc", ["twice"]));
test("all fields and words must match", () =>
  checkFilter("kind:clarify server:bank savings", ["fifty"]));
test("a knob that is on is found by its name", () => checkFilter("knob:distractors", ["twice"]));
test("a knob that is off is not found", () => checkFilter("knob:lists", []));
test("a token that is not a field is a word", () => checkFilter("note:this 09:00", []));
test("a field without a value matches all tasks", () =>
  checkFilter("split:", ["fifty", "twice", "none"]));

const checkSearch = async (text: string, expected: readonly Partial<SearchHit>[]) => {
  const tasks = [await moveFifty(), await moveTwice(), await abstain()];
  const index = await indexTasks(writeTasks(tasks.map(it => `${formatTaskLine(it)}\n`).join("")));
  const hits: SearchHit[] = [];
  for await (const it of searchTasks(index, parseTaskFilter(text))) hits.push(it);
  expect(hits).toMatchObject(expected);
};

test("a search finds messages, with the text around the word", () =>
  checkSearch("porto", [{ where: "user", excerpt: "Book me a flight to Porto." }]));
test("a search finds calls", () =>
  checkSearch("banking_get_balance", [
    { where: "banking_get_balance", excerpt: expect.stringContaining("acc_") },
  ]));
test("a search uses the fields of its filter", () => checkSearch("kind:normal porto", []));
test("the keys of a task are not searched", () => checkSearch("catalog", []));
test("quotes and backslashes are searched for literally", () => checkSearch('\\"', []));

describe("other work gets its turns while thousands of tasks", () => {
  const count = 13_517;
  const file = writeManyTasks(join(folder, "many.tasks.jsonl"), count);

  test("are indexed, and searched", async () => {
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    const countLines = () => parse.mock.calls.length;
    const indexing = await measureLongestRun(countLines, () => indexTasks(file));
    expect(indexing.result.entries).toHaveLength(count);
    const searching = await measureLongestRun(countLines, async () => {
      let hits = 0;
      for await (const _ of searchTasks(indexing.result, parseTaskFilter("the"))) hits++;
      return hits;
    });
    expect(searching.result).toBeGreaterThan(count / 2);
    expect(countLines()).toBeGreaterThanOrEqual(count + searching.result);
    for (const { longest } of [indexing, searching]) expect(longest).toBeLessThan(count / 20);
  });

  test("are filtered", async () => {
    const { entries } = await indexTasks(file);
    // by the clock, each task takes a millisecond
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now++);
    onTestFinished(() => clock.mockRestore());
    const filtering = await measureLongestRun(
      () => now,
      () => new FilteredTasks(entries, parseTaskFilter("kind:normal banking")).list(),
    );
    expect(filtering.result.length).toBeGreaterThan(100);
    expect(now).toBeGreaterThanOrEqual(count);
    expect(filtering.longest).toBeLessThanOrEqual(10);
  });
});
