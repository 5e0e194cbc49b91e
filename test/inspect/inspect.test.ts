/** What agents are told about the runs, attempts and tasks of a workspace, and what is refused. */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { inspectionTools } from "../../src/inspect/tools.ts";
import { catalog, root } from "../contracts/transports.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-inspect-"));
  cpSync(join(root, "resources/example/prove"), join(folder, "prove"), { recursive: true });
});

const ask = (name: string, input: object = {}): Promise<string> =>
  inspectionTools
    .find(it => it.name === name)!
    .answer(input, { folder, prove: "prove", openCatalog: async () => catalog });

const metricsFile = () => join(folder, "prove/runs/example/metrics.jsonl");

describe("a run", () => {
  test("is listed with what became of it", async () => {
    expect(await ask("prove_run")).toMatch(
      /^1 run; .*\n- example: grpo, .*finished after 50 steps, reward 1\.714, success 50\.0%$/,
    );
  });

  test("is described by settings, seed, curve, evaluation, faults and worst tasks", async () => {
    const text = await ask("prove_run", { run: "example" });
    expect(text).toContain("method grpo, from careless");
    expect(text).toContain("seed 1; limit 50 steps");
    expect(text).toContain("learningRate 0.0005");
    expect(text).toMatch(/curve, means over 2 steps: step \| reward \| success \| loss/);
    expect(text).toMatch(/\n1–2 \| 1\.212 \| 0\.1758/);
    expect(text).toMatch(/first 20\.8% \(steps 1–5\), best .*, last 51\.1% \(steps 46–50\)/);
    expect(text).toContain("alarms: none was raised");
    expect(text).toContain(
      "success: 17.5% (11.1% to 27.5%) at step 0, 69.0% (55.5% to 78.4%) at step 50, change 51.5% (32.0% to 64.8%)",
    );
    expect(text).toContain("3 × calendar_check_conflicts: unknown-tool");
    expect(text).toMatch(
      /calendar-1-1447: 2 of 8 succeed, .*failing: step 1, attempt 2\n {4}because: an event is missing/,
    );
  });

  test("of thousands of steps has a curve of at most 25 points", async () => {
    const [line] = readFileSync(metricsFile(), "utf8").split("\n");
    const steps = Array.from({ length: 5_000 }, (_, i) =>
      JSON.stringify({ ...(JSON.parse(line!) as object), step: i + 1 }),
    );
    writeFileSync(metricsFile(), `${steps.join("\n")}\n`);
    const text = await ask("prove_run", { run: "prove/runs/example" });
    expect(text).toContain("means over 200 steps");
    expect(text.match(/^\d+–\d+ \|/gm)).toHaveLength(25);
  });

  test("has its alarms with their steps", async () => {
    const [line] = readFileSync(metricsFile(), "utf8").split("\n");
    const alarms = [{ kind: "entropy", text: "the entropy is 0.0001 per token" }];
    appendFileSync(
      metricsFile(),
      `${JSON.stringify({ ...(JSON.parse(line!) as object), step: 51, alarms })}\n`,
    );
    expect(await ask("prove_run", { run: "example" })).toContain(
      "alarms\n- step 51: the entropy is 0.0001 per token",
    );
  });

  test("without a step says so", async () => {
    for (const it of ["metrics.jsonl", "ended.json", "evaluation.json", "groups"])
      rmSync(join(folder, "prove/runs/example", it), { recursive: true });
    const text = await ask("prove_run", { run: "example" });
    expect(text).toContain("run example: not started");
    expect(text).toContain("there is no curve");
    expect(text).toContain("evaluation on held-out tasks: none was made");
    expect(text).toContain("attempts: none were stored");
  });

  test("that was deleted meanwhile is named, with those that exist", async () => {
    await ask("prove_run", { run: "example" });
    cpSync(join(folder, "prove/runs/example"), join(folder, "prove/runs/other"), {
      recursive: true,
    });
    rmSync(join(folder, "prove/runs/example"), { recursive: true });
    await expect(ask("prove_run", { run: "example" })).rejects.toThrow(
      "there is no run example: choose one of other",
    );
  });

  test("that cannot be read does not hide the others", async () => {
    mkdirSync(join(folder, "prove/runs/broken"));
    writeFileSync(join(folder, "prove/runs/broken/run.json"), "{");
    expect(await ask("prove_run")).toMatch(/- broken: cannot be read: .*\n- example: grpo/);
  });
});

describe("an attempt", () => {
  test("of a step is listed, failures first", async () => {
    const text = await ask("prove_attempt", { run: "example", step: 50 });
    expect(text).toMatch(/8 attempts, failures first.*\n- task calendar-1-640, attempt 5: failure/);
  });

  test("has its reasons in words, the parts of its reward, its calls and results", async () => {
    const text = await ask("prove_attempt", { file: "prove/tasks/beginner.trajectory.jsonl" });
    expect(text).toContain(
      "success: no\n- account acc_318 (Everyday): balance is 3939.24, should be 3929.24",
    );
    expect(text).toMatch(/coverage +0\.75 × 0\.5 += 0\.375/);
    expect(text).toContain(
      '[11] call 5: banking_transfer(from_account: "acc_983", to_account: "acc_318", amount: 130)\n    ok: {"transaction_id":"txn_3134"',
    );
    expect(text).toContain("(amount should be 120)");
    expect(text).toMatch(/hint: call one of the tools on offer/);
    expect(text).toMatch(/\[15\] ended by policy$/);
  });

  test("of a run has what the run recorded of it", async () => {
    const text = await ask("prove_attempt", {
      run: "example",
      step: 1,
      task: "calendar-1-1447",
      attempt: 2,
    });
    expect(text).toMatch(/recorded by the run: failure, reward .* advantage -/);
    expect(text).toContain("success: no");
    expect(text).toMatch(/message 1, \d+ tokens/);
  });

  test("of a tasks file is the teacher's", async () => {
    const text = await ask("prove_attempt", {
      file: "prove/tasks/example.tasks.jsonl",
      task: "banking-11-0",
    });
    expect(text).toContain("the teacher's attempt at task banking-11-0");
    expect(text).toContain("success: yes");
  });

  test("without its task has its calls, and says what is missing", async () => {
    rmSync(join(folder, "prove/tasks/example.tasks.jsonl"));
    const text = await ask("prove_attempt", { file: "prove/tasks/beginner.trajectory.jsonl" });
    expect(text).toContain("the task: task banking-11-0 was not found");
    expect(text).toMatch(/no reward: its task banking-11-0 was not found/);
    expect(text).toContain("[11] call 5: banking_transfer");
  });

  test("that is long is read in parts of at most 12,000 characters", async () => {
    const file = join(folder, "prove/tasks/beginner.trajectory.jsonl");
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const said = JSON.parse(lines.at(-2)!) as object;
    const long = Array.from({ length: 40 }, () =>
      JSON.stringify({ ...said, text: "a word ".repeat(400) }),
    );
    writeFileSync(file, `${[...lines.slice(0, -1), ...long, lines.at(-1)].join("\n")}\n`);
    const input = { file: "prove/tasks/beginner.trajectory.jsonl" };
    let text = await ask("prove_attempt", input);
    const seen = new Set<string>();
    for (let from = 1, parts = 0; ; parts++) {
      expect(text.length).toBeLessThanOrEqual(12_000);
      for (const [, number] of text.matchAll(/^\[(\d+)\]/gm)) seen.add(number!);
      const next = /ask again with from (\d+)$/.exec(text)?.[1];
      if (next === undefined) break;
      expect(Number(next)).toBeGreaterThan(from);
      expect(parts).toBeLessThan(20);
      text = await ask("prove_attempt", { ...input, from: (from = Number(next)) });
    }
    expect(seen.size).toBe(lines.length - 1 + 40);
  });

  test("of a step that does not exist is refused with those that do", async () => {
    await expect(ask("prove_attempt", { run: "example", step: 7 })).rejects.toThrow(
      "run example has no stored attempts of step 7: steps with attempts: 1, 50",
    );
  });

  test("that does not exist is refused with how many there are", async () => {
    const attempt = { run: "example", step: 50, task: "calendar-1-640" };
    await expect(ask("prove_attempt", { ...attempt, attempt: 9 })).rejects.toThrow(
      "step 50 has 8 attempts at task calendar-1-640, and not number 9",
    );
    await expect(ask("prove_attempt", { ...attempt, task: "none" })).rejects.toThrow(
      "has no attempt at task none",
    );
    await expect(
      ask("prove_attempt", { file: "prove/tasks/beginner.trajectory.jsonl", attempt: 2 }),
    ).rejects.toThrow("has 1 attempt, and not number 2");
    await expect(
      ask("prove_attempt", { file: "prove/tasks/beginner.trajectory.jsonl", from: 99 }),
    ).rejects.toThrow("the attempt has 15 events");
  });

  test("is named by a run or a file", async () => {
    await expect(ask("prove_attempt")).rejects.toThrow("one of them must be named");
  });

  test("in a file that is no trajectory is refused", async () => {
    writeFileSync(join(folder, "notes.jsonl"), '{"a":1}\n');
    await expect(ask("prove_attempt", { file: "notes.jsonl" })).rejects.toThrow(
      /notes\.jsonl:1 comes before a header/,
    );
    writeFileSync(join(folder, "notes.txt"), "hello\nworld\n");
    await expect(ask("prove_attempt", { file: "notes.txt" })).rejects.toThrow(
      /notes\.txt:1 is not JSON/,
    );
    writeFileSync(join(folder, "empty.jsonl"), "");
    await expect(ask("prove_attempt", { file: "empty.jsonl" })).rejects.toThrow(
      "empty.jsonl contains no trajectory",
    );
  });
});

describe("tasks", () => {
  const file = "prove/tasks/example.tasks.jsonl";

  test("have files, which are listed", async () => {
    const text = await ask("prove_tasks");
    expect(text).toContain("- prove/tasks/example.tasks.jsonl");
    expect(text).toContain("- prove/tasks/beginner.trajectory.jsonl");
  });

  test("are listed in pages, with counts", async () => {
    const first = await ask("prove_tasks", { file });
    expect(first).toMatch(/^prove\/tasks\/example\.tasks\.jsonl: 40 tasks\n/);
    expect(first.match(/^- /gm)).toHaveLength(16);
    expect(first).toMatch(/… 24 more: ask again with offset 16$/);
    const last = await ask("prove_tasks", { file, offset: 32 });
    expect(last.match(/^- /gm)).toHaveLength(8);
    expect(last).not.toContain("ask again");
  });

  test("are filtered by server, kind, difficulty, rules and words", async () => {
    const text = await ask("prove_tasks", { file, server: "banking" });
    expect(text).toContain("40 tasks, of which 2 match server banking");
    expect(text).toContain("goals: banking_list_accounts, banking_deposit");
    expect(await ask("prove_tasks", { file, kind: "abstain" })).toContain("of which 0 match");
    expect(await ask("prove_tasks", { file, policy: true })).toContain("of which 0 match");
    expect(await ask("prove_tasks", { file, text: "neighbour cash" })).toContain(
      "of which 1 match",
    );
    const counts = await Promise.all(
      ["easy", "medium", "hard"].map(async difficulty =>
        Number(/of which (\d+)/.exec(await ask("prove_tasks", { file, difficulty }))![1]),
      ),
    );
    expect(counts.reduce((sum, it) => sum + it)).toBe(40);
  });

  test("of a file with damaged lines are those that can be read", async () => {
    appendFileSync(
      join(folder, file),
      ['{"format":"prove/task@4","id":1,"turns":7,"goals":{}}', "[".repeat(5_000), "x"].join("\n"),
    );
    expect(await ask("prove_tasks", { file })).toContain("41 tasks; 3 lines without a valid task");
  });

  test("are not in a file of something else", async () => {
    await expect(
      ask("prove_tasks", { file: "prove/tasks/beginner.trajectory.jsonl" }),
    ).rejects.toThrow("contains no task");
  });
});

describe("what is not read", () => {
  test.each([
    ["../secret.jsonl", /outside the workspace folder/],
    ["/etc/passwd", /outside the workspace folder/],
    ["prove/../../secret.jsonl", /outside the workspace folder/],
    ["a\0b", /outside the workspace folder/],
    ["missing.jsonl", /there is no file missing\.jsonl/],
    ["prove/tasks", /prove\/tasks is not a regular file/],
  ])("%j", async (path, message) => {
    await expect(ask("prove_attempt", { file: path })).rejects.toThrow(message);
    await expect(ask("prove_tasks", { file: path })).rejects.toThrow(message);
  });

  test("a file or a run through a link, also if it leads into the workspace", async () => {
    const outside = mkdtempSync(join(tmpdir(), "prove-outside-"));
    cpSync(join(folder, "prove/runs/example"), join(outside, "run"), { recursive: true });
    symlinkSync(join(outside, "run"), join(folder, "prove/runs/linked"), "junction");
    symlinkSync(join(folder, "prove/tasks"), join(folder, "inside"), "junction");
    await expect(ask("prove_run", { run: "linked" })).rejects.toThrow(
      "prove/runs/linked is a link, and links are not followed here",
    );
    expect(await ask("prove_run")).not.toContain("linked");
    await expect(
      ask("prove_attempt", { file: "inside/beginner.trajectory.jsonl" }),
    ).rejects.toThrow("inside is a link");
  });

  test("a link in the place of a file of a run", async () => {
    const outside = join(mkdtempSync(join(tmpdir(), "prove-outside-")), "metrics.jsonl");
    writeFileSync(outside, "");
    rmSync(metricsFile());
    symlinkSync(outside, metricsFile());
    await expect(ask("prove_run", { run: "example" })).rejects.toThrow("metrics.jsonl is a link");
  });

  test("a file of gigabytes", async () => {
    const file = join(folder, "huge.jsonl");
    writeFileSync(file, "");
    truncateSync(file, 3 * 2 ** 30);
    await expect(ask("prove_attempt", { file: "huge.jsonl" })).rejects.toThrow(
      "huge.jsonl has 3072 MB, more than the 256 MB that are read here",
    );
  });

  test("the tasks of a run that are outside, without which its attempts are described", async () => {
    const outside = join(mkdtempSync(join(tmpdir(), "prove-outside-")), "x.tasks.jsonl");
    cpSync(join(folder, "prove/tasks/student.tasks.jsonl"), outside);
    const file = join(folder, "prove/runs/example/run.json");
    const config = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(file, JSON.stringify({ ...config, tasks: outside }));
    const text = await ask("prove_attempt", { run: "example", step: 50, task: "calendar-1-640" });
    expect(text).toContain("is outside the workspace folder");
    expect(text).toContain("no reward: its task");
  });
});

test("input that does not fit is refused with the key", async () => {
  await expect(ask("prove_run", { run: 1 })).rejects.toThrow(
    "the input of prove_run does not fit: run: Invalid input: expected string",
  );
  await expect(ask("prove_tasks", { fil: "x" })).rejects.toThrow('Unrecognized key: "fil"');
});
