/** Policies that go on with attempts which other policies have begun. */
import { expect, test } from "vitest";
import {
  continueAttempt,
  takeFirstEvents,
  createScriptedPolicy,
} from "../../src/policy/scripted.ts";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { listCalls, type Event } from "../../src/trajectory/trajectory.ts";
import {
  balance,
  calling,
  catalog,
  moveFifty,
  moveTwice,
  saying,
  transfer,
} from "../trajectory/sampleTasks.ts";

/** Goes on with the teacher's attempt after some events; the messages are those of the attempt. */
async function goOn(
  task: Task,
  position: number,
  messages: readonly (AssistantMessage | undefined)[],
  events: readonly Event[] = task.trajectory.events,
) {
  const filled = messages.map(it => it ?? saying("never asked for"));
  const from = { ...task.trajectory, events: takeFirstEvents(events, position) };
  const policy = continueAttempt(from, createScriptedPolicy("other", filled));
  return (await rollout(task, policy, catalog)).trajectory;
}

const isCall = (it: Event) => it.kind === "call";

test("the attempt's calls are repeated, and the other policy makes the next ones", async () => {
  const task = await moveFifty();
  const position = task.trajectory.events.findIndex(isCall) + 1;
  const { header, events } = await goOn(task, position, [
    undefined,
    calling(transfer("acc_115", 50)),
    saying("Moved."),
  ]);
  expect(header.policy).toBe("other after scripted:teacher");
  expect(events.slice(0, position)).toMatchObject(task.trajectory.events.slice(0, position));
  expect(listCalls({ header, events }).at(-1)).toMatchObject(transfer("acc_115", 50));
});

test("after the first of two calls of a message, the second one is the other policy's", async () => {
  const task = await moveTwice();
  const attempt = await goOn(task, task.trajectory.events.findIndex(isCall) + 1, [
    undefined,
    saying("One is done."),
    calling(balance),
    saying("That is all."),
  ]);
  expect(listCalls(attempt).map(it => it.name)).toEqual(["banking_transfer", balance.name]);
  expect(attempt.events.filter(it => it.kind === "user")).toHaveLength(2);
});

test("a message that announces calls is not an answer to the user without them", async () => {
  const task = await moveFifty();
  const events = task.trajectory.events.map(it =>
    it.kind === "assistant" && it.message === 1 ? { ...it, text: "I move it." } : it,
  );
  const position = events.findIndex(it => it.kind === "assistant" && it.message === 1) + 1;
  const attempt = await goOn(task, position, [undefined, saying("I will not.")], events);
  expect(listCalls(attempt)).toHaveLength(1);
  expect(attempt.events.filter(it => it.kind === "assistant").map(it => it.text)).toEqual([
    "",
    "I will not.",
  ]);
});

test("an attempt whose calls have other results now is not gone on with", async () => {
  const task = await moveFifty();
  const events = task.trajectory.events.map(it =>
    it.kind === "call" ? { ...it, digest: "other" } : it,
  );
  await expect(
    goOn(task, events.findIndex(isCall) + 1, [undefined, saying("Moved.")], events),
  ).rejects.toThrow("no longer have the same results");
});
