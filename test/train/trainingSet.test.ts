/** What attempts are given of the tasks in a file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openCatalog, type Catalog } from "../../src/environment/catalog.ts";
import { omitUndefined } from "../../src/environment/json.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { createRunConfig } from "../../src/run/createRunConfig.ts";
import { createConversation } from "../../src/train/sft/corpus.ts";
import { openSharedTasks, loadTrainingSet, type TrainingSet } from "../../src/train/trainingSet.ts";
import { readModelFolder } from "../../src/model/modelFolder.ts";
import { type Task, formatTaskLine } from "../../src/trajectory/task.ts";
import {
  calling,
  catalog,
  moveFifty,
  saying,
  taskOf,
  transfer,
} from "../trajectory/sampleTasks.ts";

const fixtures = join(import.meta.dirname, "../../resources/servers");
const student = readModelFolder(join(import.meta.dirname, "../../resources/models/small"));

interface LoadOptions {
  readonly method?: "grpo" | "sft";
  readonly turns?: "all" | "one";
  /** The servers of the student; only tasks on them are loaded. */
  readonly servers?: readonly string[];
  readonly of?: Catalog;
  /** The tokens that the student reads. */
  readonly context?: number;
  /** The tokens of menu and first turn, for a student that reads descriptions of tools. */
  readonly prompt?: number;
}

async function load(tasks: readonly Task[], options: LoadOptions): Promise<readonly Task[]> {
  return [...openSharedTasks((await loadSet(tasks, options)).tasks)];
}

async function loadSet(
  tasks: readonly Task[],
  { method = "grpo", turns = "all", servers = [], of = catalog, context, prompt }: LoadOptions,
): Promise<TrainingSet> {
  const folder = mkdtempSync(join(tmpdir(), "prove-set-"));
  const file = join(folder, "t.tasks.jsonl");
  writeFileSync(file, tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
  const config = createRunConfig({
    startedAt: new Date("2026-03-02T09:00:00Z"),
    tasks: file,
    method,
    grpo: { turns },
    ...(servers.length > 0 ? { onlyFitting: true } : {}),
  });
  const saw = { ...student.config.saw, servers: Object.fromEntries(servers.map(it => [it, ""])) };
  const limits = { ...student.chat.limits, ...omitUndefined({ context, prompt }) };
  const chat = { ...student.chat, limits, describesTools: prompt !== undefined };
  const start = { config: { ...student.config, saw }, chat };
  try {
    return await loadTrainingSet(config, of, start, { onTask() {} });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The user confirms a transfer, which the server then refuses: the turn has no goal. */
async function createRefusedTransfer(): Promise<Task> {
  const question = saying("Shall I send 1000000 to acc_108?");
  const task = await taskOf({
    id: "t-refused",
    users: ["Send 1000000 to acc_108."],
    goals: [],
    teacher: [calling(transfer("acc_108", 1e6)), saying("There is not enough in the account.")],
  });
  const [user, ...others] = task.trajectory.events;
  const events = [
    user!,
    { kind: "assistant", message: 0, text: question.text } as const,
    { kind: "user", text: "Yes, please.", answers: true } as const,
    ...others.map(it =>
      it.kind === "assistant" || it.kind === "call" ? { ...it, message: it.message + 1 } : it,
    ),
  ];
  return {
    ...task,
    policy: {
      rules: [
        {
          id: "confirm",
          text: "Transfers need a confirmation.",
          because: "transfers need a confirmation",
          tools: [transfer("", 0).name],
          demands: "confirm",
        },
      ],
    },
    trajectory: { ...task.trajectory, events },
  };
}

test.each(["all", "one"] as const)(
  "of turns: %s, the user agrees in training where it does in evaluation",
  async turns => {
    const task = await createRefusedTransfer();
    const policy = createScriptedPolicy("test", [saying("Shall I send 1000000 to acc_108?")]);
    const [loaded] = await load([task], { turns });
    for (const it of [task, loaded!]) {
      const { events } = (await rollout(it, policy, catalog)).trajectory;
      expect(events.filter(of => of.kind === "user").map(of => of.text)).toEqual([
        "Send 1000000 to acc_108.",
        "Yes, please.",
      ]);
    }
  },
);

describe("only the tasks that fit the student", () => {
  const move = async () => ({ ...(await createRefusedTransfer()), id: "t-move" });
  const tooLong = async () => {
    const task = await move();
    const [first, ...others] = task.trajectory.events;
    const text = "Please do it now. ".repeat(200);
    const events = [{ ...first!, text } as (typeof others)[number], ...others];
    return { ...task, id: "t-long", trajectory: { ...task.trajectory, events } };
  };
  const onOtherServer = async () => {
    const task = await move();
    return {
      ...task,
      id: "t-maps",
      servers: [...task.servers, { ...task.servers[0]!, name: "maps" }],
    };
  };

  test("are those on servers that it was trained on, within its limits", async () => {
    const tasks = [await tooLong(), await move(), await onOtherServer()];
    const loaded = await load(tasks, { servers: ["banking"] });
    expect(loaded.map(it => it.id)).toEqual(["t-move"]);
  });

  test("and if there are none, the error says so and what to do", async () => {
    await expect(load([await move()], { servers: ["calendar"] })).rejects.toMatchObject({
      what: expect.stringMatching(
        /^none of the 1 tasks of the split train in .* fits small: 1 on servers that it does not know$/,
      ) as string,
      remedy: expect.stringContaining("--preset student") as string,
    });
  });
});

describe("tasks that cannot be attempted", () => {
  const offerNothing = async (): Promise<Task> => {
    const task = await moveFifty();
    return { ...task, id: "t-renamed", menu: [...task.menu, { name: "banking_teleport" }] };
  };
  /** The catalog with a `transfer` that crashes. */
  const crashingCatalog = (): Catalog => {
    const banking = catalog.getServer("banking");
    const tool = banking.tools.get(transfer("", 0).name)!;
    const crash = () => {
      throw new Error("out of money");
    };
    const tools = new Map([...banking.tools, [tool.name, { ...tool, run: crash }]]);
    return openCatalog([{ ...banking, tools }], [fixtures]);
  };

  test("are left out, and the user is told", async () => {
    const { tasks, warnings } = await loadSet([await moveFifty(), await offerNothing()], {});
    expect([...openSharedTasks(tasks)].map(it => it.id)).toEqual(["t-move"]);
    expect(warnings[0]).toBe(
      "1 of 2 tasks cannot be attempted, and is left out: task t-renamed offers banking_teleport, which none of its servers has. To do: synthesize the task anew",
    );
  });

  test("are those whose goals crash; if none is left, the error names the first crash", async () => {
    const question = await taskOf({
      id: "t-question",
      users: ["Hello."],
      goals: [],
      teacher: [saying("Hello.")],
    });
    const of = crashingCatalog();
    const { tasks, warnings } = await loadSet([await moveFifty(), question], { of });
    expect([...openSharedTasks(tasks)].map(it => it.id)).toEqual(["t-question"]);
    expect(warnings[0]).toMatch(
      /^1 of 2 tasks cannot be attempted, .*goal 2, banking_transfer, is broken \(.*out of money\)/,
    );
    await expect(loadSet([await moveFifty()], { of })).rejects.toThrow(
      /^none of the 1 tasks .* can be attempted; task t-move: goal 2, .*: fix the tool/,
    );
  });
});

test("before tasks that do not fit the student, the user is told how many do", async () => {
  const { tasks, warnings } = await loadSet([await moveFifty()], {});
  expect(openSharedTasks(tasks)).toHaveLength(1);
  expect(warnings).toEqual([
    "none of 1 tasks fit small: 1 on servers that it does not know. Attempts at those hardly ever succeed; --only-fitting leaves them out",
  ]);
});

test("nothing is said about tasks from whose conversations the student learns servers", async () => {
  const { taskTopics, warnings } = await loadSet([await moveFifty()], { method: "sft" });
  expect(taskTopics).toHaveLength(1);
  expect(warnings).toEqual([]);
});

test("before a supervised training, the user is told how many conversations are too long", async () => {
  const short = await taskOf({
    id: "t-short",
    users: ["Hello."],
    goals: [],
    teacher: [saying("Hello.")],
  });
  const tasks = [short, await moveFifty()];
  const { warnings } = await loadSet(tasks, { method: "sft", context: 100 });
  expect(warnings).toEqual([
    "1 of 2 conversations are too long, and are left out: small reads 100 tokens, and may write 128 of them",
  ]);
});

test("a student that cannot read the menu with the first turn is told how long they are", async () => {
  const task = await moveFifty();
  const { opening } = student.chat.encode(createConversation(catalog, task, task.trajectory));
  await expect(load([task], { prompt: opening - 1 })).rejects.toThrow(
    `the menu and the first turn of task ${task.id} take ${opening} tokens`,
  );
  expect(await load([task], { prompt: opening })).toHaveLength(1);
});
