/**
 * A tasks file as a tree shows it: which tasks there are, which lines are none, and one task read
 * by its place.
 */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { FilteredTasks, parseTaskFilter } from "../../../src/editor/tasks/taskFilter.ts";
import { indexTasks, readTask } from "../../../src/editor/tasks/taskIndex.ts";
import { searchTasks, type SearchHit } from "../../../src/editor/tasks/taskSearch.ts";
import { formatTaskLine } from "../../../src/trajectory/taskLine.ts";
import { abstain, moveFifty, moveTwice } from "../../trajectory/made.ts";
import { manyTasks } from "../manyTasks.ts";
import { longestBlock } from "../meter.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-index-"));
afterAll(() => rmSync(folder, { recursive: true }));

const written = (text: string): string => {
  const file = join(folder, "few.tasks.jsonl");
  writeFileSync(file, text);
  return file;
};

test("each task is listed with what the user asks and the calls that must happen, and read by its place", async () => {
  const tasks = [await moveFifty(), await moveTwice(), await abstain()];
  const file = written(`${tasks.map(formatTaskLine).join("\n")}\n`);
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

test("lines that are no task are told with the reason, and hide no other", async () => {
  const good = formatTaskLine(await moveFifty());
  const file = written(
    `{"format":"prove/task@9"}\nnot json\n\n${good}\n{"format":"prove/task@1","id":"x"}\n${good.slice(0, 200)}`,
  );
  const { entries, skipped } = await indexTasks(file);
  expect(entries.map(it => it.number)).toEqual([4]);
  expect(skipped).toEqual([
    { line: 1, reason: "its format is prove/task@9, and this version reads prove/task@2" },
    { line: 2, reason: expect.stringContaining("is not JSON") },
    { line: 5, reason: "it lacks what every task has" },
    { line: 6, reason: "the line is torn: its end was never written" },
  ]);
});

test("a file that changed since it was listed says so", async () => {
  const file = written(`${formatTaskLine(await moveFifty())}\n`);
  const [entry] = (await indexTasks(file)).entries;
  writeFileSync(file, "shorter\n");
  await expect(readTask(file, entry!)).rejects.toMatchObject({
    what: expect.stringContaining("has changed since it was listed"),
    remedy: "refresh the view and open it again",
  });
});

test("a file that is gone says so", async () => {
  await expect(indexTasks(join(folder, "gone.tasks.jsonl"))).rejects.toMatchObject({
    what: expect.stringContaining("there is no file"),
  });
});

test("a file that grows is read on, one that is written anew is read again", async () => {
  const [fifty, twice, none] = [await moveFifty(), await moveTwice(), await abstain()].map(
    formatTaskLine,
  ) as [string, string, string];
  const ids = async () => (await indexTasks(file)).entries.map(it => it.request.split(" ")[0]);
  const file = written(`${fifty}\n${twice.slice(0, 300)}`);
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
    written(tasks.map(it => `${formatTaskLine(it)}\n`).join("")),
  );
  const shown = await new FilteredTasks(entries, parseTaskFilter(filter)).list();
  expect(shown.map(it => ["fifty", "twice", "none"][it.number - 1])).toEqual(expected);
};

test("no filter shows all", () => checkFilter(" ", ["fifty", "twice", "none"]));
test("words must all occur, in any case", () => checkFilter("BANKING savings holiday", ["twice"]));
test("words in quotes stand together", () => checkFilter('"to savings"', ["twice"]));
test("a field holds where a value of it contains what is asked for", () =>
  checkFilter("tool:get_balance", ["twice"]));
test("values after a comma are others that do", () => checkFilter("split:heldout,abc", ["twice"]));
test("fields and words must all hold", () =>
  checkFilter("kind:clarify server:bank savings", ["fifty"]));
test("a knob is found by its name, where it was on", () =>
  checkFilter("knob:distractors", ["twice"]));
test("a knob that was off is not found", () => checkFilter("knob:lists", []));
test("what is no field is a word", () => checkFilter("note:this 09:00", []));
test("a field without a value is still being typed", () =>
  checkFilter("split:", ["fifty", "twice", "none"]));

const checkSearch = async (text: string, expected: readonly Partial<SearchHit>[]) => {
  const tasks = [await moveFifty(), await moveTwice(), await abstain()];
  const index = await indexTasks(written(tasks.map(it => `${formatTaskLine(it)}\n`).join("")));
  const hits: SearchHit[] = [];
  for await (const it of searchTasks(index, parseTaskFilter(text))) hits.push(it);
  expect(hits).toMatchObject(expected);
};

test("a search finds what was answered, with the words around it", () =>
  checkSearch("porto", [{ where: "user", excerpt: "Book me a flight to Porto." }]));
test("a search finds what was called", () =>
  checkSearch("banking_get_balance", [
    { where: "banking_get_balance", excerpt: expect.stringContaining("acc_") },
  ]));
test("a search keeps to the fields beside its words", () => checkSearch("kind:normal porto", []));
test("names of fields are no hits", () => checkSearch("catalog", []));
test("quotes and backslashes are looked for as they were said", () => checkSearch('\\"', []));

test("thousands of tasks are indexed, filtered and searched without holding the host up", async () => {
  const file = manyTasks(join(folder, "many.tasks.jsonl"), 13_517);
  const indexing = await longestBlock(() => indexTasks(file));
  expect(indexing.result.entries).toHaveLength(13_517);
  const filtering = await longestBlock(() =>
    new FilteredTasks(indexing.result.entries, parseTaskFilter("kind:normal banking")).list(),
  );
  expect(filtering.result.length).toBeGreaterThan(100);
  const searching = await longestBlock(async () => {
    let n = 0;
    for await (const _ of searchTasks(indexing.result, parseTaskFilter("banking"))) n++;
    return n;
  });
  expect(searching.result).toBeGreaterThan(100);
  process.stdout.write(
    `measured longest blocks of 13,517 tasks, in ms: index ${indexing.block.toFixed(1)}, filter ${filtering.block.toFixed(1)}, search ${searching.block.toFixed(1)}\n`,
  );
  expect(Math.max(indexing.block, filtering.block, searching.block)).toBeLessThan(100);
});
