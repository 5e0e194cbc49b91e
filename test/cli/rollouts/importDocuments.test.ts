/** `import`: rollouts in documents and archives: ATIF, Inspect AI and tau2-bench. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { exportTasks } from "../../../src/cli/export.ts";
import { importTasks } from "../../../src/cli/import.ts";
import type { ImportReport } from "../../../src/app/importRollouts.ts";
import { readTrajectories } from "../../../src/trajectory/file.ts";
import { formatTaskLine } from "../../../src/trajectory/task.ts";
import { listCalls, type Trajectory } from "../../../src/trajectory/trajectory.ts";
import { moveTwice } from "../../trajectory/sampleTasks.ts";
import { emptyFolder } from "../program.ts";
import { runCommand } from "../terminal.ts";

let cwd: string;
beforeAll(() => void (cwd = emptyFolder()));

let written = 0;
async function importFile(format: string, from: string, ...args: string[]) {
  const out = `${++written}.trajectory.jsonl`;
  const ran = await runCommand(importTasks, [format, from, "--out", out, "--json", ...args], {
    cwd,
  });
  const trajectories: Trajectory[] = [];
  if (existsSync(join(cwd, out)))
    for await (const it of readTrajectories(join(cwd, out))) trajectories.push(it);
  return { ...ran, report: JSON.parse(ran.out[0]!) as ImportReport, trajectories };
}

const showCalls = (trajectory: Trajectory) =>
  listCalls(trajectory).map(it => [it.name, it.arguments, it.outcome]);
const showTexts = (trajectory: Trajectory) =>
  trajectory.events.flatMap(it => ("text" in it ? [`${it.kind}: ${it.text}`] : []));

test("ATIF: what export wrote succeeds again on our servers", async () => {
  const task = await moveTwice();
  writeFileSync(join(cwd, "my.tasks.jsonl"), `${formatTaskLine(task)}\n`);
  const args = ["--tasks", "my.tasks.jsonl", "--to", "atif", "--out", "atif"];
  await runCommand(exportTasks, args, { cwd });
  const { report } = await importFile("atif", "atif", "--tasks", "my.tasks.jsonl");
  expect(report.attempts).toMatchObject([
    { id: "t-twice/teacher", task: "t-twice", policy: "prove-rl", success: true, notes: [] },
  ]);
});

const document = {
  schema_version: "ATIF-v1.8",
  session_id: "s-1",
  agent: { name: "some-agent", version: "1", model_name: "some-model" },
  steps: [
    { step_id: 1, source: "system", message: "You use a shell." },
    { step_id: 2, source: "user", message: [{ type: "text", text: "Count the files." }] },
    {
      step_id: 3,
      source: "agent",
      message: "",
      tool_calls: [{ tool_call_id: "c1", function_name: "bash", arguments: { command: "ls" } }],
      observation: { results: [{ source_call_id: "c1", content: "a\nb" }] },
    },
    { step_id: 4, source: "agent", message: "There are two." },
  ],
};

test("ATIF: a document of another agent, over many lines", async () => {
  writeFileSync(join(cwd, "trajectory.json"), JSON.stringify(document, null, 2));
  const { report, trajectories } = await importFile("atif", "trajectory.json");
  expect(report.attempts).toMatchObject([{ id: "s-1", policy: "some-model", task: null }]);
  expect(showTexts(trajectories[0]!)).toEqual([
    "user: Count the files.",
    "assistant: ",
    "assistant: There are two.",
  ]);
  expect(showCalls(trajectories[0]!)).toEqual([
    ["bash", { command: "ls" }, { kind: "ok", value: "a\nb" }],
  ]);
});

test("ATIF: a document that was cut off has no whole row", async () => {
  writeFileSync(join(cwd, "cut.json"), JSON.stringify(document, null, 2).slice(0, -40));
  const { code, notes, report } = await importFile("atif", "cut.json");
  expect([code, report.imported]).toEqual([1, 0]);
  expect(notes.join()).toContain("cut.json:1 is torn");
});

test("Inspect: the samples of an archive, with grades, and errors of tools", async () => {
  // written by inspect_ai 0.3.285 with its mockllm model; compressed with Zstandard
  const archive = join(import.meta.dirname, "sums.eval");
  const { report, trajectories } = await importFile("inspect", archive);
  expect(report.attempts).toMatchObject([
    { id: "sum/epoch-1", policy: "mockllm/model", reported: 1 },
    { id: "2/epoch-1", policy: "mockllm/model", reported: 0 },
  ]);
  for (const it of trajectories)
    expect(showCalls(it)).toEqual([
      ["add", { x: 1, y: 2 }, { kind: "ok", value: 3 }],
      ["add", { x: -1, y: 2 }, { kind: "refused", message: "x is negative" }],
    ]);
  writeFileSync(join(cwd, "cut.eval"), "PK and no more");
  await expect(importFile("inspect", "cut.eval")).rejects.toThrow("is not a whole archive");
});

test("Inspect: a JSON log that was cut off gives the samples before the cut", async () => {
  const sample = (id: number) => ({
    id,
    epoch: 1,
    input: "Hi",
    target: "",
    messages: [{ role: "user", content: "attachment://abc" }],
    attachments: { abc: "Hello." },
    error: { message: "the sandbox died", traceback: "" },
  });
  const log = { version: 2, status: "started", eval: {}, samples: [sample(1), sample(2)] };
  const text = JSON.stringify(log, null, 2);
  writeFileSync(join(cwd, "log.json"), text);
  expect((await importFile("inspect", "log.json")).report.imported).toBe(2);
  writeFileSync(join(cwd, "half.json"), text.slice(0, text.lastIndexOf('"input"')));
  const { code, notes, trajectories } = await importFile("inspect", "half.json");
  expect(code).toBe(1);
  expect(notes.join()).toMatch(/half\.json:\d+ is torn/);
  expect(trajectories.map(showTexts)).toEqual([["user: Hello."]]);
  expect(trajectories[0]!.events.at(-1)).toEqual({
    kind: "ended",
    by: "fault",
    fault: "the sandbox died",
  });
});

const simulation = {
  id: "e5",
  task_id: "7",
  trial: 1,
  termination_reason: "user_stop",
  reward_info: { reward: 0, reward_breakdown: { DB: 0, COMMUNICATE: 1 } },
  messages: [
    { role: "assistant", content: "Hi! How can I help?" },
    { role: "user", content: "My phone is offline." },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "a", name: "get_line", arguments: { id: "L1" }, requestor: "assistant" },
        { id: "b", name: "get_bill", arguments: {}, requestor: "assistant" },
      ],
    },
    {
      role: "tool",
      tool_messages: [
        { role: "tool", id: "a", content: '{"active": true}', requestor: "assistant" },
        { role: "tool", id: "b", content: "Error: no bill", requestor: "assistant", error: true },
      ],
    },
    { role: "user", tool_calls: [{ id: "u", name: "reboot", arguments: {}, requestor: "user" }] },
    { role: "tool", id: "u", content: "done", requestor: "user", error: false },
    { role: "user", content: "###STOP###" },
  ],
};

test("tau2: simulations with the agent's calls, rewards, and what they are for", async () => {
  const results = { timestamp: "", info: {}, tasks: [], simulations: [simulation, simulation] };
  const text = JSON.stringify(results, null, 2);
  writeFileSync(join(cwd, "results.json"), text);
  const { report, trajectories } = await importFile("tau2", "results.json", "--policy", "base");
  expect(report.attempts).toMatchObject([
    { id: "7/trial-1", policy: "base", reported: 0 },
    { id: "7/trial-1#2" },
  ]);
  expect(trajectories[0]!.header.imported).toEqual({ format: "tau2", score: 0, why: "DB 0" });
  expect(showCalls(trajectories[0]!)).toEqual([
    ["get_line", { id: "L1" }, { kind: "ok", value: { active: true } }],
    ["get_bill", {}, { kind: "refused", message: "Error: no bill" }],
  ]);
  writeFileSync(join(cwd, "half.json"), text.slice(0, -300));
  const half = await importFile("tau2", "half.json");
  expect([half.code, half.report.imported, half.report.skipped]).toEqual([1, 1, 1]);
});

test.each([
  ["atif", { schema_version: "2" }, "/schema_version"],
  ["inspect", { id: "a", epoch: 1 }, "/messages"],
  ["tau2", { id: "a", task_id: "1", termination_reason: "x" }, "/messages"],
])("%s: another shape", async (format, row, key) => {
  writeFileSync(join(cwd, "other.json"), JSON.stringify(row, null, 2));
  const importing = importFile(format, "other.json");
  await expect(importing).rejects.toThrow("other.json:1 is not a");
  await expect(importing).rejects.toThrow(key);
});
