/** What calls do counts under `prove-plus`: worked out by hand, and that repeating never pays. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeDigest } from "../../src/environment/digest.ts";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import type { Breakdown } from "../../src/reward/breakdown.ts";
import { paperProfile, provePlusProfile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { catalog as allServers } from "../contracts/transports.ts";
import { readSharedTasks } from "../synthesis/synthesizeTasks.ts";
import {
  abstain,
  balance,
  call,
  calling,
  goal,
  moveFifty,
  lookUp,
  saying,
  taskOf,
  transfer,
} from "../trajectory/sampleTasks.ts";

const createAttempt = createAttemptFactory(allServers);
const done = saying("Done.");

async function play(task: Task, messages: readonly AssistantMessage[], profile = provePlusProfile) {
  const policy = createScriptedPolicy("test", messages);
  const { trajectory, finalState } = await rollout(task, policy, allServers);
  const attempt = createAttempt(task, trajectory, finalState);
  const breakdown = scoreAttempt(attempt, profile);
  if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
  return { breakdown, achieved: getSuccess(attempt).achieved };
}

const total = async (...args: Parameters<typeof play>) =>
  Number((await play(...args)).breakdown.total.toFixed(4));

const withMessages = (task: Task, assistantMessages: number): Task => ({
  ...task,
  budget: { ...task.budget, assistantMessages },
});

describe("a call that is refused like the teacher's", () => {
  const tooMuch = transfer("acc_108", 1e6);
  const task = taskOf({
    id: "t-refused",
    users: ["What is in acc_101? And send a million to acc_108."],
    goals: [goal([balance])],
    teacher: [calling(balance), calling(tooMuch), saying("That is more than there is.")],
  });

  const no = saying("I cannot send it: that is more than there is.");

  test("is right to try: it earns what leaving it out earns", async () => {
    expect(await total(await task, [calling(balance), calling(tooMuch), no])).toBe(2.5);
    expect(await total(await task, [calling(balance), no])).toBe(2.5);
  });
  test("is right once, and not with other arguments", async () => {
    // one call serves, and one that was refused lacks 1/3 and has a name that no goal has
    const expected = Number((2.5 - 0.5 / 4 - 0.2 / 2).toFixed(4));
    expect(await total(await task, [calling(balance), calling(tooMuch, tooMuch), no])).toBe(
      expected,
    );
    expect(await total(await task, [calling(balance), calling(transfer("acc_108", 2e6)), no])).toBe(
      expected,
    );
  });
  test("is two thirds valid in the paper", async () =>
    expect(await total(await task, [calling(balance), calling(tooMuch), no], paperProfile)).toBe(
      // .5 · (1 + 2/3)/2 + .5 + .2/2 + .1
      Number((0.5 * (5 / 6) + 0.5 + 0.1 + 0.1).toFixed(4)),
    ));
});

describe("calls beside the goals", () => {
  const right = [calling(lookUp), calling(transfer("acc_108", 50))];
  const refused = calling(transfer("acc_108", 1e7));

  test("do not make up for a failed one", async () => {
    const task = withMessages(await moveFifty(), 12);
    const failed = await total(task, [refused, ...right, done]);
    // two calls serve, and the failed one lacks 1/3
    expect(failed).toBe(Number((1.8 + 0.5 * (2 / (7 / 3))).toFixed(4)));
    expect(await total(task, [refused, calling(lookUp), ...right, done])).toBeLessThanOrEqual(
      failed,
    );
  });
  test("earn nothing alone", async () => {
    const task = withMessages(await moveFifty(), 12);
    expect(await total(task, [calling(call("list_cards")), done])).toBe(0);
  });
  test("an undone write is two calls over the budget", async () => {
    const card = { card_id: "card_211" };
    const task = await taskOf({
      id: "t-block",
      users: ["Block card_211."],
      goals: [goal([call("freeze_card", card)])],
      teacher: [calling(call("freeze_card", card)), done],
    });
    const unfreeze = call("unfreeze_card", { ...card, last_digits: "4417" });
    const there = calling(call("freeze_card", card));
    const { breakdown, achieved } = await play(withMessages(task, 12), [
      there,
      calling(unfreeze),
      there,
      done,
    ]);
    // the budget is two calls
    expect(breakdown.parts.efficiency.score).toBeCloseTo((-0.5 * 2) / 2, 9);
    expect(achieved).toBe(true);
  });
});

test("a repeated look-up does not stand for one that was left out", async () => {
  const [toSavings, toHoliday] = [transfer("acc_108", 50), transfer("acc_115", 20)];
  const feed = (name: string, id: string) => ({
    calls: [{ name: lookUp.name, arguments: { name }, for: "feeds" as const, values: [id] }],
    after: [],
    turn: 0,
  });
  const task = await taskOf({
    id: "t-feeds",
    users: ["Move 50 to Savings and 20 to the holiday fund."],
    goals: [
      feed("Savings", "acc_108"),
      goal([toSavings], [{ goal: 0, kind: "explicit", via: "account_id" }]),
      feed("Holiday", "acc_115"),
      goal([toHoliday], [{ goal: 2, kind: "explicit", via: "account_id" }]),
    ],
    teacher: [done],
  });
  const roomy = withMessages(task, 12);
  const savings = calling(call("list_accounts", { name: "Savings" }));
  const once = await play(roomy, [savings, calling(toSavings), calling(toHoliday), done]);
  const twice = await play(roomy, [savings, savings, calling(toSavings), calling(toHoliday), done]);
  expect(once.breakdown.parts.coverage.score).toBe(0.5);
  expect(twice.breakdown.parts.coverage.score).toBe(0.5);
  expect(twice.breakdown.total).toBeLessThanOrEqual(once.breakdown.total);
});

describe("without goals", () => {
  test.each([
    ["no call", [], 1, 1],
    ["one look-up", [balance], 0.95, 0],
    ["a refused write", [transfer("acc_108", 1e7)], 0.95, 0],
    ["six look-ups", Array(6).fill(balance), 0.8, 0],
    ["a write", [transfer("acc_108", 5)], 0, 0],
  ] as const)("%s", async (_, calls, expected, paper) => {
    const messages = calls.length === 0 ? [done] : [calling(...calls), done];
    expect(await total(await abstain(), messages)).toBe(expected);
    expect(await total(await abstain(), messages, paperProfile)).toBe(paper);
    const earlier = { ...(await abstain()), format: "prove/task@3" as const };
    expect(await total(earlier, messages)).toBe(paper);
  });
});

test("one call that does what two goals ask serves both", async () => {
  const event = { calendar_id: "cal_101", title: "Dentist", start: "2026-03-12T15:00" };
  const create = { name: "calendar_create_event", arguments: event };
  const whole = { ...create, arguments: { ...event, location: "Alder Street" } };
  const task = await moveFifty();
  const update = {
    name: "calendar_update_event",
    arguments: { event_id: await playCreation(task), location: "Alder Street" },
  };
  const merged: Task = {
    ...onCalendar(task),
    goals: [goal([create]), goal([update], [{ goal: 0, kind: "explicit", via: "event_id" }])],
    turns: [{ user: "Put the dentist into my calendar.", goals: [0, 1], reply: "Done." }],
  };
  const twice = await play(merged, [calling(create), calling(update), done]);
  const once = await play(merged, [calling(whole), done]);
  expect([twice.achieved, once.achieved]).toEqual([true, true]);
  expect(twice.breakdown.total).toBeCloseTo(2.3, 9);
  expect(once.breakdown.total).toBeCloseTo(2.3, 9);
  // without the place, only the first goal is met
  expect((await play(merged, [calling(create), done])).breakdown.parts.coverage.score).toBe(0.5);

  async function playCreation(of: Task): Promise<string> {
    const { trajectory } = await rollout(
      { ...onCalendar(of), goals: [], turns: [{ user: "Hi.", goals: [], reply: "" }] },
      createScriptedPolicy("test", [calling(create), done]),
      allServers,
    );
    const made = trajectory.events.find(it => it.kind === "call")!;
    if (made.outcome.kind !== "ok") throw new Error(made.outcome.message);
    return /evt_\d+/.exec(JSON.stringify(made.outcome.value))![0];
  }
});

const onCalendar = (task: Task): Task => ({
  ...task,
  servers: [
    {
      name: "calendar",
      fixture: "full",
      digest: computeDigest(allServers.getFixture("calendar", "full")),
    },
  ],
  catalog: allServers.hashTools(["calendar"]),
  menu: [...allServers.getServer("calendar").tools.keys()].map(name => ({ name })),
});

/** The teacher's messages at the start of each, with whether its calls are look-ups that worked. */
function listMessages({ trajectory }: Task) {
  const messages: (AssistantMessage & { isLookUp: boolean })[] = [];
  for (const it of trajectory.events) {
    if (it.kind === "assistant") messages.push({ text: it.text, calls: [], isLookUp: false });
    if (it.kind !== "call") continue;
    const { text, calls } = messages.pop()!;
    messages.push({
      text,
      calls: [...calls, { name: it.name, arguments: it.arguments }],
      isLookUp: it.outcome.kind === "ok" && allServers.tools.get(it.name)?.effect === "read",
    });
  }
  return messages;
}

test("neither a repeated look-up nor a call that fails ever raises the reward", async () => {
  const { tasks } = await readSharedTasks("paper");
  const withGoals = tasks.filter(it => it.goals.length > 0).slice(0, 60);
  const unknown: AssistantMessage = { text: "", calls: [{ name: "no_such_tool", arguments: {} }] };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...withGoals),
      fc.nat(),
      fc.boolean(),
      fc.boolean(),
      async (task, pick, isSpoiled, repeats) => {
        const own = listMessages(task);
        const lookUps = own.flatMap((it, i) => (it.isLookUp ? [i] : []));
        fc.pre(lookUps.length > 0);
        const at = lookUps[pick % lookUps.length]!;
        const { calls } = own[at]!;
        const spoil = isSpoiled ? [unknown] : [];
        const roomy = withMessages(task, task.budget.assistantMessages + 8);
        const plain = await play(roomy, [...spoil, ...own]);
        const more = await play(roomy, [
          ...spoil,
          ...own.slice(0, at + 1),
          repeats ? { text: "", calls: [calls.at(-1)!] } : unknown,
          ...own.slice(at + 1),
        ]);
        expect(getTotal(more), task.id).toBeLessThanOrEqual(getTotal(plain) + 1e-9);
      },
    ),
    { numRuns: 60 },
  );
});

const getTotal = ({ breakdown }: { readonly breakdown: Breakdown }) => breakdown.total;
