/** What attempts are given of the tasks in a file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { createRunConfig } from "../../src/run/createRunConfig.ts";
import { loadTrainingSet } from "../../src/train/trainingSet.ts";
import { readModelFolder } from "../../src/model/modelFolder.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { formatTaskLine } from "../../src/trajectory/taskLine.ts";
import { calling, catalog, saying, taskOf, transfer } from "../trajectory/sampleTasks.ts";

const student = readModelFolder(join(import.meta.dirname, "../../resources/models/small"));

async function load(
  tasks: readonly Task[],
  { turns = "all", servers = [] }: { turns?: "all" | "one"; servers?: readonly string[] },
): Promise<readonly Task[]> {
  const folder = mkdtempSync(join(tmpdir(), "prove-set-"));
  const file = join(folder, "t.tasks.jsonl");
  writeFileSync(file, tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
  const config = createRunConfig({
    startedAt: new Date("2026-03-02T09:00:00Z"),
    tasks: file,
    grpo: { turns },
    ...(servers.length > 0 ? { onlyFitting: true } : {}),
  });
  const saw = { ...student.config.saw, servers: Object.fromEntries(servers.map(it => [it, ""])) };
  const start = { ...student, config: { ...student.config, saw } };
  const set = await loadTrainingSet(config, catalog, start, () => {});
  rmSync(folder, { recursive: true });
  return set.tasks;
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
        /^none of the 1 tasks of the split train in .* fits small$/,
      ) as string,
      remedy: expect.stringContaining("--preset student") as string,
    });
  });
});
