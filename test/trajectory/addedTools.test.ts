/** Tools that a later turn adds: unknown before that turn, offered, recorded and replayed after. */
import { describe, expect, test } from "vitest";
import type { ChatModel, ChatRequest } from "../../src/policy/chatModel.ts";
import { createEndpointPolicy } from "../../src/policy/chatMessages.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { paperProfile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { parseTask } from "../../src/trajectory/file.ts";
import { checkReplay } from "../../src/trajectory/replay.ts";
import { formatTaskLine, type Task } from "../../src/trajectory/task.ts";
import { listCalls } from "../../src/trajectory/trajectory.ts";
import { formatTranscript } from "../../src/trajectory/transcript.ts";
import { calling, catalog, goal, lookUp, saying, taskOf, transfer } from "./sampleTasks.ts";

const move = transfer("acc_108", 50);

/** The transfer is missing in the first turn, and the second one brings it. */
async function createTask(): Promise<Task> {
  const teacher = [
    calling(lookUp),
    saying("I can't move money here."),
    calling(move),
    saying("Moved 50 euros to Savings."),
  ];
  const goals = [
    goal([lookUp]),
    goal([move], [{ goal: 0, kind: "explicit", via: "account_id" }], 1),
  ];
  const task = await taskOf({
    id: "t-later",
    users: ["Move 50 euros from acc_101 to my savings.", "You can use this now."],
    goals,
    teacher,
    menu: ["banking_list_accounts", "banking_get_balance"],
  });
  const turns = task.turns.map((it, i) => (i === 1 ? { ...it, adds: ["banking_transfer"] } : it));
  const later = { ...task, turns };
  const policy = createScriptedPolicy("scripted:teacher", teacher);
  return { ...later, trajectory: (await rollout(later, policy, catalog)).trajectory };
}

const play = async (
  task: Task,
  ...messages: Parameters<typeof createScriptedPolicy>[1][number][]
) => (await rollout(task, createScriptedPolicy("test", messages), catalog)).trajectory;

const judge = async (task: Task, trajectory: Awaited<ReturnType<typeof play>>) =>
  createAttemptFactory(catalog)(task, trajectory);

describe("a tool that a later turn adds", () => {
  test("can be called from that turn on", async () => {
    const task = await createTask();
    const attempt = await judge(
      task,
      await play(task, calling(lookUp), saying("I can't."), calling(move), saying("Done.")),
    );
    expect(listCalls(attempt.trajectory).map(it => it.outcome.kind)).toEqual(["ok", "ok"]);
    expect(getSuccess(attempt)).toMatchObject({ achieved: true, reasons: [] });
  });

  test("is unknown before, and a call of it then earns nothing", async () => {
    const task = await createTask();
    const attempt = await judge(
      task,
      await play(task, calling(lookUp), calling(move), saying("Done."), saying("It is.")),
    );
    expect(listCalls(attempt.trajectory)[1]!.outcome).toMatchObject({ kind: "unknown-tool" });
    expect(getSuccess(attempt).achieved).toBe(false);
    const breakdown = scoreAttempt(attempt, paperProfile);
    expect(isScored(breakdown) && breakdown.calls[1]!.validity).toBe(0);
  });

  test("is recorded with the user's message, replays, and survives a file", async () => {
    const task = await createTask();
    expect(task.trajectory.events.find(it => it.kind === "user" && it.adds)).toEqual({
      kind: "user",
      text: "You can use this now.",
      adds: ["banking_transfer"],
    });
    expect(checkReplay(catalog, task.trajectory)).toEqual({ verdict: "same", steps: 2 });
    const line = formatTaskLine(task);
    const read = parseTask(JSON.parse(line), { file: "a.tasks.jsonl", line: 1 });
    expect(formatTaskLine(read)).toBe(line);
    expect(read.turns[1]!.adds).toEqual(["banking_transfer"]);
    expect(formatTranscript(task.trajectory, { task }).text).toContain(
      "    You can use this now.\n    now on offer: banking_transfer\n",
    );
  });

  test("reaches an endpoint with that turn", async () => {
    const requests: ChatRequest[] = [];
    const model: ChatModel = {
      name: "fake",
      complete: async request => {
        requests.push({ ...request, tools: [...request.tools!] });
        return { text: "I can't.", calls: [], tokens: { read: 0, written: 0 } };
      },
    };
    await rollout(await createTask(), createEndpointPolicy(model), catalog);
    expect(requests.map(it => it.tools!.map(tool => tool.name))).toEqual([
      ["banking_list_accounts", "banking_get_balance"],
      ["banking_list_accounts", "banking_get_balance", "banking_transfer"],
    ]);
  });

  test.each([
    ["a tool of the menu", 1, "banking_get_balance", "is on the menu already"],
    ["anything in the first turn", 0, "banking_transfer", "the first turn has the menu"],
  ])("is refused in a file that adds %s", async (_, turn, tool, message) => {
    const task = await createTask();
    const turns = task.turns.map(({ adds: __, ...it }, i) =>
      i === turn ? { ...it, adds: [tool] } : it,
    );
    const line = JSON.parse(formatTaskLine({ ...task, turns })) as unknown;
    expect(() => parseTask(line, { file: "a.tasks.jsonl", line: 3 })).toThrow(message);
  });
});
