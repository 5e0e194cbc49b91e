/** What attempts are given of the tasks in a file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { createRunConfig } from "../../src/run/createRunConfig.ts";
import { loadTrainingSet } from "../../src/train/trainingSet.ts";
import { trainTokenizer } from "../../src/model/tokenizer.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { formatTaskLine } from "../../src/trajectory/taskLine.ts";
import { calling, catalog, saying, taskOf, transfer } from "../trajectory/sampleTasks.ts";

async function load(tasks: readonly Task[], turns: "all" | "one"): Promise<readonly Task[]> {
  const folder = mkdtempSync(join(tmpdir(), "prove-set-"));
  const file = join(folder, "t.tasks.jsonl");
  writeFileSync(file, tasks.map(it => `${formatTaskLine(it)}\n`).join(""));
  const config = createRunConfig({
    startedAt: new Date("2026-03-02T09:00:00Z"),
    tasks: file,
    grpo: { turns },
  });
  const set = await loadTrainingSet(config, catalog, trainTokenizer([], [], [], 480), () => {});
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
    const [loaded] = await load([task], turns);
    for (const it of [task, loaded!]) {
      const { events } = (await rollout(it, policy, catalog)).trajectory;
      expect(events.filter(of => of.kind === "user").map(of => of.text)).toEqual([
        "Send 1000000 to acc_108.",
        "Yes, please.",
      ]);
    }
  },
);
