/** `synthesize`: the same bytes for the same seed, resuming, and invalid options. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { report as printReport } from "../../src/cli/report.ts";
import { synthesize } from "../../src/cli/synthesize.ts";
import {
  formatProgress,
  measureProgress,
  readRejected,
  readReport,
} from "../../src/synthesis/pipeline/report/report.ts";
import { findProcessStart } from "../../src/storage/processes.ts";
import { formatVerdict } from "../../src/synthesis/graph/dependencyGraph.ts";
import { parseStateLog } from "../../src/synthesis/pipeline/conversation/stateLog.ts";
import { createLibraryCatalog } from "../synthesis/libraryServer.ts";
import { getFamilyFolder } from "../model/huggingface/families.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

const make = (cwd: string, ...args: string[]) => runCommand(synthesize, args, { cwd });
const text = (cwd: string, file: string) => readFileSync(join(cwd, file), "utf8");

test("writes the number of tasks and reports the rejected ones", async () => {
  const cwd = emptyFolder();
  const { code, out } = await make(
    cwd,
    "--out",
    "tasks/a.tasks.jsonl",
    "--count",
    "30",
    "--seed",
    "5",
  );
  expect(code).toBe(0);
  expect(text(cwd, "tasks/a.tasks.jsonl").split("\n")).toHaveLength(31);
  expect(out[0]).toMatch(/^30 tasks in .*a\.tasks\.jsonl \([\d.]+ s\)$/);
  const report = out.join("\n");
  for (const it of [
    /by server: \w+ \d+, \w+ \d+, \w+ \d+/,
    /by kind: normal 23, abstain 3, clarify 3, irrelevant 1/,
    /by split: train \d+, heldout-/,
    /knob distractors: \d+ \d+/,
    /rejected: \w+/,
    /distinct-1\/2\/3 0\.\d+/,
  ])
    expect(report).toMatch(it);
});

describe("--difficulty", () => {
  const ofLevel = (cwd: string, level: string, ...more: string[]) =>
    make(cwd, "--out", `${level}.tasks.jsonl`, "--difficulty", level, ...more);

  test.each(["easy", "medium", "hard"])("%s: all normal tasks have it", async level => {
    const cwd = emptyFolder();
    expect((await ofLevel(cwd, level, "--count", "20", "--seed", "5")).code).toBe(0);
    const { options, by, demands, rejected } = readReport(join(cwd, `${level}.report.json`));
    expect(options.difficulty).toBe(level);
    expect(by["difficulty"]).toEqual({ [level]: by["kind"]!["normal"] });
    expect(demands).toMatchObject({ easy: 0, medium: 0, hard: 0, [level]: 1 });
    expect(rejected["difficulty"]).toBeGreaterThan(0);
    const { out } = await runCommand(printReport, [`${level}.tasks.jsonl`], { cwd });
    expect(out.join("\n")).toContain(`normal tasks that are ${level}: 100.0%`);
  });

  test("says so if a server has too few, and if the preset has none", async () => {
    const cwd = emptyFolder();
    const few = await ofLevel(cwd, "hard", "--count", "400", "--servers", "vehicle");
    expect(few.code).toBe(1);
    expect(few.out.join("\n")).toMatch(
      /no more to give: \d+ tasks are missing; \d+ were not hard: name more servers, or another --difficulty/,
    );
    await expect(ofLevel(cwd, "easy", "--count", "9", "--preset", "student")).rejects.toThrow(
      "the preset student has only tasks that the small student can hold",
    );
  });
});

describe("--max-tokens", () => {
  const qwen = getFamilyFolder("qwen");
  const small = ["--preset", "student", "--servers", "banking", "--out", "a.tasks.jsonl"];
  const limited = (cwd: string, max: string, ...more: string[]) =>
    make(cwd, ...small, "--max-tokens", max, "--tokenizer", qwen, ...more);

  test("keeps tasks that fit, and counts the others", async () => {
    const cwd = emptyFolder();
    await make(cwd, ...small, "--count", "12");
    const measure = async () => {
      const { out } = await runCommand(
        printReport,
        ["a.tasks.jsonl", "--json", "--tokenizer", qwen],
        { cwd },
      );
      return (JSON.parse(out[0]!) as { tokens: Record<string, { mean: number; most: number }> })
        .tokens;
    };
    const free = await measure();
    expect(free["tools"]!.most).toBeLessThan(free["prompt"]!.most);
    expect(free["prompt"]!.most).toBeLessThan(free["conversation"]!.most);
    const max = free["conversation"]!.mean;
    expect(max).toBeLessThan(free["conversation"]!.most);
    rmSync(join(cwd, "a.tasks.jsonl"));
    const { code, out } = await limited(cwd, String(max), "--count", "12");
    expect(code).toBe(0);
    expect(out.join("\n")).toMatch(/rejected: .*tokens \d+/);
    expect((await measure())["conversation"]!.most).toBeLessThanOrEqual(max);
    const overLong = [];
    for await (const it of readRejected(join(cwd, "a.rejected.jsonl")))
      if (it.reason === "tokens") overLong.push(it.tokens!);
    expect(Math.min(...overLong)).toBeGreaterThan(max);
    expect(readReport(join(cwd, "a.report.json")).options.maxTokens).toBe(max);
  });

  test("says so if nearly nothing fits, or if nothing counts the tokens", async () => {
    const cwd = emptyFolder();
    await expect(limited(cwd, "10", "--count", "9")).rejects.toThrow(
      /^of 100 tasks, 0 fit into 10 tokens; the shortest of the others takes \d+: raise --max-tokens/,
    );
    await expect(make(cwd, ...small, "--count", "9", "--max-tokens", "10")).rejects.toThrow(
      "--max-tokens needs the tokenizer",
    );
    const empty = ["--count", "9", "--max-tokens", "10", "--tokenizer", emptyFolder()];
    await expect(make(cwd, ...small, ...empty)).rejects.toThrow("tokenizer.json");
  });
});

test("an edge that the workspace rejects is not used", async () => {
  const cwd = emptyFolder();
  const [a, b] = ["banking_list_accounts", "banking_get_account"];
  const walks = (file: string) =>
    text(cwd, file)
      .trim()
      .split("\n")
      .filter(it => (JSON.parse(it) as { chain: string[] }).chain.join(" ").includes(`${a} ${b}`))
      .length;
  const options = ["--count", "240", "--servers", "banking", "--seed", "2"];
  await make(cwd, "--out", "before.jsonl", ...options);
  mkdirSync(join(cwd, "prove/graphs"), { recursive: true });
  writeFileSync(
    join(cwd, "prove/graphs/audit.jsonl"),
    `${formatVerdict({ a, b, input: "account_id", verdict: "reject", reason: "too easy", author: "Ana" })}\n`,
  );
  await make(cwd, "--out", "after.jsonl", ...options);
  expect([walks("before.jsonl") > 0, walks("after.jsonl")]).toEqual([true, 0]);
});

test("the same seed writes the same bytes, at once or resumed, even after a torn line", async () => {
  const cwd = emptyFolder();
  const options = ["--seed", "6", "--servers", "banking,filesystem"];
  await make(cwd, "--out", "whole.jsonl", "--count", "12", ...options);
  const stop = new AbortController();
  const progress = (line: string) =>
    void (line.startsWith("7 of") && stop.abort(new Error("enough")));
  await expect(
    runCommand(synthesize, ["--out", "parts.jsonl", "--count", "12", ...options], {
      cwd,
      signal: stop.signal,
      showProgress: progress,
    }),
  ).rejects.toThrow("enough");
  expect(existsSync(join(cwd, "parts.jsonl.lock"))).toBe(false);
  for (const it of ["parts.jsonl", "parts.rejected.jsonl"])
    appendFileSync(join(cwd, it), '{"format":"prove/ta');
  const { notes, out } = await make(
    cwd,
    "--out",
    "parts.jsonl",
    "--count",
    "12",
    "--resume",
    ...options,
  );
  expect(notes.join()).toMatch(/ended in a torn line, which was cut off/);
  expect(out[0]).toMatch(/^12 tasks/);
  for (const it of ["jsonl", "rejected.jsonl", "report.json"])
    expect(text(cwd, `parts.${it}`)).toBe(text(cwd, `whole.${it}`));
});

test("--resume adds nothing to a file that has enough tasks", async () => {
  const cwd = emptyFolder();
  await make(cwd, "--out", "a.jsonl", "--count", "5", "--servers", "banking");
  const before = text(cwd, "a.jsonl");
  await make(cwd, "--out", "a.jsonl", "--count", "3", "--servers", "banking", "--resume");
  expect(text(cwd, "a.jsonl")).toBe(before);
});

test("rejected attempts are written beside the tasks, with their reason and state log", async () => {
  const cwd = emptyFolder();
  await make(cwd, "--out", "a.tasks.jsonl", "--count", "40");
  const report = readReport(join(cwd, "a.report.json"));
  const reasons = new Map<string, number>();
  for await (const it of readRejected(join(cwd, "a.rejected.jsonl"))) {
    reasons.set(it.reason, (reasons.get(it.reason) ?? 0) + 1);
    expect(it.why).not.toBe("");
    if (it.events.length > 0) expect(parseStateLog(it.log).length).toBeGreaterThan(3);
  }
  expect(Object.fromEntries(reasons)).toEqual(report.rejected);
  expect(report.attempts).toBe(40 + [...reasons.values()].reduce((a, b) => a + b, 0));
  const into = (state: string) =>
    report.transitions.filter(it => it.to === state).reduce((sum, it) => sum + it.n, 0);
  expect(into("finish")).toBeGreaterThanOrEqual(40);
});

describe("two processes and one file", () => {
  const lock = (pid: number, began: string | undefined) =>
    JSON.stringify({ format: "prove/lock@1", pid, began });

  test("the second is refused", async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, "a.jsonl.lock"), lock(process.pid, findProcessStart(process.pid)));
    await expect(make(cwd, "--out", "a.jsonl", "--count", "3")).rejects.toThrow(
      new RegExp(`process ${process.pid} is writing .*a\\.jsonl: wait until it is done`),
    );
    expect(existsSync(join(cwd, "a.jsonl"))).toBe(false);
  });

  test.each([
    ["of a process that has ended", lock(2 ** 22 + 1, "long ago")],
    ["whose process id is used by another process", lock(process.pid, "long ago")],
    ["that is torn", '{"format":"pro'],
  ])("a lock %s is ignored", async (_, text) => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, "a.jsonl.lock"), text);
    expect((await make(cwd, "--out", "a.jsonl", "--count", "2", "--servers", "banking")).code).toBe(
      0,
    );
    expect(existsSync(join(cwd, "a.jsonl.lock"))).toBe(false);
  });
});

test("if the servers give fewer tasks, it reports that and exits with 1", async () => {
  const cwd = emptyFolder();
  const { code, out } = await runCommand(
    synthesize,
    ["--out", "a.jsonl", "--count", "1000000", "--seed", "3"],
    {
      cwd,
      catalog: createLibraryCatalog(),
    },
  );
  expect(code).toBe(1);
  expect(out.at(-1)).toMatch(/the servers have no more to give: 999\d\d\d tasks are missing/);
});

test("progress includes the pace once it is known", () => {
  const format = (...measured: Parameters<typeof measureProgress>) =>
    formatProgress(measureProgress(...measured));
  expect([
    format(5, 100, 200),
    format(210, 13_000, 1000),
    format(2, 5, 4000),
    format(1, 100_000, 1000),
  ]).toEqual([
    "5 of 100 tasks",
    "210 of 13,000 tasks, 210 a second, 1 min 1 s left",
    "2 of 5 tasks, 0.5 a second, 6 s left",
    "1 of 100,000 tasks, 1.0 a second, 27 h 46 min left",
  ]);
});

test("--json prints one document", async () => {
  const { out } = await make(
    emptyFolder(),
    "--out",
    "a.jsonl",
    "--count",
    "4",
    "--servers",
    "calendar",
    "--split",
    "train",
    "--json",
  );
  expect(JSON.parse(out.join("\n"))).toMatchObject({
    format: "prove/report@1",
    accepted: 4,
    by: { split: { train: 4 }, server: { calendar: 4 } },
  });
});

describe("invalid options", () => {
  const cases: [what: string, args: string[], text: RegExp][] = [
    ["no file", ["--count", "3"], /needs a file to write to: add --out/],
    ["no count", ["--out", "a.jsonl"], /how many tasks to make: add --count/],
    ["no tasks", ["--out", "a.jsonl", "--count", "0"], /--count 0 is not a number of tasks/],
    [
      "a count in words",
      ["--out", "a.jsonl", "--count", "many"],
      /--count many is not a number of tasks/,
    ],
    [
      "a seed in words",
      ["--out", "a.jsonl", "--count", "3", "--seed", "lucky"],
      /--seed lucky is not a whole number/,
    ],
    [
      "an unknown server",
      ["--out", "a.jsonl", "--count", "3", "--servers", "banking,bank"],
      /there is no server bank: choose one of banking/,
    ],
    ["no server", ["--out", "a.jsonl", "--count", "3", "--servers", ","], /no server is chosen/],
    [
      "an unknown split",
      ["--out", "a.jsonl", "--count", "3", "--split", "test"],
      /there is no split test: choose train or heldout-chain or heldout-edge or heldout-server or heldout-world/,
    ],
    [
      "an unknown menu",
      ["--out", "a.jsonl", "--count", "3", "--menu", "long"],
      /there is no menu long: choose realistic or chain or full/,
    ],
    [
      "an unknown preset",
      ["--out", "a.jsonl", "--count", "3", "--preset", "large"],
      /there is no preset large: choose paper or student/,
    ],
    [
      "a split that no server has",
      ["--out", "a.jsonl", "--count", "3", "--servers", "banking", "--split", "heldout-server"],
      /none of banking has tasks of the split heldout-server: choose some of trading/,
    ],
    [
      "a split that the preset does not have",
      ["--out", "a.jsonl", "--count", "3", "--preset", "student", "--split", "heldout-edge"],
      /the preset student has no tasks of the split heldout-edge: choose heldout-chain or/,
    ],
    [
      "an unknown teacher",
      ["--out", "a.jsonl", "--count", "3", "--teacher", "me"],
      /there is no teacher me/,
    ],
    ["something more", ["more", "--out", "a.jsonl", "--count", "3"], /synthesize takes no more/],
  ];
  test.each(cases)("%s", async (_, args, words) => {
    await expect(make(emptyFolder(), ...args)).rejects.toThrow(words);
  });

  test("an existing file is not changed", async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, "a.jsonl"), "mine\n");
    await expect(make(cwd, "--out", "a.jsonl", "--count", "3")).rejects.toThrow(
      /a\.jsonl exists already: add --resume/,
    );
    expect(text(cwd, "a.jsonl")).toBe("mine\n");
  });

  test("resuming with other options is refused and adds nothing", async () => {
    const cwd = emptyFolder();
    await make(cwd, "--out", "a.jsonl", "--count", "3", "--seed", "1", "--servers", "banking");
    const before = text(cwd, "a.jsonl");
    await expect(
      make(
        cwd,
        "--out",
        "a.jsonl",
        "--count",
        "6",
        "--seed",
        "2",
        "--servers",
        "banking",
        "--resume",
      ),
    ).rejects.toThrow(/was made with other options/);
    expect(text(cwd, "a.jsonl")).toBe(before);
  });

  test("a truncated file is completed", async () => {
    const cwd = emptyFolder();
    await make(cwd, "--out", "a.jsonl", "--count", "3", "--servers", "banking");
    const before = text(cwd, "a.jsonl");
    truncateSync(join(cwd, "a.jsonl"), before.indexOf("\n") + 1);
    await make(cwd, "--out", "a.jsonl", "--count", "3", "--servers", "banking", "--resume");
    expect(text(cwd, "a.jsonl")).toBe(before);
  });
});
