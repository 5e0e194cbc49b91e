/** `variants`: more tasks like one of a file, the same bytes for the same seed, invalid options. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { variants } from "../../src/cli/variants.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import { type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import { synthesizeTasks } from "../synthesis/synthesizeTasks.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

const cwd = emptyFolder();
let task: Task;
beforeAll(async () => {
  const { tasks } = await synthesizeTasks(6, { servers: ["banking"], preset: "paper", seed: 3 });
  // the shorter the conversation, the sooner another one like it is found
  const [shortest] = tasks
    .filter(it => it.kind === "normal")
    .sort((a, b) => a.goals.length - b.goals.length);
  task = shortest!;
  writeFileSync(join(cwd, "a.tasks.jsonl"), tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
});

const runVariants = (...args: string[]) => runCommand(variants, args, { cwd });

test("writes the number of variants, and the same seed writes the same bytes", async () => {
  const { code, out } = await runVariants(
    "a.tasks.jsonl",
    "--task",
    task.id,
    "--count",
    "3",
    "--seed",
    "2",
    "--out",
    "more/b.tasks.jsonl",
  );
  expect(code).toBe(0);
  expect(out.join("\n")).toMatch(/^3 variants of banking-3-\d+ in .*b\.tasks\.jsonl \([\d.]+ s\)$/);
  let n = 0;
  for await (const it of readTasks(join(cwd, "more/b.tasks.jsonl"))) {
    expect(it.goals.flatMap(goal => goal.calls.map(call => call.name))).toEqual(
      task.goals.flatMap(goal => goal.calls.map(call => call.name)),
    );
    n++;
  }
  expect(n).toBe(3);
  const { out: json } = await runVariants(
    "a.tasks.jsonl",
    "--task",
    task.id,
    "--count",
    "3",
    "--seed",
    "2",
    "--out",
    "c.jsonl",
    "--json",
  );
  expect(JSON.parse(json[0]!)).toMatchObject({ task: task.id, made: 3 });
  expect(readFileSync(join(cwd, "c.jsonl"), "utf8")).toBe(
    readFileSync(join(cwd, "more/b.tasks.jsonl"), "utf8"),
  );
});

describe("refuses", () => {
  const cases: [what: string, args: string[], why: RegExp][] = [
    ["no file", ["--task", "x", "--count", "1", "--out", "z.jsonl"], /needs one tasks file/],
    ["no task", ["a.tasks.jsonl", "--count", "1", "--out", "z.jsonl"], /which task to vary/],
    [
      "a task that is not in the file",
      ["a.tasks.jsonl", "--task", "x", "--count", "1", "--out", "z.jsonl"],
      /has no task x among its 6/,
    ],
    ["no count", ["a.tasks.jsonl", "--task", "x", "--out", "z.jsonl"], /how many to make/],
    [
      "a count of 0",
      ["a.tasks.jsonl", "--task", "x", "--count", "0", "--out", "z.jsonl"],
      /--count 0 is not a number of tasks/,
    ],
    [
      "a seed of text",
      ["a.tasks.jsonl", "--task", "x", "--count", "1", "--seed", "today", "--out", "z.jsonl"],
      /--seed today/,
    ],
    [
      "no file to write",
      ["a.tasks.jsonl", "--task", "x", "--count", "1"],
      /needs a file to write to/,
    ],
    [
      "a file that exists",
      ["a.tasks.jsonl", "--task", "x", "--count", "1", "--out", "a.tasks.jsonl"],
      /exists already/,
    ],
  ];
  test.each(cases)("%s", async (_, args, why) => {
    await expect(runVariants(...args)).rejects.toThrow(why);
  });
});
