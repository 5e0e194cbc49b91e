/** `import`: published abstention data sets become tasks whose right answer is no call. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importTasks } from "../../src/cli/import.ts";
import { replay } from "../../src/cli/replay.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy, createTeacherPolicy } from "../../src/policy/scripted.ts";
import { scoreAttempt } from "../../src/reward/reward.ts";
import { paperProfile } from "../../src/reward/profiles.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { parseTask } from "../../src/trajectory/file.ts";
import { catalog } from "../contracts/transports.ts";
import { runCommand } from "./terminal.ts";

let cwd: string;
beforeAll(() => (cwd = mkdtempSync(join(tmpdir(), "prove-import-"))));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const weather = {
  name: "weather.now",
  description: "The weather at a place.",
  parameters: {
    type: "dict",
    properties: { place: { type: "string" }, days: { type: "int" } },
    required: ["place"],
  },
};

const trainingRows = [
  {
    tools: [JSON.stringify(weather)],
    messages: [
      { role: "user", content: "Will it rain?" },
      { role: "assistant", content: "Where are you?" },
    ],
  },
  {
    tools: [JSON.stringify(weather)],
    messages: [{ role: "user", content: "Will it rain in Ghent?" }],
    chosen_response: {
      role: "assistant",
      content: '<TOOLCALL>[{"name": "weather.now"}]</TOOLCALL>',
    },
    rejected_response: { role: "assistant", content: "Yes." },
  },
  {
    tools: [],
    messages: [
      { role: "user", content: "Hello." },
      { role: "assistant", content: "Hello!" },
      { role: "user", content: "Book a table." },
      { role: "assistant", content: "I cannot." },
    ],
  },
];
const testRow = {
  uuid: "1",
  question: "Book me a table.",
  correct_answer: "cannot_answer",
  answers: { cannot_answer: "I have nothing to book tables with.", tool_call: "…" },
  tools: [JSON.stringify(weather)],
};
const irrelevantRow = {
  query: "Who won the cup in 1998?",
  tools: JSON.stringify([
    {
      name: "weather",
      description: "",
      parameters: {
        place: { type: "str", description: "where" },
        days: { type: "List[int], optional", description: "", default: "" },
      },
    },
  ]),
  answers: "[]",
};

const readWritten = (name: string) =>
  readFileSync(join(cwd, name), "utf8")
    .trim()
    .split("\n")
    .map((line, i) => parseTask(JSON.parse(line), { file: name, line: i + 1 }));

test("When2Call: rows answered with text become tasks; rows with a call or more questions are skipped and counted", async () => {
  writeFileSync(
    join(cwd, "sft.jsonl"),
    trainingRows.map(it => JSON.stringify(it)).join("\n") + "\n",
  );
  const { code, out } = await runCommand(
    importTasks,
    ["when2call", "sft.jsonl", "--out", "a.tasks.jsonl"],
    { cwd },
  );
  expect([code, out[0]!.replace(cwd, "")]).toEqual([
    0,
    "1 tasks in /a.tasks.jsonl; 1 skipped: a call; 1 skipped: not one question",
  ]);
  const [task] = readWritten("a.tasks.jsonl");
  expect(task).toMatchObject({
    id: "when2call-1",
    kind: "abstain",
    split: "train",
    goals: [],
    turns: [{ user: "Will it rain?", reply: "Where are you?" }],
    menu: [{ name: "weather_now" }],
  });
  expect(task!.tools![0]!.parameters).toEqual({
    type: "object",
    properties: { place: { type: "string" }, days: { type: "integer" } },
    required: ["place"],
  });
});

test("rows of When2Call's test set are held out", async () => {
  writeFileSync(join(cwd, "mcq.jsonl"), `${JSON.stringify(testRow)}\n`);
  await runCommand(importTasks, ["when2call", "mcq.jsonl", "--out", "b.tasks.jsonl"], { cwd });
  expect(readWritten("b.tasks.jsonl")[0]).toMatchObject({
    split: "heldout-server",
    turns: [{ user: "Book me a table.", reply: "I have nothing to book tables with." }],
  });
});

test("xLAM-irrelevance, one JSON array: Python types become JSON types, and parameters with a default are optional", async () => {
  writeFileSync(join(cwd, "x.json"), JSON.stringify([irrelevantRow, irrelevantRow]));
  await runCommand(
    importTasks,
    ["xlam-irrelevance", "x.json", "--out", "c.tasks.jsonl", "--count", "1"],
    { cwd },
  );
  const tasks = readWritten("c.tasks.jsonl");
  expect(tasks).toHaveLength(1);
  expect(tasks[0]!.tools![0]!.parameters).toMatchObject({
    type: "object",
    properties: { place: { type: "string" }, days: { type: "array", items: { type: "integer" } } },
    required: ["place"],
  });
});

test("an imported task is attempted like any other: no call earns 1, a call earns 0, and both can be replayed", async () => {
  const [task] = readWritten("c.tasks.jsonl");
  const good = (await rollout(task!, createTeacherPolicy(task!), catalog)).trajectory;
  const bad = (
    await rollout(
      task!,
      createScriptedPolicy("eager", [
        { text: "", calls: [{ name: "weather", arguments: { place: "Paris" } }] },
      ]),
      catalog,
    )
  ).trajectory;
  const createAttempt = createAttemptFactory(catalog);
  expect([good, bad].map(it => scoreAttempt(createAttempt(task!, it), paperProfile))).toMatchObject(
    [{ total: 1 }, { total: 0 }],
  );
  expect(bad.events.find(it => it.kind === "call")).toMatchObject({
    outcome: { kind: "unknown-tool" },
  });
  const { code } = await runCommand(replay, ["c.tasks.jsonl"], { cwd });
  expect(code).toBe(0);
});

test("files that cannot be imported are refused", async () => {
  writeFileSync(join(cwd, "other.jsonl"), '{"text":"hello"}\n');
  const run = (...args: string[]) => runCommand(importTasks, args, { cwd });
  await expect(run("alpaca", "other.jsonl", "--out", "d.tasks.jsonl")).rejects.toThrow(
    "there is no format alpaca",
  );
  await expect(run("when2call", "other.jsonl", "--out", "d.tasks.jsonl")).rejects.toThrow(
    "has no row of when2call whose right answer is no call",
  );
  await expect(run("when2call", "nowhere.jsonl", "--out", "d.tasks.jsonl")).rejects.toThrow(
    "there is no file",
  );
  await expect(run("when2call", "sft.jsonl", "--out", "a.tasks.jsonl")).rejects.toThrow(
    "exists already",
  );
  await expect(
    run("when2call", "sft.jsonl", "--out", "d.tasks.jsonl", "--count", "many"),
  ).rejects.toThrow("--count many is not a number of tasks");
});
