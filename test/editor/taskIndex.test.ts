/** A tasks file as a tree shows it: which tasks there are, which lines are none, and one task read by its place. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { indexTasks, matches, readTask } from "../../src/editor/taskIndex.ts";
import { taskLine } from "../../src/trajectory/taskLine.ts";
import { abstain, moveFifty, moveTwice } from "../trajectory/made.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-index-"));
afterAll(() => rmSync(folder, { recursive: true }));

const written = (text: string): string => {
  const file = join(folder, "few.tasks.jsonl");
  writeFileSync(file, text);
  return file;
};

test("each task is listed with what the user asks and the calls that must happen, and read by its place", async () => {
  const tasks = [await moveFifty(), await moveTwice(), await abstain()];
  const file = written(`${tasks.map(taskLine).join("\n")}\n`);
  const { entries, skipped } = await indexTasks(file);
  expect(skipped).toEqual([]);
  expect(entries.map(it => [it.number, it.asked, it.goals.join(" ")])).toEqual([
    [1, "Move 50 euros from acc_101 to my savings.", "banking_list_accounts banking_transfer"],
    [2, "Move 50 to Savings and 20 to the holiday fund.", "banking_transfer banking_transfer banking_get_balance"],
    [3, "Book me a flight to Porto.", ""],
  ]);
  expect(await readTask(file, entries[1]!)).toEqual(tasks[1]);
});

test("lines that are no task are told with the reason, and hide no other", async () => {
  const good = taskLine(await moveFifty());
  const file = written(`{"format":"prove/task@9"}\nnot json\n\n${good}\n{"format":"prove/task@1","id":"x"}\n${good.slice(0, 200)}`);
  const { entries, skipped } = await indexTasks(file);
  expect(entries.map(it => it.number)).toEqual([4]);
  expect(skipped).toEqual([
    { line: 1, why: "its format is prove/task@9, and this version reads prove/task@2" },
    { line: 2, why: expect.stringContaining("is not JSON") },
    { line: 5, why: "it lacks what every task has" },
    { line: 6, why: "the line is torn: its end was never written" },
  ]);
});

test("a file that changed since it was listed says so", async () => {
  const file = written(`${taskLine(await moveFifty())}\n`);
  const [entry] = (await indexTasks(file)).entries;
  writeFileSync(file, "shorter\n");
  await expect(readTask(file, entry!)).rejects.toMatchObject({ what: expect.stringContaining("has changed since it was listed"), remedy: "refresh the view and open it again" });
});

test("a file that is gone says so", async () => {
  await expect(indexTasks(join(folder, "gone.tasks.jsonl"))).rejects.toMatchObject({ what: expect.stringContaining("cannot read") });
});

test("a filter's words must all occur, anywhere in what is shown", async () => {
  const file = written(`${taskLine(await moveFifty())}\n`);
  const [entry] = (await indexTasks(file)).entries;
  const shown = ["", "savings", "BANKING transfer", "train euros", "t-move"].map(it => matches(entry!, it));
  expect(shown).toEqual([true, true, true, true, true]);
  expect(matches(entry!, "savings calendar")).toBe(false);
});
