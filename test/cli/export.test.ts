/** `export`: the rows of each format, the dataset card, and files that are not as they should be. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exportTasks } from "../../src/cli/export.ts";
import { readParquetRows } from "../../src/storage/parquet.ts";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { openResponse } from "../../src/service/schemas.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { openTaskStore } from "../../src/service/taskStore.ts";
import { type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import { catalog, root } from "../contracts/transports.ts";
import { sendRequest } from "../service/countingService.ts";
import { abstain, moveFifty, moveTwice } from "../trajectory/sampleTasks.ts";
import { emptyFolder } from "./program.ts";
import { runCommand } from "./terminal.ts";

let folder: string;
let file: string;
let move: Task;
let twice: Task;
let later: Task;
const tasks: Task[] = [];

const write = (name: string, list: readonly Task[]): string => {
  const path = join(folder, name);
  writeFileSync(path, list.map(it => `${formatTaskLine(it)}\n`).join(""));
  return path;
};

beforeAll(async () => {
  folder = emptyFolder();
  move = await moveFifty();
  twice = await moveTwice();
  later = bringLater(twice);
  tasks.push(move, twice, later, { ...(await abstain()), menu: [], split: "heldout-chain" });
  const shipped = join(root, "resources/example/prove/tasks/example.tasks.jsonl");
  for await (const it of readTasks(shipped)) if (tasks.push(it) === 20) break;
  file = write("some.tasks.jsonl", tasks);
});

/** The task without the tool of its second turn until that turn. */
function bringLater(task: Task): Task {
  const adds = ["banking_get_balance"];
  const { header, events } = task.trajectory;
  const [, second] = task.turns;
  return {
    ...task,
    id: "t-later",
    menu: task.menu.filter(it => !adds.includes(it.name)),
    turns: task.turns.with(1, { ...second!, adds }),
    trajectory: {
      header: { ...header, id: "t-later/teacher" },
      events: events.map(it =>
        it.kind === "user" && it.text === second!.user ? { ...it, adds } : it,
      ),
    },
  };
}

interface Message {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: unknown };
  }[];
}
interface Tool {
  readonly function: { readonly name: string };
}

const readRows = (path: string): unknown[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter(it => it !== "")
    .map(it => JSON.parse(it) as unknown);

async function exportTo(format: string, from = file, ...args: string[]) {
  const out = join(emptyFolder(), format);
  const options = ["--tasks", from, "--to", format, "--out", out];
  const ran = await runCommand(exportTasks, [...options, ...args]);
  const files = readdirSync(out).filter(it => it !== "README.md");
  const rows: unknown[] = [];
  for (const it of files) {
    const path = join(out, it);
    rows.push(...(it.endsWith(".parquet") ? await readParquetRows(path) : readRows(path)));
  }
  return {
    ...ran,
    printed: ran.out.join("\n"),
    out,
    files,
    rows,
    card: readFileSync(join(out, "README.md"), "utf8"),
  };
}

describe("trl", () => {
  interface Row {
    readonly prompt: unknown;
    readonly task_id: string;
    readonly turn: number;
    readonly seed: number;
    readonly menu: string;
    readonly trajectory_id: string;
  }
  let serving: RunningHttpServer;
  beforeAll(async () => {
    serving = await startHttpServer({ catalog, tasks: await openTaskStore([file]) });
  });
  afterAll(() => serving.close());

  test("rows have the messages and tools of a session of the service", async () => {
    const { code, rows: all } = await exportTo("trl");
    const rows = all as readonly Row[];
    expect(code).toBe(0);
    expect(rows.length).toBeGreaterThan(tasks.length);
    expect(new Set(rows.map(it => it.trajectory_id)).size).toBe(rows.length);
    for (const { prompt, task_id, turn, seed, menu } of rows) {
      const body = { task_id, seed, ...(turn < 0 ? {} : { turn }) };
      const path = `${serving.url}/v1/sessions/${createSessionId()}`;
      const { json } = await sendRequest(path, "PUT", { body });
      const { messages, tools } = openResponse.parse(json).attempt!;
      expect(prompt).toEqual(messages);
      expect(JSON.parse(menu)).toEqual(tools);
    }
  });

  test("a task with one turn gives one row, and a longer one a row for each turn", async () => {
    const rows = (await exportTo("trl")).rows as readonly Row[];
    const turnsOf = (id: string) => rows.filter(it => it.task_id === id).map(it => it.turn);
    expect(turnsOf("t-move")).toEqual([-1]);
    expect(turnsOf("t-twice")).toEqual([0, 1]);
  });

  test("tasks whose turns depend on later ones have no rows", async () => {
    const goals = twice.goals.with(0, { ...twice.goals[0]!, turn: 1 });
    const mixed = write("mixed.tasks.jsonl", [{ ...twice, goals }, move]);
    const { rows, notes, card } = await exportTo("trl", mixed);
    expect(rows).toMatchObject([{ task_id: "t-move" }]);
    const remark = "1 task without rows: no turn can be attempted on its own";
    expect(notes).toContain(remark);
    expect(card).toContain(remark);
  });
});

describe.each(["sft", "openai"])("%s", format => {
  interface Row {
    readonly messages: readonly Message[];
    readonly tools?: readonly Tool[];
    readonly parallel_tool_calls?: boolean;
  }
  const isText = format === "openai";

  test("a row is the conversation of a teacher", async () => {
    const rows = (await exportTo(format, write("twice.tasks.jsonl", [twice])))
      .rows as readonly Row[];
    const write1 = { from_account: "acc_101", to_account: "acc_108", amount: 50 };
    const [row] = rows;
    expect(row!.messages.map(it => it.role).join(" ")).toBe(
      "system user assistant tool tool assistant user assistant tool assistant",
    );
    const [call] = row!.messages[2]!.tool_calls!;
    expect(call!.function).toEqual({
      name: "banking_transfer",
      arguments: isText ? JSON.stringify(write1) : write1,
    });
    expect(row!.messages[3]!.tool_call_id).toBe(call!.id);
    expect(row!.messages.at(-1)!.content).toBe("3078.95 is left.");
    expect(row!.tools!.map(it => it.function.name)).toEqual(twice.menu.map(it => it.name));
    expect(row!.parallel_tool_calls).toBe(isText ? true : undefined);
  });

  test("rows end with the assistant, and all tools that are called are on offer", async () => {
    const rows = (await exportTo(format)).rows as readonly Row[];
    expect(rows).toHaveLength(tasks.length);
    for (const { messages, tools = [] } of rows) {
      expect(messages.at(-1)!.role).toBe("assistant");
      expect(messages.at(-1)!.tool_calls).toBeUndefined();
      const offered = tools.map(it => it.function.name);
      for (const it of messages.flatMap(message => message.tool_calls ?? []))
        expect(offered).toContain(it.function.name);
    }
    const cut = rows.filter(it => it.messages.at(-1)!.content === "Both are done.");
    expect(cut.map(it => it.tools!.length)).toEqual([later.menu.length]);
    if (isText) expect(rows.find(it => it.tools === undefined)).toBeDefined();
  });
});

test("verl: an attempt at a whole task, in the columns of verl's data sets", async () => {
  interface Row {
    readonly prompt: readonly Message[];
    readonly extra_info: {
      readonly index: number;
      readonly split: string;
      readonly task_id: string;
    };
  }
  const { rows: all, files } = await exportTo("verl");
  const rows = all as readonly Row[];
  expect(files).toContain("train.parquet");
  expect(rows.map(it => it.extra_info.task_id).sort()).toEqual(tasks.map(it => it.id).sort());
  expect(rows.find(it => it.extra_info.task_id === "t-twice")).toMatchObject({
    data_source: "prove",
    prompt: [{ role: "system" }, { role: "user", content: twice.turns[0]!.user }],
    ability: "tool_use",
    reward_model: { style: "rule", ground_truth: "" },
    agent_name: "prove_agent",
    extra_info: { split: "train", turn: -1, seed: 7, trajectory_id: "t-twice" },
  });
  const train = rows.filter(it => it.extra_info.split === "train");
  expect(train.map(it => it.extra_info.index)).toEqual(train.map((_, i) => i));
});

test("hf: teachers' conversations with the properties of their tasks", async () => {
  interface Row {
    readonly task_id: string;
    readonly messages: readonly Message[];
    readonly tools: string;
  }
  const { rows: all, card, files } = await exportTo("hf");
  const rows = all as readonly Row[];
  expect(rows).toHaveLength(tasks.length);
  const sft = (await exportTo("openai")).rows as readonly { readonly messages: unknown }[];
  expect(rows.map(it => it.messages)).toEqual(sft.map(it => it.messages));
  const row = rows.find(it => it.task_id === "t-twice")!;
  expect(row).toMatchObject({ kind: "normal", servers: ["banking"], turns: 2, teacher: "hand" });
  const tools = JSON.parse(row.tools) as readonly Tool[];
  expect(tools.map(it => it.function.name)).toEqual(twice.menu.map(it => it.name));
  for (const it of files) expect(card).toContain(`path: ${it}`);
  expect(card).toContain("## Licence");
});

test("atif: a document for each teacher, with results at the steps of their calls", async () => {
  interface Document {
    readonly trajectory_id: string;
    readonly steps: readonly {
      readonly tool_calls?: readonly { readonly tool_call_id: string }[];
      readonly observation?: { readonly results: readonly { readonly source_call_id: string }[] };
    }[];
    readonly agent: { readonly tool_definitions: readonly Tool[] };
  }
  const rows = (await exportTo("atif")).rows as readonly Document[];
  expect(rows).toHaveLength(tasks.length);
  expect(rows.find(it => it.trajectory_id === "t-twice/teacher")).toMatchObject({
    schema_version: "ATIF-v1.7",
    trajectory_id: "t-twice/teacher",
    agent: { name: "prove-rl", extra: { teacher: "hand" } },
    steps: [
      { step_id: 1, source: "system" },
      { step_id: 2, source: "user" },
      {
        step_id: 3,
        source: "agent",
        message: "",
        tool_calls: [
          { function_name: "banking_transfer", arguments: { to_account: "acc_108", amount: 50 } },
          { function_name: "banking_transfer", arguments: { to_account: "acc_115", amount: 20 } },
        ],
      },
      { step_id: 4, source: "agent", message: "Both are done." },
      { step_id: 5, source: "user" },
      { step_id: 6, source: "agent" },
      { step_id: 7, source: "agent", message: "3078.95 is left." },
    ],
    final_metrics: { total_steps: 7 },
    extra: { task_id: "t-twice", split: "train", kind: "normal", servers: ["banking"], seed: 7 },
  });
  for (const { steps } of rows)
    for (const { tool_calls: calls, observation } of steps)
      expect(observation?.results.map(it => it.source_call_id)).toEqual(
        calls?.map(it => it.tool_call_id),
      );
  const brought = rows.find(it => it.trajectory_id === "t-later/teacher")!;
  expect(brought.agent.tool_definitions.at(-1)!.function.name).toBe("banking_get_balance");
});

describe("the folder", () => {
  test("has a file for each split, and a card that counts the rows", async () => {
    const held: Task = { ...move, id: "held", split: "heldout-chain", seed: 3 };
    const both = write("both.tasks.jsonl", [move, twice, held]);
    const { out, code, files, card } = await exportTo("trl", both);
    expect(code).toBe(0);
    expect(files).toEqual(["heldout-chain.jsonl", "train.jsonl"]);
    for (const it of [
      "license: other",
      "      - split: heldout_chain\n        path: heldout-chain.jsonl",
      "# both: tasks for TRL",
      "| train | 3 |",
      "| heldout-chain | 1 |",
      "| banking | 4 |",
      "from `both.tasks.jsonl`: 3 tasks, seeds from 3 to 7",
      move.catalog,
    ])
      expect(card).toContain(it);
    expect(card).not.toContain(out);
    expect(readRows(join(out, "heldout-chain.jsonl"))).toMatchObject([{ task_id: "held" }]);
  });

  test("has one file with --split, and the counts are printed as JSON", async () => {
    const ran = await exportTo("sft", file, "--split", "heldout-chain", "--json");
    expect(ran.files).toEqual(["heldout-chain.jsonl"]);
    expect(JSON.parse(ran.printed)).toMatchObject({
      format: "sft",
      rows: ran.rows.length,
      splits: { "heldout-chain": ran.rows.length },
      left_out: 0,
    });
  });
});

describe("what cannot be exported", () => {
  const run = (from: string, out: string, ...args: string[]) =>
    runCommand(exportTasks, ["--tasks", from, "--to", "trl", "--out", out, ...args]);

  test("a folder that is not empty is refused, and stays as it is", async () => {
    const out = emptyFolder();
    writeFileSync(join(out, "mine.txt"), "mine");
    await expect(run(file, out)).rejects.toThrow(/is not empty/);
    expect(readdirSync(out)).toEqual(["mine.txt"]);
  });

  test.each([
    ["a file without tasks", [], "holds no tasks", []],
    [
      "a split without tasks",
      [0],
      "no tasks of the split heldout-edge",
      ["--split", "heldout-edge"],
    ],
    ["tasks without rows", [1], "no turn of its tasks can be attempted on its own", []],
    ["tasks that cannot be opened", [2], "gives no rows for trl: .*there is no server bank", []],
  ] as const)("%s leaves no folder behind", async (_, chosen, message, args) => {
    const [server] = move.servers;
    const goals = twice.goals.with(0, { ...twice.goals[0]!, turn: 1 });
    const all = [move, { ...twice, goals }, { ...move, servers: [{ ...server!, name: "bank" }] }];
    const from = write(
      "bad.tasks.jsonl",
      chosen.map(it => all[it]!),
    );
    const out = join(emptyFolder(), "new");
    await expect(run(from, out, ...args)).rejects.toThrow(new RegExp(message));
    expect(existsSync(out)).toBe(false);
  });

  test("an invalid line ends the export, and an empty folder stays empty", async () => {
    const out = join(emptyFolder(), "empty");
    mkdirSync(out);
    const from = write("broken.tasks.jsonl", [move, { ...move, id: 7 as unknown as string }]);
    await expect(run(from, out)).rejects.toThrow(/broken.tasks.jsonl:2/);
    expect(readdirSync(out)).toEqual([]);
  });

  test.each([
    ["trl", "README.md"],
    ["verl", "README.md"],
    ["verl", "train.parquet"],
  ])("what was written for %s is deleted if %s cannot be", async (to, name) => {
    const out = join(emptyFolder(), "new");
    const blocked = join(out, name);
    const showProgress = () => {
      rmSync(blocked, { recursive: true, force: true });
      mkdirSync(blocked);
    };
    const args = ["--tasks", file, "--to", to, "--out", out];
    await expect(runCommand(exportTasks, args, { showProgress })).rejects.toMatchObject({
      what: expect.stringContaining(`${blocked} `) as string,
    });
    expect(existsSync(out)).toBe(false);
  });

  test("tasks of a changed fixture are exported with a note, others that are gone left out", async () => {
    const [server] = move.servers;
    const from = write("changed.tasks.jsonl", [
      { ...move, servers: [{ ...server!, digest: "0" }] },
      { ...move, id: "gone", servers: [{ ...server!, fixture: "gone" }] },
      { ...move, id: "tool", menu: [...move.menu, { name: "banking_rob" }] },
    ]);
    const { code, rows, notes, card } = await exportTo("trl", from);
    expect([code, rows.length]).toEqual([1, 1]);
    const text = notes.join("\n");
    expect(text).toContain("the fixture small of banking has changed since, and they are exported");
    expect(text).toMatch(/gone is left out: .*gone/);
    expect(text).toContain("tool is left out: task tool offers banking_rob");
    expect(card).toContain("2 tasks left out");
  });
});
