/**
 * Tasks in which the assistant has to recover from something: the teacher meets it on the live
 * server, whoever looks first never meets it, and whoever gives up fails.
 */
import { describe, expect, test } from "vitest";
import { playTask } from "../../evaluation/playTask.ts";
import {
  createScriptedPolicy,
  createTeacherPolicy,
  listMessages,
} from "../../../src/policy/scripted.ts";
import type { AssistantMessage } from "../../../src/policy/policy.ts";
import { paperProfile } from "../../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../../src/reward/reward.ts";
import { getSuccess } from "../../../src/reward/success.ts";
import { createAttemptFactory } from "../../../src/trajectory/attempt.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { recoverySorts, type RecoverySort } from "../../../src/synthesis/user/intents/intent.ts";
import { catalog } from "../../contracts/transports.ts";
import { synthesizeTasks } from "../synthesizeTasks.ts";

const { tasks } = await synthesizeTasks(300, {
  seed: 77,
  servers: ["team_chat", "budget", "vehicle", "calendar", "filesystem", "crm"],
  preset: "paper",
});
const createAttempt = createAttemptFactory(catalog);

const listTasks = (sort: RecoverySort): Task[] => tasks.filter(it => it.knobs["recovery"] === sort);

async function play(task: Task, messages: readonly AssistantMessage[]) {
  const policy = createScriptedPolicy("test", messages);
  const attempt = await playTask(task, policy, catalog, createAttempt);
  const breakdown = scoreAttempt(attempt, paperProfile);
  return {
    // the teacher's words may tell what only its own calls have shown
    isDone: getSuccess(attempt, { ignoresAnswers: true }).achieved,
    total: isScored(breakdown) ? breakdown.total : 0,
  };
}

/** The goals' calls alone, one after the other, and each turn's reply. */
const listPlannedMessages = ({ turns, goals }: Task): AssistantMessage[] =>
  turns.flatMap((turn, t) => [
    ...goals
      .filter(it => it.turn === t)
      .map(it => ({
        text: "",
        calls: it.calls.map(({ name, arguments: args }) => ({ name, arguments: args })),
      })),
    { text: turn.reply, calls: [] },
  ]);

describe.each(recoverySorts)("tasks with a recovery of sort %s", sort => {
  const own = listTasks(sort);

  test("are synthesized", () => expect(own.length).toBeGreaterThan(0));

  test("are met without a failed call by whoever looks first, for at least as much", async () => {
    for (const task of own) {
      const teacher = createTeacherPolicy(task);
      const attempt = await playTask(task, teacher, catalog, createAttempt);
      const breakdown = scoreAttempt(attempt, paperProfile);
      const { isDone, total } = await play(task, listPlannedMessages(task));
      expect(isDone, task.id).toBe(true);
      expect(total).toBeGreaterThanOrEqual(isScored(breakdown) ? breakdown.total - 1e-9 : 0);
    }
  });

  test("are not met by whoever gives up after the refusal of what it takes", async () => {
    for (const task of own) {
      const calls = listCalls(task.trajectory);
      const failed = calls.find(
        (it, i) =>
          it.outcome.kind === "refused" &&
          calls.slice(i + 1).some(later => later.name === it.name && later.outcome.kind === "ok"),
      );
      const made = listMessages(task.trajectory.events).slice(0, (failed?.message ?? -1) + 1);
      const givingUp = task.turns.map(() => ({ text: "I can't do that.", calls: [] }));
      expect((await play(task, [...made, ...givingUp])).isDone, task.id).toBe(false);
    }
  });
});

test("the reply says what was put right", () => {
  for (const task of [...listTasks("repair"), ...listTasks("hint")]) {
    const failed = listCalls(task.trajectory).findIndex(it => it.outcome.kind === "refused");
    expect(failed, task.id).toBeGreaterThanOrEqual(0);
    const replies = task.turns.map(it => it.reply).join("\n");
    expect(replies, task.id).not.toMatch(/[{}]/);
  }
  const starts = listTasks("repair").filter(it =>
    it.goals.some(goal => goal.calls.some(call => call.name === "vehicle_start_engine")),
  );
  for (const { turns, goals } of starts)
    if (!turns.some(it => /start|engine/i.test(it.user)))
      expect(turns.map(it => it.reply).join(" "), JSON.stringify(goals)).toMatch(
        /engine|started|running/,
      );
});

test("at least a tenth of all tasks have one", () => {
  const recovered = tasks.filter(it => it.knobs["recovery"] !== undefined);
  expect(recovered.length / tasks.length).toBeGreaterThanOrEqual(0.1);
  expect(recovered.length / tasks.length).toBeLessThan(0.14);
  expect(recovered.some(it => it.knobs["scenario"] !== undefined)).toBe(true);
  expect(recovered.some(it => it.kind === "clarify")).toBe(true);
});
