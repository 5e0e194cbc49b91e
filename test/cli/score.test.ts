/** `score` with calls on stdin, and `score` and `replay` with tasks and trajectories from files. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { evaluate } from "../../src/cli/evaluate.ts";
import { replay } from "../../src/cli/replay.ts";
import { score } from "../../src/cli/score.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { idlePolicy, createScriptedPolicy } from "../../src/policy/scripted.ts";
import { formatTrajectory, formatTrajectoryLine } from "../../src/trajectory/trajectory.ts";
import { type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import {
  balance,
  calling,
  catalog,
  lookUp,
  moveFifty,
  moveTwice,
  readOnly,
  saying,
  transfer,
} from "../trajectory/sampleTasks.ts";
import { forgeArguments } from "../trajectory/forgedAttempt.ts";
import { runCommand } from "./terminal.ts";

const contract = {
  id: "T5",
  goals: [
    { calls: [{ name: "get_balance", arguments: { account_id: "A1" } }], after: [] },
    {
      calls: [
        { name: "transfer", arguments: { from_account: "A1", to_account: "A2", amount: 50 } },
      ],
      after: [0],
    },
  ],
  calls: [
    { name: "get_balance", arguments: { account_id: "A1" }, outcome: "ok" },
    {
      name: "transfer",
      arguments: { from_account: "A1", to_account: "A9", amount: 75 },
      outcome: "refused",
    },
  ],
};
const goals = [{ calls: [{ name: "f", arguments: { x: 1 } }], after: [] }];
const calls = [{ name: "f", arguments: { x: 1 }, outcome: "ok" }];

describe("score --calls --json", () => {
  /** What a line answers. */
  async function check(line: unknown, expected: object, code = 0) {
    const output = await runCommand(score, ["--calls", "--json"], {
      stdin: typeof line === "string" ? line : JSON.stringify(line),
    });
    expect(output.out.map(it => JSON.parse(it) as unknown)).toEqual([expected]);
    expect(output.code).toBe(code);
  }
  const exact = {
    rule: "tool",
    validity: 1,
    coverage: 1,
    efficiency: 0,
    name: 1,
    argument: 1,
    total: 1.3,
  };
  const near = (it: number) => expect.closeTo(it, 4) as number;

  test("the parts and the total", () =>
    check(contract, {
      id: "T5",
      rule: "tool",
      validity: near(0.8333),
      coverage: 1,
      efficiency: 0,
      name: 1,
      argument: near(0.6667),
      total: near(1.1833),
    }));
  test("no goals and no call", () =>
    check({ id: "a", goals: [], calls: [] }, { id: "a", rule: "abstain", total: 1 }));
  test("no goals and a call", () =>
    check({ id: "a", goals: [], calls }, { id: "a", rule: "abstain", total: 0 }));
  test("without an id", () => check({ goals, calls }, exact));
  test("edges with their kind", () =>
    check(
      {
        goals: [...goals, { ...goals[0], after: [{ goal: 0, kind: "explicit" }] }],
        calls: [...calls, ...calls],
      },
      exact,
    ));
  test("a call without a name could not be parsed", () =>
    check(
      { goals, calls: [{ arguments: "{oops", outcome: "unknown-tool" }] },
      { ...exact, validity: 0, coverage: 0, name: 0, argument: 0, total: 0 },
    ));
  test("masked free text", () =>
    check(
      { goals: [{ calls: [{ name: "f", arguments: { x: 2 }, mask: ["x"] }], after: [] }], calls },
      exact,
    ));

  test("text that is not JSON", () =>
    check("nope", { error: expect.stringMatching(/^not JSON/) as string }, 1));
  test("a list", () =>
    check([], { error: "line: Invalid input: expected object, received array" }, 1));
  test("no calls", () =>
    check(
      { id: "x", goals },
      { id: "x", error: "calls: Invalid input: expected array, received undefined" },
      1,
    ));
  test("an unknown outcome", () =>
    check(
      { id: "x", goals, calls: [{ ...calls[0], outcome: "fine" }] },
      { id: "x", error: "calls.0.outcome: must be ok, refused, bad-arguments or unknown-tool" },
      1,
    ));
  test("a broken call is never scored", () =>
    check(
      { id: "x", goals, calls: [{ ...calls[0], outcome: "broken" }] },
      { id: "x", error: "calls.0.outcome: an attempt with a broken call is never scored" },
      1,
    ));
  test("a goal that follows itself", () =>
    check(
      { id: "x", goals: [{ ...goals[0], after: [0] }], calls },
      { id: "x", error: "goals.0.after: a goal can only follow goals before it, not 0" },
      1,
    ));
  test("arguments that are nested too deeply", async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const line = `{"goals":[{"calls":[{"name":"f","arguments":${deep}}]}],"calls":[{"name":"f","arguments":${deep},"outcome":"ok"}]}`;
    await check(line, { error: "the line is nested more than 96 levels deep" }, 1);
  });

  test("continues after an invalid line, skips blank ones, and exits with 1", async () => {
    const stdin = `${JSON.stringify(contract)}\nnope\n\n{"id":"last","goals":[],"calls":[]}`;
    const { out, code } = await runCommand(score, ["--calls", "--json"], { stdin });
    expect(out.map(it => Object.keys(JSON.parse(it) as object)[1] ?? "error")).toEqual([
      "rule",
      "error",
      "rule",
    ]);
    expect(code).toBe(1);
  });
  test("needs a profile that does not score success", () =>
    expect(runCommand(score, ["--calls", "--profile", "prove-plus"])).rejects.toThrow(
      "profile prove-plus needs tasks and their final worlds, which calls alone do not give: score a tasks file, or use --profile paper",
    ));
});

const folder = mkdtempSync(join(tmpdir(), "prove-score-"));
afterAll(() => rmSync(folder, { recursive: true }));
const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return name;
};
const inFolder = { cwd: folder };

test("a task that is nested too deeply is named with its line, and so is the limit", async () => {
  const deep = `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`;
  const line = formatTaskLine(await moveFifty());
  write("deep.tasks.jsonl", line.replace('"arguments":{', `"arguments":{"deep":${deep},`));
  const { code, notes } = await runCommand(score, ["deep.tasks.jsonl"], inFolder);
  expect(code).toBe(2);
  expect(notes[0]).toMatch(
    /deep\.tasks\.jsonl:1 is not a task: it is nested more than 96 levels deep\n/,
  );
});

const [fifty, twice, read] = await Promise.all([moveFifty(), moveTwice(), readOnly()]);
const tasksFile = write(
  "all.tasks.jsonl",
  [fifty, twice, read].map(it => `${formatTaskLine(it)}\n`).join(""),
);
const attempts = [
  (
    await rollout(
      fifty,
      createScriptedPolicy("wrong", [
        calling(lookUp),
        calling(transfer("acc_115", 50)),
        saying("Done."),
      ]),
      catalog,
    )
  ).trajectory,
  (await rollout(read, idlePolicy, catalog)).trajectory,
];
const attemptsFile = write("some.trajectory.jsonl", attempts.map(formatTrajectory).join(""));

describe("score F", () => {
  test("the teachers of a tasks file", async () => {
    const { out, notes, code } = await runCommand(score, [tasksFile, "--json"], inFolder);
    expect(out.map(it => JSON.parse(it) as object)).toMatchObject([
      {
        id: "t-move/teacher",
        task: "t-move",
        profile: "prove-plus",
        total: 2.3,
        paper: 1.3,
        success: true,
        why: [],
      },
      { id: "t-twice/teacher", total: 2.3, success: true },
      { id: "t-read/teacher", total: 2.3, success: true },
    ]);
    expect(notes).toEqual([
      "3 scored by prove-plus: mean 2.3000 (by paper 1.3000), 3 done as asked",
      "  validity 1.0000  coverage 1.0000  efficiency 0.0000  name 1.0000  argument 1.0000  without goals –",
    ]);
    expect(code).toBe(0);
  });
  test("attempts, with their tasks from another file", async () => {
    const { out, notes } = await runCommand(score, [attemptsFile, "--tasks", tasksFile], inFolder);
    expect(out).toEqual([
      "t-move/wrong  1.2833  validity 1.0000  coverage 1.0000  efficiency 0.0000  name 1.0000  argument 0.8333  no success: account acc_108 (Savings): balance is 3500, should be 3550 (no call changed it)",
      't-read/scripted:idle  0.0000  validity 0.0000  coverage 0.0000  efficiency 0.0000  name 0.0000  argument 0.0000  no success: banking_get_balance(account_id: "acc_101") was not called',
    ]);
    expect(notes[0]).toBe("2 scored by prove-plus: mean 0.6417 (by paper 0.6417), 0 done as asked");
  });
  test("with the evidence", async () => {
    const { out } = await runCommand(
      score,
      [attemptsFile, "--tasks", tasksFile, "--evidence", "--json"],
      inFolder,
    );
    expect(JSON.parse(out[0]!)).toMatchObject({
      success: false,
      total: expect.closeTo(1.2833, 4) as number,
      differences: [
        { pointer: "/banking/world/accounts/acc_108/balance", found: 3500, wanted: 3550 },
      ],
      breakdown: {
        extras: { success: { weight: 1, value: 0 } },
        calls: [{}, { serves: { goal: 1 } }],
      },
    });
  });
  test("--by-task compares the policies of files task by task", async () => {
    const args = [tasksFile, attemptsFile, "--tasks", tasksFile, "--by-task"];
    const { out, code } = await runCommand(score, args, inFolder);
    const [head, ...lines] = out.map(it => it.split(/ {2,}/));
    const teacher = fifty.trajectory.header.policy;
    expect(head).toEqual([
      "task",
      `${tasksFile} ${teacher}`,
      `${attemptsFile} wrong`,
      `${attemptsFile} scripted:idle`,
    ]);
    expect(lines.slice(0, 5)).toEqual([
      ["t-move", "1/1", "0/1", "–"],
      ["t-read", "1/1", "–", "0/1"],
      ["tasks", "3", "1", "1"],
      ["success", "100.0%", "0.0%", "0.0%"],
      ["reward", "2.3000", "1.2833", "0.0000"],
    ]);
    expect(out.slice(6, 9)).toEqual([
      "1 of 3 tasks, on which no two policies differ, are not listed",
      `${attemptsFile} wrong compared with ${tasksFile} ${teacher}, tasks in common: 1`,
      "  success: the tasks are too few to compare",
    ]);
    expect(code).toBe(0);
  });
  test("evaluate --by-task does so for policies that attempt the tasks now", async () => {
    const policies = "scripted:teacher,scripted:idle";
    const args = ["--tasks", tasksFile, "--policy", policies, "--split", fifty.split, "--by-task"];
    const { out } = await runCommand(evaluate, args, inFolder);
    const table = out.slice(out.findIndex(it => it.startsWith("task  ")));
    expect(table.slice(0, 4).map(it => it.split(/ {2,}/))).toEqual([
      ["task", "scripted:teacher", "scripted:idle"],
      ["t-move", "1/1", "0/1"],
      ["t-twice", "1/1", "0/1"],
      ["t-read", "1/1", "0/1"],
    ]);
    expect(table).toContain("scripted:idle compared with scripted:teacher, tasks in common: 3");
  });
  test("--by-task needs two policies, and prints JSON", async () => {
    await expect(runCommand(score, [tasksFile, "--by-task"], inFolder)).rejects.toThrow(
      "there is one policy in",
    );
    const args = [tasksFile, attemptsFile, "--tasks", tasksFile, "--by-task", "--json"];
    const { out } = await runCommand(score, args, inFolder);
    expect(JSON.parse(out[0]!)).toMatchObject({
      policies: [{ tasks: 3, success: 1 }, { tasks: 1, success: 0 }, { tasks: 1 }],
      tasks: [{ task: "t-move", spread: 1 }, {}, { task: "t-twice", spread: 0 }],
    });
  });
  test("attempts without their tasks are reported", async () => {
    const { out, notes, code } = await runCommand(score, [attemptsFile], inFolder);
    expect(out[0]).toBe(
      "t-move/wrong  not scored: its task t-move was not found: name its file with --tasks",
    );
    expect(notes).toEqual(["2 not scored"]);
    expect(code).toBe(1);
  });
  test("one broken attempt and one that never ended do not stop the others", async () => {
    const [broken, unended] = [attempts[0]!, attempts[1]!];
    const events = broken.events.map(it =>
      it.kind === "call"
        ? { ...it, outcome: { kind: "broken" as const, message: "no answer within 10 s" } }
        : it,
    );
    const text =
      formatTrajectory({ ...broken, events }) +
      formatTrajectory({ ...unended, events: unended.events.slice(0, -1) }) +
      formatTrajectory(unended);
    const { out } = await runCommand(
      score,
      [write("mixed.trajectory.jsonl", text), "--tasks", tasksFile],
      inFolder,
    );
    expect(out.map(it => it.slice(0, 60))).toEqual(
      [
        "t-move/wrong  not scored: no answer within 10 s",
        "t-read/scripted:idle  not scored: it has not ended",
        "t-read/scripted:idle  0.0000  validity 0.0000  coverage 0.00",
      ].map(it => it.slice(0, 60)),
    );
  });
  test("notes that a fixture has changed", async () => {
    const stale: Task = {
      ...fifty,
      trajectory: {
        ...fifty.trajectory,
        header: {
          ...fifty.trajectory.header,
          servers: [{ name: "banking", fixture: "small", digest: "older" }],
        },
      },
    };
    const { notes } = await runCommand(
      score,
      [write("stale.tasks.jsonl", `${formatTaskLine(stale)}\n`)],
      inFolder,
    );
    expect(notes[0]).toBe(
      "the fixture small of banking has changed since, and attempts are judged by what it is now: restore that fixture, or synthesize the tasks anew",
    );
  });
  test("an attempt is scored on what its calls return, not on the results in its file", async () => {
    const facts = [{ entity: "acc_101", field: "balance", value: 3148.95 }];
    const asked: Task = {
      ...read,
      goals: read.goals.map(goal => ({
        ...goal,
        calls: goal.calls.map(it => ({ ...it, for: "answers", facts })),
      })),
    };
    const forged = forgeArguments(asked.trajectory);
    const file = write("forged.trajectory.jsonl", formatTrajectory(forged));
    const tasks = write("forged.tasks.jsonl", `${formatTaskLine(asked)}\n`);
    const options = [file, "--tasks", tasks];
    const { out, notes } = await runCommand(score, [...options, "--json"], inFolder);
    expect(JSON.parse(out[0]!)).toMatchObject({
      success: false,
      coverage: 0,
      notes: ["1 result is not what the servers return; scored on the replayed one"],
    });
    expect(notes[0]).toBe(
      "1 recorded with results that the servers do not return, and scored on the replayed ones (prove-rl replay shows them)",
    );
    const honest = await runCommand(score, [tasks, "--json"], inFolder);
    expect(JSON.parse(honest.out[0]!)).toMatchObject({ success: true });
    expect(JSON.parse(honest.out[0]!)).not.toHaveProperty("notes");
    const shown = await runCommand(score, [...options, "--show"], inFolder);
    expect(shown.out.join("\n")).toMatch(/not what the servers return; scored on the replayed/);
  });
  test("what was to be told is listed, and says so if nothing else is wrong", async () => {
    const facts = [
      { entity: "acc_101", field: "balance", value: 3148.95, tell: { kind: "money" as const } },
    ];
    const asked: Task = {
      ...read,
      goals: read.goals.map(goal => ({
        ...goal,
        calls: goal.calls.map(it => ({ ...it, for: "answers", facts })),
      })),
    };
    const say = async (text: string) => {
      const policy = createScriptedPolicy("said", [calling(balance), saying(text)]);
      return (await rollout(asked, policy, catalog)).trajectory;
    };
    const said = [await say("There are €3,148.95."), await say("There are €3,184.95.")];
    const options = [
      write("said.trajectory.jsonl", said.map(formatTrajectory).join("")),
      "--tasks",
      write("said.tasks.jsonl", `${formatTaskLine(asked)}\n`),
    ];
    const wrong = "the balance of account acc_101 (Everyday): told 3,184.95, is 3,148.95";
    const { out, notes } = await runCommand(score, options, inFolder);
    expect(out[0]).toContain("argument 1.0000  answer 1.0000  success");
    expect(out[1]).toContain(`answer 0.0000  no success: only what was said is wrong: ${wrong}`);
    expect(notes.join("\n")).toContain("answer 0.5000");
    const shown = (await runCommand(score, [...options, "--show"], inFolder)).out.join("\n");
    expect(shown).toContain("✓ told the balance of account acc_101 (Everyday): 3,148.95\n");
    expect(shown).toContain(`✗ ${wrong}\n`);
    const json = await runCommand(score, [...options, "--json", "--evidence"], inFolder);
    expect(JSON.parse(json.out[1]!)).toMatchObject({
      answer: 0,
      success: false,
      why: [`only what was said is wrong: ${wrong}`],
      breakdown: { answers: [{ turn: 0, goal: 0, isTold: false, wanted: "3,148.95" }] },
    });
    const pages = join(folder, "told");
    await runCommand(score, [...options, "--html", pages], inFolder);
    const texts = readdirSync(pages).map(it => readFileSync(join(pages, it), "utf8"));
    expect(texts.join("\n")).toContain(`<li>✗ ${wrong}</li>`);
    const calls = await runCommand(score, [...options, "--profile", "prove-plus-calls"], inFolder);
    expect(calls.out[1]).toMatch(/argument 1\.0000  success$/);
  });
  test("needs a file and an existing profile", async () => {
    await expect(runCommand(score, [])).rejects.toThrow(
      /^score needs a file, or --calls: usage: prove-rl score/,
    );
    await expect(runCommand(score, [tasksFile, "--profile", "mine"], inFolder)).rejects.toThrow(
      "there is no reward profile mine: choose one of paper, prove-plus",
    );
  });
});

describe("files of all kinds", () => {
  test("a missing or invalid file is reported, and the others are scored", async () => {
    const { code, out, notes } = await runCommand(
      score,
      ["none.jsonl", write("odd.jsonl", '{"a":1}\n'), tasksFile],
      inFolder,
    );
    expect(out).toHaveLength(3);
    expect(notes.slice(0, 2).map(it => it.replaceAll(folder, "F"))).toEqual([
      "there is no file F/none.jsonl\n  check the path",
      "F/odd.jsonl:1 is neither a task nor the header of a trajectory\n  give *.tasks.jsonl or *.trajectory.jsonl files",
    ]);
    expect(code).toBe(2);
  });
  test("a folder stands for its files, and the groups of a run are read too", async () => {
    mkdirSync(join(folder, "groups"));
    for (const step of [2, 10])
      write(
        `groups/${step}.jsonl`,
        attempts
          .map(
            it =>
              `${JSON.stringify({ format: "prove/group@1", step, trajectory: formatTrajectoryLine(it) })}\n`,
          )
          .join(""),
      );
    write("groups/notes.txt", "nothing");
    const { out, code } = await runCommand(
      score,
      ["groups", "--tasks", tasksFile, "--json"],
      inFolder,
    );
    expect(out.map(it => (JSON.parse(it) as { id: string }).id)).toEqual([
      "t-move/wrong",
      "t-read/scripted:idle",
      "t-move/wrong",
      "t-read/scripted:idle",
    ]);
    expect(code).toBe(0);
  });
  test.each([score, replay])(
    "an invalid file in a folder does not hide the files after it: $name",
    async command => {
      mkdirSync(join(folder, command.name));
      write(`${command.name}/1.jsonl`, '{"a":1}\n');
      write(`${command.name}/2.tasks.jsonl`, readFileSync(join(folder, tasksFile), "utf8"));
      const { code, notes, out } = await runCommand(command, [command.name], inFolder);
      expect(notes[0]).toMatch(/1\.jsonl:1 is neither a task nor the header of a trajectory/);
      if (command === score) expect(out).toHaveLength(3);
      else expect(notes[1]).toBe("3 attempts, 6 calls: all the same");
      expect(code).toBe(2);
    },
  );
  test("a folder without files is reported", async () => {
    mkdirSync(join(folder, "empty"));
    expect((await runCommand(replay, ["empty"], inFolder)).notes[0]).toMatch(
      /there are no \*\.jsonl files in .*empty\n {2}give a folder that holds tasks or trajectories/,
    );
  });
  test("--show prints each attempt with what its calls earned", async () => {
    const { out } = await runCommand(
      score,
      [attemptsFile, "--tasks", tasksFile, "--show"],
      inFolder,
    );
    expect(out).toContain(
      '    = valid 1 · serves goal 2 · 2 of 3 arguments (to_account should be "acc_108")',
    );
    expect(out).toContain("reward by prove-plus: 1.2833");
    expect(out).toContain("goals");
  });
  test("--html writes a page for each attempt, also for those without a score", async () => {
    const { out, notes } = await runCommand(
      score,
      [attemptsFile, attemptsFile, tasksFile, "--html", "pages"],
      inFolder,
    );
    expect(out).toHaveLength(7);
    expect(notes.at(-1)).toBe("pages in pages: 7");
    const names = readdirSync(join(folder, "pages"));
    expect(names.toSorted()).toEqual([
      "t-move-teacher.html",
      "t-move-wrong-2.html",
      "t-move-wrong.html",
      "t-read-scripted-idle-2.html",
      "t-read-scripted-idle.html",
      "t-read-teacher.html",
      "t-twice-teacher.html",
    ]);
    const read = (name: string) => readFileSync(join(folder, "pages", name), "utf8");
    expect(read("t-move-teacher.html")).toMatch(/2\.30*\b[\s\S]*banking_transfer/);
    expect(read("t-move-wrong.html")).toContain("its task t-move was not found");
  });
  test("--html replaces a link in the folder, and leaves what it leads to", async () => {
    const [pages, victim] = [join(folder, "linked"), join(folder, "victim")];
    mkdirSync(pages);
    writeFileSync(victim, "mine");
    symlinkSync(victim, join(pages, "t-move-teacher.html"));
    await runCommand(score, [tasksFile, "--html", pages], inFolder);
    expect(readFileSync(victim, "utf8")).toBe("mine");
    expect(readFileSync(join(pages, "t-move-teacher.html"), "utf8")).toContain("<html");
  });
});

describe("replay F", () => {
  test("prints nothing for attempts that are the same", async () => {
    const { out, notes, code } = await runCommand(replay, [tasksFile, attemptsFile], inFolder);
    expect({ out, notes, code }).toEqual({
      out: [],
      notes: ["5 attempts, 8 calls: all the same"],
      code: 0,
    });
  });
  test("prints a line for each attempt that differs, and exits with 1", async () => {
    const edited = attempts[0]!.events.map(it =>
      it.kind === "call" && it.name === "banking_transfer"
        ? { ...it, outcome: { kind: "ok" as const, value: { ok: true } } }
        : it,
    );
    const file = write(
      "edited.trajectory.jsonl",
      formatTrajectory(attempts[1]!) + formatTrajectory({ ...attempts[0]!, events: edited }),
    );
    const { out, code } = await runCommand(replay, [file], inFolder);
    expect(out).toEqual([
      "t-move/wrong  differs: call 2, banking_transfer, gives another value; synthesize it again if a later version of PROVE changed the rule; otherwise the record was edited, or a tool is not deterministic: report it with this file",
    ]);
    expect(code).toBe(1);
    expect(
      (await runCommand(replay, [file, "--json"], inFolder)).out.map(
        it => JSON.parse(it) as object,
      ),
    ).toMatchObject([{ id: "t-move/wrong", verdict: "differs", call: 1, differs: ["value"] }]);
  });
  test("an attempt that cannot be replayed is reported, and the others are replayed", async () => {
    const [header] = formatTrajectory(attempts[0]!).split("\n") as [string];
    const file = write(
      "gone.trajectory.jsonl",
      formatTrajectory(attempts[1]!) +
        formatTrajectory(attempts[0]!).replace(
          header,
          header.replace('"fixture":"small"', '"fixture":"lost"'),
        ),
    );
    const { out, notes } = await runCommand(replay, [file], inFolder);
    expect(out).toEqual([
      "t-move/wrong  gone: banking has no fixture lost; choose one of full, small",
    ]);
    expect(notes).toEqual(["2 attempts, 0 calls: 1 of them differs"]);
  });
  test("needs a file of the right kind", async () => {
    await expect(runCommand(replay, [])).rejects.toThrow(/^replay needs a file/);
    const { code, notes } = await runCommand(replay, [write("x.jsonl", '{"a":1}\n')], inFolder);
    expect(notes[0]).toMatch(/x\.jsonl:1 is neither a task nor the header of a trajectory/);
    expect(code).toBe(2);
  });
});
