/** `import`: rollouts of other software become trajectories, and those of our tasks are scored. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { exportTasks } from "../../../src/cli/export.ts";
import { importTasks } from "../../../src/cli/import.ts";
import type { ImportReport } from "../../../src/app/importRollouts.ts";
import { replay } from "../../../src/cli/replay.ts";
import { score } from "../../../src/cli/score.ts";
import { computeReward } from "../../../src/editor/attempts/attemptReward.ts";
import { TrajectoryCursor } from "../../../src/trajectory/cursor.ts";
import { readTrajectories } from "../../../src/trajectory/file.ts";
import { formatTaskLine } from "../../../src/trajectory/task.ts";
import { formatTranscript } from "../../../src/trajectory/transcript.ts";
import { listCalls, type Trajectory } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { moveFifty, moveTwice } from "../../trajectory/sampleTasks.ts";
import { emptyFolder } from "../program.ts";
import { runCommand } from "../terminal.ts";

let cwd: string;
const tasks = "my.tasks.jsonl";
beforeAll(async () => {
  cwd = emptyFolder();
  const lines = [await moveFifty(), await moveTwice()].map(it => `${formatTaskLine(it)}\n`);
  writeFileSync(join(cwd, tasks), lines.join(""));
});

const write = (name: string, ...rows: readonly unknown[]): string => {
  writeFileSync(join(cwd, name), rows.map(it => `${JSON.stringify(it)}\n`).join(""));
  return name;
};

let written = 0;
/** Imports a file and returns what was printed and written. */
async function importFile(format: string, from: string, ...args: string[]) {
  const out = `${++written}.trajectory.jsonl`;
  const {
    code,
    out: lines,
    notes,
  } = await runCommand(importTasks, [format, from, "--out", out, "--json", ...args], { cwd });
  const trajectories: Trajectory[] = [];
  if (existsSync(join(cwd, out)))
    for await (const it of readTrajectories(join(cwd, out))) trajectories.push(it);
  return { code, report: JSON.parse(lines[0]!) as ImportReport, trajectories, notes, out };
}

const showCalls = (trajectory: Trajectory) =>
  listCalls(trajectory).map(it => [it.name, it.arguments, it.outcome.kind]);

const user = { role: "user", content: "Move 50 euros from acc_101 to my savings." };
const call = (id: string, name: string, args: unknown) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: args } }],
});
const result = (id: string, content: string) => ({ role: "tool", tool_call_id: id, content });

describe("TRL", () => {
  // written by pandas with the lines of trl 1.16.0 that log completions
  const completions = join(import.meta.dirname, "completions_00003.parquet");

  test("completions of our tasks are executed and scored, the others are shown", async () => {
    const { code, report, trajectories } = await importFile("trl", completions, "--tasks", tasks);
    expect(code).toBe(0);
    expect(report).toMatchObject({
      imported: 3,
      skipped: 0,
      attempts: [
        { id: "t-move", task: "t-move", success: true, reported: 1.425, notes: [] },
        {
          id: "t-move#2",
          success: false,
          notes: ["1 of 1 calls return something else now"],
        },
        { id: "weather-1", task: null, reward: null, reported: 1 },
      ],
    });
    expect(trajectories.map(it => it.events.at(-1))).toEqual(
      trajectories.map(() => ({ kind: "ended", by: "policy" })),
    );
    expect(showCalls(trajectories[2]!)).toEqual([["get_weather", { place: "Ghent" }, "ok"]]);
  });

  test("without the tasks, nothing is executed", async () => {
    const { report, trajectories } = await importFile("trl", completions);
    expect(report.attempts.map(it => it.task)).toEqual([null, null, null]);
    expect(showCalls(trajectories[1]!)).toEqual([
      ["banking_transfer", expect.objectContaining({ to_account: "acc_999" }), "refused"],
    ]);
  });

  test("a Parquet file that was cut off cannot be read", async () => {
    writeFileSync(join(cwd, "cut.parquet"), "PAR1 and no more");
    await expect(importFile("trl", "cut.parquet")).rejects.toThrow(
      "cut.parquet is not a whole Parquet file",
    );
  });
});

describe("what export wrote", () => {
  async function exportTo(format: string): Promise<string> {
    const out = join(emptyFolder(), format);
    const args = ["--tasks", join(cwd, tasks), "--to", format, "--out", out];
    await runCommand(exportTasks, args);
    return join(
      out,
      readdirSync(out).find(it => it.endsWith(".jsonl"))!,
    );
  }

  test.each(["openai", "sft"])("%s: the teacher's attempts succeed again", async format => {
    const { report, trajectories } = await importFile(
      "openai",
      await exportTo(format),
      "--tasks",
      tasks,
    );
    expect(report.attempts).toMatchObject([
      { task: "t-move", success: true, notes: [] },
      { task: "t-twice", success: true, notes: [] },
    ]);
    expect(trajectories.map(it => showCalls(it).length)).toEqual([2, 3]);
  });

  test("openai: without the tasks, the teacher's attempts are shown as they are", async () => {
    const { trajectories } = await importFile("openai", await exportTo("openai"));
    const [first, second] = trajectories;
    expect(showCalls(first!)).toEqual([
      ["banking_list_accounts", { name: "Savings" }, "ok"],
      ["banking_transfer", expect.objectContaining({ amount: 50 }), "ok"],
    ]);
    expect(first!.header.menu).toContain("banking_get_balance");
    expect(second!.events.filter(it => it.kind === "user").map(it => it.text)).toEqual([
      "Move 50 to Savings and 20 to the holiday fund.",
      "And what is left?",
    ]);
  });

  test("trl: the prompts become attempts that have made no call of their own", async () => {
    const { report, trajectories } = await importFile(
      "trl",
      await exportTo("trl"),
      "--tasks",
      tasks,
    );
    expect(report.attempts.map(it => [it.id, it.success])).toEqual([
      ["t-move", false],
      ["t-twice/turn-0", false],
      ["t-twice/turn-1", false],
    ]);
    // the teacher's turn before
    expect(showCalls(trajectories[2]!)).toHaveLength(2);
  });
});

describe("verl", () => {
  // as verl 0.9.1 decodes them: without special tokens
  const input = `system\nYou call tools.\nuser\n${user.content}\nassistant\n`;
  const block = (name: string, args: object) =>
    `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
  const answer = (content: string) =>
    `user\n<tool_response>\n${content}\n</tool_response>\nassistant\n`;
  const output =
    block("banking_list_accounts", { name: "Savings" }) +
    answer('{"accounts":[{"name":"Savings","account_id":"acc_108","kind":"savings"}]}') +
    block("banking_transfer", { from_account: "acc_101", to_account: "acc_108", amount: 50 }) +
    answer('{"transaction_id":"txn_3260","from_balance":3098.95,"to_balance":3550}') +
    "Moved 50 euros to Savings.";

  test("text is split into messages and calls, and executed", async () => {
    const row = { input, output, gts: "", score: 1.4, step: 1 };
    const file = write("1.jsonl", { ...row, task_id: "t-move" }, row);
    const { report } = await importFile("verl", file, "--tasks", tasks);
    // the second row names no task and is found by what the user says
    expect(report.attempts).toMatchObject([
      { id: "t-move", success: true, reported: 1.4, notes: [] },
      { id: "1.jsonl:2", task: "t-move", success: true },
    ]);
  });

  test("a user who goes on, a block that is no call, and special tokens", async () => {
    const file = write(
      "2.jsonl",
      { input, output: `<think>hm</think>\n\nIt is doneuser\nAnd now?\nassistant\nNothing.` },
      { input, output: "<tool_call>\n{nonsense\n</tool_call>" },
      {
        input: `<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n`,
        output: "Hello yourself.<|im_end|>",
      },
    );
    const { trajectories } = await importFile("verl", file);
    const texts = trajectories.map(it =>
      it.events.flatMap(event => ("text" in event ? [`${event.kind}: ${event.text}`] : [])),
    );
    expect(texts).toEqual([
      [`user: ${user.content}`, "assistant: It is done", "user: And now?", "assistant: Nothing."],
      [`user: ${user.content}`, "assistant: "],
      ["user: Hello", "assistant: Hello yourself."],
    ]);
    expect(showCalls(trajectories[1]!)).toEqual([
      ["", { unparsed: "{nonsense", reason: "no key in double quotes at character 2" }, "broken"],
    ]);
  });
});

test.each([
  ["spaces after a special token", `<|im_start|>${" ".repeat(1_000_000)}`],
  ["headings that no answer follows", "user\n".repeat(200_000)],
  ["results that are not closed", "<tool_response>".repeat(70_000)],
  [
    "messages of results",
    '<tool_call>{"name":"f"}</tool_call>'.repeat(10_000) +
      "\ntool\n<tool_response>1</tool_response>".repeat(10_000),
  ],
])("verl: %s take no time that is quadratic", async (_, output) => {
  writeFileSync(join(cwd, "long.jsonl"), JSON.stringify({ input: "user\nHello\n", output }));
  const { report } = await importFile("verl", "long.jsonl");
  expect(report.imported).toBe(1);
});

describe("BFCL", () => {
  const entry = {
    id: "multi_turn_base_0",
    result: [
      [[{ cd: '{"folder": "document"}' }, { ls: "{}" }], "Done."],
      [[{ rm: '{"file_name": "a' }]],
    ],
    input_token_count: [[10, 12], [9]],
    inference_log: [
      [{ role: "state_info", class_name: "GorillaFileSystem", content: {} }],
      {
        begin_of_turn_query: [{ role: "user", content: "List my documents." }],
        step_0: [
          { role: "assistant", content: [] },
          { role: "handler_log", content: "Successfully decoded model response." },
          { role: "tool", content: '{"current_working_directory": "document"}' },
          { role: "tool", content: '{"error": "no such folder"}' },
        ],
        step_1: [{ role: "assistant", content: "Done." }],
      },
      {
        begin_of_turn_query: [{ role: "user", content: "Remove a." }],
        step_0: [{ role: "assistant", content: [] }],
      },
    ],
  };

  test("turns, calls and results become an attempt that can be stepped through", async () => {
    const { report, trajectories, out } = await importFile("bfcl", write("r.json", entry));
    expect(report.attempts).toMatchObject([{ id: "multi_turn_base_0", policy: "bfcl" }]);
    const { text } = formatTranscript(trajectories[0]!);
    expect(text).toContain("imported (bfcl)");
    expect(text).toContain("List my documents.");
    expect(showCalls(trajectories[0]!)).toEqual([
      ["cd", { folder: "document" }, "ok"],
      ["ls", {}, "refused"],
      ["rm", '{"file_name": "a', "broken"],
    ]);
    // the debugger shows the calls as they were recorded
    const cursor = new TrajectoryCursor(catalog, trajectories[0]!);
    const steps = Array.from({ length: 9 }, () => cursor.step().step?.verdict);
    expect(steps.filter(it => it !== undefined)).toEqual(["same", "same", "same"]);
    // other commands leave it alone
    const replayed = await runCommand(replay, [out], { cwd });
    expect([replayed.code, replayed.notes]).toEqual([
      0,
      ["1 imported attempts, whose calls other software executed"],
    ]);
    const scored = await runCommand(score, [out], { cwd });
    expect([scored.code, scored.out]).toEqual([
      1,
      ["multi_turn_base_0  not scored: it was imported (bfcl)"],
    ]);
    expect(computeReward(catalog, undefined, trajectories[0]!)).toEqual({
      unscorable: "it was imported (bfcl)",
    });
  });

  test("entries of other categories, and an entry whose request failed", async () => {
    const file = write(
      "s.json",
      { id: "simple_python_1", result: [{ area: '{"base": 10}' }] },
      { id: "irrelevance_1", result: "I cannot." },
      { id: "multi_turn_base_2", result: "Error during inference: down", traceback: "…" },
    );
    const { trajectories } = await importFile("bfcl", file);
    expect(trajectories.map(it => [showCalls(it).length, it.events.at(-1)])).toEqual([
      [1, { kind: "ended", by: "limit" }],
      [0, { kind: "ended", by: "policy" }],
      [0, { kind: "ended", by: "fault", fault: "Error during inference: down" }],
    ]);
  });
});

describe("bad input", () => {
  const good = { messages: [user, call("1", "x", "{}"), result("1", "ok"), user] };

  test("the torn end of a file is reported by line; the rows before it are imported", async () => {
    const text = `${JSON.stringify(good)}\n${JSON.stringify(good)}\n`;
    writeFileSync(join(cwd, "half.jsonl"), text.slice(0, -20));
    const { code, report, notes } = await importFile("openai", "half.jsonl");
    expect([code, report.imported, report.skipped]).toEqual([1, 1, 1]);
    expect(notes.join()).toContain("half.jsonl:2 is torn");
  });

  test("the same for one JSON array over many lines", async () => {
    const text = JSON.stringify([good, good, good], null, 1);
    const cut = text.lastIndexOf('"content"');
    writeFileSync(join(cwd, "half.json"), text.slice(0, cut));
    const { code, report, notes } = await importFile("openai", "half.json");
    expect([code, report.imported]).toEqual([1, 2]);
    const line =
      text.slice(0, text.indexOf("},\n {", text.indexOf("},\n {") + 1)).split("\n").length + 1;
    expect(notes.join()).toContain(`half.json:${line} is torn`);
    writeFileSync(join(cwd, "whole.json"), text);
    expect((await importFile("openai", "whole.json")).report.imported).toBe(3);
  });

  test.each([
    ["openai", [good, { text: "hello" }], "2 is not a row with messages", "/messages"],
    ["openai", [{ messages: [{ role: "robot" }] }], "1 is not a row", "/messages/0/role"],
    ["trl", [{ prompt: 5 }], "1 is not a row of TRL's completions", "/prompt"],
    ["verl", [{ input: "a" }], "1 is not a row of verl's rollouts", "/output"],
    ["bfcl", [{ id: 1, result: [] }], "1 is not an entry of a BFCL result file", "/id"],
    ["bfcl", ["text"], "1 is not an entry of a BFCL result file", "expected object"],
  ])("%s: a row of another shape: %j", async (format, rows, place, key) => {
    const file = write("other.jsonl", ...rows);
    const importing = importFile(format, file);
    await expect(importing).rejects.toThrow(`other.jsonl:${place}`);
    await expect(importing).rejects.toThrow(key);
    expect(existsSync(join(cwd, `${written}.trajectory.jsonl`))).toBe(false);
  });

  test("names of files that do not fit", async () => {
    const file = write("good.jsonl", good);
    const run = (...args: string[]) => runCommand(importTasks, args, { cwd });
    await expect(run("openai", file, "--out", "x.jsonl")).rejects.toThrow(
      "x.jsonl is not the name of a trajectory file",
    );
    await expect(run("openai", "none.jsonl", "--out", "x.trajectory.jsonl")).rejects.toThrow(
      "cannot read",
    );
    writeFileSync(join(cwd, "empty.jsonl"), "");
    await expect(run("openai", "empty.jsonl", "--out", "x.trajectory.jsonl")).rejects.toThrow(
      "holds no rollouts",
    );
  });

  test("an attempt at which the program fails does not stop the others", async () => {
    const row = { prompt: [user], completion: [], task_id: "t-move" };
    const file = write("t.jsonl", row, { ...row, task_id: "other" });
    const broken = {
      ...catalog,
      getFixture: () => {
        throw new TypeError("no such table");
      },
    };
    const args = ["trl", file, "--out", "faults.trajectory.jsonl", "--tasks", tasks];
    const { code, out, notes } = await runCommand(importTasks, args, { cwd, catalog: broken });
    expect([code, out[0]]).toEqual([1, expect.stringMatching(/^2 rollouts in /)]);
    expect(out).toContain("1 at which PROVE failed");
    expect(notes).toEqual([
      "t-move is not executed: PROVE has a bug, please report it (TypeError: no such table)",
    ]);
  });

  test("a turn that the task does not have", async () => {
    const row = { prompt: [user], completion: [], task_id: "t-move", turn: 4 };
    const { report, notes } = await importFile("trl", write("t.jsonl", row), "--tasks", tasks);
    expect(report.attempts).toMatchObject([{ task: null }]);
    expect(notes.join()).toContain("task t-move has no turn 5");
  });
});
