/** When writes are due, and writes that change something else than the goals do. */
import { describe, expect, test } from "vitest";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { getSuccess, isAchieved } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import type { Goal, Task } from "../../src/trajectory/task.ts";
import {
  balance,
  call,
  calling,
  catalog,
  goal,
  saying,
  taskOf,
  transfer,
} from "../trajectory/sampleTasks.ts";

const createAttempt = createAttemptFactory(catalog);
const done = saying("Done.");
const earlierFormat = (task: Task): Task => ({ ...task, format: "prove/task@3" });

/** Why an attempt at a task fails; nothing if it succeeds. */
async function explain(task: Task, messages: readonly AssistantMessage[]) {
  const roomy = { ...task, budget: { ...task.budget, assistantMessages: 20 } };
  const { trajectory } = await rollout(roomy, createScriptedPolicy("test", messages), catalog);
  const attempt = createAttempt(roomy, trajectory);
  const { achieved, reasons } = getSuccess(attempt);
  expect(isAchieved(createAttempt(roomy, trajectory))).toBe(achieved);
  return reasons;
}

const addPayee = (name: string) => call("add_payee", { name, iban: "PT50000201231234567890154" });
const [move, moveMore] = [transfer("acc_108", 50), transfer("acc_115", 20)];

const create = (
  users: readonly string[],
  goals: readonly Goal[],
  unmet?: Task["turns"][0]["unmet"],
) =>
  taskOf({ id: "t-due", users, goals, teacher: [done] }).then(task => ({
    ...task,
    turns: task.turns.map((it, t) => (t === 0 && unmet ? { ...it, unmet } : it)),
  }));

describe("a write is due by the end of the turn that asks for it", () => {
  const task = create(
    ["Move 50 to Savings.", "And 20 to the holiday fund.", "Add the payee Corner Bakery."],
    [goal([move]), goal([moveMore], [], 1), goal([addPayee("Corner Bakery")], [], 2)],
  );
  const payee = calling(addPayee("Corner Bakery"));
  const late = (what: string, turn: number) =>
    `what banking_transfer(from_account: "acc_101", ${what}) does was not done by the end of turn ${turn}`;

  test("in its turn", async () =>
    expect(
      await explain(await task, [calling(move), done, calling(moveMore), done, payee, done]),
    ).toEqual([]));
  test("earlier is fine", async () => {
    expect(await explain(await task, [calling(move, moveMore), done, done, payee, done])).toEqual(
      [],
    );
    expect(
      await explain(await task, [payee, calling(move), done, calling(moveMore), done, done]),
    ).toEqual([]);
  });
  test("in the last turn it is too late", async () =>
    expect(await explain(await task, [done, done, calling(move, moveMore), payee, done])).toEqual([
      late('to_account: "acc_108", amount: 50', 1),
      late('to_account: "acc_115", amount: 20', 2),
    ]));
  test("another write of the turn does not stand for it", async () =>
    expect(
      await explain(await task, [calling(moveMore), done, calling(move), done, payee, done]),
    ).toEqual([expect.stringContaining(late('to_account: "acc_108", amount: 50', 1))]));
  test("not in earlier formats", async () =>
    expect(
      await explain(earlierFormat(await task), [done, done, calling(move, moveMore), payee, done]),
    ).toEqual([]));
});

test("what a turn asks for is due after the user has answered its question", async () => {
  const task = await create(
    [
      "Move 50 to Savings, and something to the holiday fund.",
      "20.",
      "Add the payee Corner Bakery.",
    ],
    [goal([move]), goal([moveMore], [], 1), goal([addPayee("Corner Bakery")], [], 2)],
    [{ name: moveMore.name, arguments: {}, asks: "amount" }],
  );
  const payee = calling(addPayee("Corner Bakery"));
  const ask = saying("I need the amount.");
  expect(await explain(task, [ask, calling(move, moveMore), done, payee, done])).toEqual([]);
  expect(await explain(task, [ask, done, calling(move, moveMore), payee, done])).toHaveLength(2);
});

describe("the call itself, where the final state does not show it", () => {
  const card = { card_id: "card_211" };
  const freeze = call("freeze_card", card);
  const unfreeze = call("unfreeze_card", { ...card, last_digits: "4417" });
  const task = create(
    ["Block card_211.", "I found it, unblock card_211, ending in 4417."],
    [goal([freeze]), goal([unfreeze], [{ goal: 0, kind: "implicit" }], 1)],
  );
  test("in time", async () =>
    expect(await explain(await task, [calling(freeze), done, calling(unfreeze), done])).toEqual(
      [],
    ));
  test("too late", async () =>
    expect(await explain(await task, [done, calling(freeze), calling(unfreeze), done])).toContain(
      'banking_freeze_card(card_id: "card_211") was called too late',
    ));
});

describe("a write to something that no goal changes fails, undone or not", () => {
  const card = { card_id: "card_211" };
  const [freeze, unfreeze] = [
    call("freeze_card", card),
    call("unfreeze_card", { ...card, last_digits: "4417" }),
  ];
  const task = create(["Move 50 to Savings."], [goal([move])]);

  test("a card is blocked and unblocked beside a transfer", async () =>
    expect(
      await explain(await task, [calling(freeze), calling(unfreeze), calling(move), done]),
    ).toEqual([
      'call 1, banking_freeze_card(card_id: "card_211"), changed what no goal changes',
      'call 2, banking_unfreeze_card(card_id: "card_211", last_digits: "4417"), changed what no goal changes',
    ]));
  test("not in earlier formats", async () =>
    expect(
      await explain(earlierFormat(await task), [
        calling(freeze),
        calling(unfreeze),
        calling(move),
        done,
      ]),
    ).toEqual([]));
  test("reads and refused calls change nothing", async () =>
    expect(
      await explain(await task, [calling(balance, transfer("acc_108", 1e7)), calling(move), done]),
    ).toEqual([]));
});
