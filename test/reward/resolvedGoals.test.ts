/**
 * Goals that say what their look-ups are for: any calls that show the same are as good as the
 * teacher's, in the reward and for success.
 */
import type { Call } from "../../src/environment/outcome.ts";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/environment/json.ts";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import {
  paperLiteralProfile,
  paperProfile,
  provePlusProfile,
  type Profile,
} from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import type { Fact, Goal, GoalCall, Task } from "../../src/trajectory/task.ts";
import {
  call,
  calling,
  catalog,
  lookUp,
  saying,
  taskOf,
  transfer,
} from "../trajectory/sampleTasks.ts";

const createAttempt = createAttemptFactory(catalog);
const attemptTask = async (task: Task, messages: readonly AssistantMessage[]) => {
  const { trajectory, finalState } = await rollout(
    task,
    createScriptedPolicy("test", messages),
    catalog,
  );
  return createAttempt(task, trajectory, finalState);
};

const done = saying("Done.");
const listAll = call("list_accounts");
const balanceOf = (id: string) => call("get_balance", { account_id: id });

const toGoalCall = (it: Call, more: Partial<GoalCall> = {}): GoalCall => ({
  name: it.name,
  arguments: it.arguments as JsonObject,
  ...more,
});
const feeds = (it: Call, ...values: string[]) => toGoalCall(it, { for: "feeds", values });
const answers = (it: Call, facts: Fact[], more: Partial<GoalCall> = {}) =>
  toGoalCall(it, { for: "answers", facts, ...more });
const after = (goal: number): Goal["after"] => [{ goal, kind: "explicit", via: "account_id" }];

/** "Move 50 to my savings, and what is in there then?" */
const moveAndAsk = () =>
  taskOf({
    id: "t-move-ask",
    users: ["Move 50 euros from acc_101 to my savings.", "What is in the savings now?"],
    goals: [
      { calls: [feeds(lookUp, "acc_108")], after: [], turn: 0 },
      { calls: [toGoalCall(transfer("acc_108", 50))], after: after(0), turn: 0 },
      {
        calls: [
          answers(balanceOf("acc_108"), [{ entity: "acc_108", field: "balance", value: 3550 }]),
        ],
        after: after(0),
        turn: 1,
      },
    ],
    teacher: [
      calling(lookUp),
      calling(transfer("acc_108", 50)),
      saying("Moved."),
      calling(balanceOf("acc_108")),
      saying("3550."),
    ],
  });

interface Expected {
  /** "yes", or why not. */
  readonly success: string;
  readonly paper: number;
  /** The five parts under `prove-plus`, if they are not those of `paper`. */
  readonly plus?: number;
  readonly literal?: number;
}

async function check(
  task: Promise<Task>,
  messages: readonly AssistantMessage[],
  { success, paper, plus = paper, literal }: Expected,
) {
  const attempt = await attemptTask(await task, messages);
  const score = (profile: Profile) => {
    const breakdown = scoreAttempt(attempt, profile);
    if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
    return breakdown.total;
  };
  const { achieved, reasons } = getSuccess(attempt);
  expect(achieved ? "yes" : reasons.join("; ")).toBe(success);
  expect(score(paperProfile)).toBeCloseTo(paper, 4);
  expect(score(provePlusProfile)).toBeCloseTo(plus + Number(achieved), 4);
  if (literal !== undefined) expect(score(paperLiteralProfile)).toBeCloseTo(literal, 4);
}

describe("a look-up that feeds later calls", () => {
  test("the teacher's calls earn everything", () =>
    check(
      moveAndAsk(),
      [
        calling(lookUp),
        calling(transfer("acc_108", 50)),
        done,
        calling(balanceOf("acc_108")),
        done,
      ],
      { success: "yes", paper: 1.3, literal: 1.3 },
    ));
  test("the whole list is as good as one row", () =>
    check(
      moveAndAsk(),
      [
        calling(listAll),
        calling(transfer("acc_108", 50)),
        done,
        calling(balanceOf("acc_108")),
        done,
      ],
      // literally, nothing follows the look-up: 0.5 + 0 + 0 + 0.2 + 0.1
      { success: "yes", paper: 1.3, literal: 0.8 },
    ));
  test("a value that nothing showed was guessed", () =>
    check(
      moveAndAsk(),
      [calling(transfer("acc_108", 50)), done, calling(balanceOf("acc_108")), done],
      { success: "yes", paper: 0.8 },
    ));
  test("a value is not said by a longer one that contains it", async () => {
    const task = await moveAndAsk();
    const [first, second] = task.turns;
    const user = `${first!.user} Not to acc_1080.`;
    const longer = { ...task, turns: [{ ...first!, user }, second!] };
    const guessed = [
      calling(transfer("acc_108", 50)),
      done,
      calling(balanceOf("acc_108")),
      saying("3550."),
    ];
    const attempt = await attemptTask(longer, guessed);
    const breakdown = scoreAttempt(attempt, paperProfile);
    expect(isScored(breakdown) && breakdown.goals[0]!.matched).toBe(false);
  });

  test("a look-up after the call that takes its value is too late", () =>
    check(
      moveAndAsk(),
      [calling(transfer("acc_108", 50), lookUp), done, calling(balanceOf("acc_108")), done],
      // the look-up counts, what had to follow it does not
      { success: "yes", paper: 1.3 - 0.5 / 3 - 0 },
    ));
});

/** One question in the first turn, another request in the second. */
const ask = (goalCall: GoalCall) =>
  taskOf({
    id: "t-ask",
    users: ["I have a question.", "And list my planned transfers."],
    goals: [
      { calls: [goalCall], after: [], turn: 0 },
      {
        calls: [answers(planned, [{ entity: "sch_601" }, { entity: "sch_604" }])],
        after: [],
        turn: 1,
      },
    ],
    teacher: [
      calling({ name: goalCall.name, arguments: goalCall.arguments }),
      saying("There you are."),
      calling(planned),
      saying("Two."),
    ],
  });

const planned = call("list_scheduled_transfers");
const plan = (amount: number) =>
  call("schedule_transfer", {
    from_account: "acc_101",
    to_account: "acc_108",
    amount,
    date: "2026-03-20",
  });
const addPayee = (name: string) => call("add_payee", { name, iban: "DE44500105175407" });
const payee = (name: string) => call("list_payees", { name });
const accounts = (name: string) => call("list_accounts", { name });
const openBill = answers(payee("Clearwater"), [{ entity: "pay_305", field: "due", value: 41.8 }]);

/** What calls in the first and the second turn achieve. */
const checkCalls = (
  goalCall: GoalCall,
  [first, second]: readonly (readonly Call[])[],
  expected: Expected,
) =>
  check(
    ask(goalCall),
    [...first!.map(it => calling(it)), done, ...second!.map(it => calling(it)), done],
    expected,
  );

describe("a look-up that answers", () => {
  test("the teacher's calls", () =>
    checkCalls(openBill, [[payee("Clearwater")], [planned]], {
      success: "yes",
      paper: 1.3,
      literal: 1.3,
    }));
  test("the whole list shows the same row", () =>
    checkCalls(openBill, [[call("list_payees")], [planned]], {
      success: "yes",
      paper: 1.3,
      literal: 0.5 + 0.25 + 0.2 + 0.1,
    }));
  test("without the call, the fact is missing", () =>
    checkCalls(openBill, [[], [planned]], {
      success:
        "the due of payee pay_305 (Clearwater) was not looked up (banking_list_payees shows it)",
      paper: 1.05,
    }));
  test("a turn too late", () =>
    checkCalls(openBill, [[], [payee("Clearwater"), planned]], {
      success: "the due of payee pay_305 (Clearwater) was looked up too late",
      paper: 1.3,
      // one of two goals is not covered
      plus: 1.3 - 0.5 / 2,
    }));
  test("earlier than asked for", () =>
    checkCalls(openBill, [[payee("Clearwater"), planned], []], { success: "yes", paper: 1.3 }));
  test("the same value of another entity", () =>
    checkCalls(
      answers(accounts("Savings"), [{ entity: "acc_108", field: "kind", value: "savings" }]),
      [[accounts("Holiday")], [planned]],
      {
        success:
          "the kind of account acc_108 (Savings) was not looked up (banking_list_accounts shows it)",
        paper: 1.25,
      },
    ));
  test("the rows of a list, by two calls", () =>
    checkCalls(
      answers(call("list_accounts", { kind: "savings" }), [
        { entity: "acc_108" },
        { entity: "acc_115" },
      ]),
      [[accounts("Savings"), accounts("Holiday")], [planned]],
      { success: "yes", paper: 1.3 },
    ));
  test("one row of two", () =>
    checkCalls(
      answers(call("list_accounts", { kind: "savings" }), [
        { entity: "acc_108" },
        { entity: "acc_115" },
      ]),
      [[accounts("Savings")], [planned]],
      {
        success:
          "account acc_115 (Holiday fund) was not looked up (banking_list_accounts shows it)",
        paper: 1.05,
      },
    ));
  describe("a row of something else", () => {
    const ofSavings = call("list_scheduled_transfers", { from_account: "acc_101" });
    const goalCall = answers(ofSavings, [{ entity: "sch_601", of: ["acc_101"] }]);
    test("in a result about it", () =>
      checkCalls(goalCall, [[ofSavings], [planned]], { success: "yes", paper: 1.3 }));
    test("in a result that does not say of what it is", () =>
      checkCalls(goalCall, [[planned], [planned]], {
        success:
          "scheduled transfer sch_601 (Everyday, Savings) of account acc_101 (Everyday) was not looked up (banking_list_scheduled_transfers shows it)",
        paper: 1.05,
      }));
  });
  test("one call may answer two questions", async () => {
    const task = taskOf({
      id: "t-two",
      users: ["What do I owe Clearwater?", "And Brightline Energy?"],
      goals: [
        { calls: [openBill], after: [], turn: 0 },
        {
          calls: [
            answers(payee("Brightline Energy"), [
              { entity: "pay_309", field: "due", value: 96.35 },
            ]),
          ],
          after: [{ goal: 0, kind: "implicit" }],
          turn: 1,
        },
      ],
      teacher: [
        calling(payee("Clearwater")),
        saying("41.80."),
        calling(payee("Brightline Energy")),
        saying("96.35."),
      ],
    });
    await check(task, [calling(call("list_payees")), done, done], {
      success: "yes",
      paper: 1.3,
      literal: 0.5 + 0 + 0.2,
    });
    const attempt = await attemptTask(await task, [calling(call("list_payees")), done, done]);
    const breakdown = scoreAttempt(attempt, paperProfile);
    if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
    expect(breakdown.goals).toMatchObject([
      { goal: 0, matched: true, calls: [0], notes: ["answered by call 1"] },
      {
        goal: 1,
        matched: true,
        needed: false,
        calls: [],
        notes: ["answered by call 1, which serves other goals"],
      },
    ]);
    expect(breakdown.budget).toBe(2);
  });
});

describe("an answer that belongs to no entity", () => {
  const fromHoliday = call("list_scheduled_transfers", { from_account: "acc_115" });
  const none = { field: "count", value: 0 };
  const noneFromHoliday = answers(fromHoliday, [none]);
  const reason =
    'the number of results of banking_list_scheduled_transfers(from_account: "acc_115") was not looked up';
  test("an empty list, by the teacher's call", () =>
    checkCalls(noneFromHoliday, [[fromHoliday], [planned]], { success: "yes", paper: 1.3 }));
  test("an empty list of something else", () =>
    checkCalls(noneFromHoliday, [[payee("Nobody")], [planned]], {
      success: reason,
      paper: 0.5 + 0.25 + 0.1 + 0.1,
    }));
  test("an alternative that shows that there are none", () =>
    checkCalls(
      answers(fromHoliday, [none], {
        alternatives: [{ name: planned.name, arguments: {} }],
      }),
      [[planned, planned], []],
      { success: "yes", paper: 1.3 },
    ));
  const countSavings = answers(call("list_accounts", { kind: "savings" }), [
    { field: "count", value: 2 },
  ]);
  test("a count", () =>
    checkCalls(countSavings, [[call("list_accounts", { kind: "savings" })], [planned]], {
      success: "yes",
      paper: 1.3,
    }));
  test("another count", () =>
    checkCalls(countSavings, [[call("list_accounts", { kind: "checking" })], [planned]], {
      success: 'the number of results of banking_list_accounts(kind: "savings") was not looked up',
      paper: 1.25,
    }));
});

describe("a fact that a write changes", () => {
  test("is stale before it", () =>
    check(
      moveAndAsk(),
      [
        calling(lookUp),
        calling(balanceOf("acc_108")),
        calling(transfer("acc_108", 50)),
        done,
        done,
      ],
      {
        success: "the balance of account acc_108 (Savings) was looked up as 3500, should be 3550",
        paper: 1.3,
      },
    ));
  test("is not needed again after it if it did not change", async () => {
    const task = await moveAndAsk();
    const [first, second, third] = task.goals;
    const status = call("get_account", { account_id: "acc_108" });
    const calls = [answers(status, [{ entity: "acc_108", field: "status", value: "open" }])];
    await check(
      Promise.resolve({ ...task, goals: [first!, second!, { ...third!, calls }] }),
      [calling(lookUp), calling(status), calling(transfer("acc_108", 50)), done, done],
      { success: "yes", paper: 1.3 },
    );
  });
});

test("ids that the sessions generated differently stand for the same entities", async () => {
  const blank = await taskOf({
    id: "t-plan",
    users: ["Plan transfers of 30 and of 40 to Savings.", "List what is planned."],
    goals: [
      { calls: [toGoalCall(plan(30))], after: [], turn: 0 },
      { calls: [toGoalCall(plan(40))], after: [], turn: 0 },
    ],
    teacher: [calling(plan(30)), calling(plan(40)), done, calling(planned), done],
  });
  const ids = blank.trajectory.events.flatMap(it =>
    it.kind === "call" && it.outcome.kind === "ok" && "scheduled_id" in (it.outcome.value as object)
      ? [(it.outcome.value as { scheduled_id: string }).scheduled_id]
      : [],
  );
  expect(ids).toHaveLength(2);
  const facts = ids.map((entity, i) => ({ entity, field: "amount", value: [30, 40][i]! }));
  const task: Task = {
    ...blank,
    goals: [...blank.goals, { calls: [answers(planned, facts)], after: [], turn: 1 }],
  };
  await check(
    Promise.resolve(task),
    [calling(plan(40)), calling(plan(30)), done, calling(planned), done],
    { success: "yes", paper: 1.3 },
  );
});

describe("why an attempt failed", () => {
  test.each([
    [
      [addPayee("Corner Shop"), plan(30)],
      /^payee pay_\d+ \(Corner Shop\): name is "Corner Shop", should be "Corner Bakery" \(changed by call 1\)$/,
    ],
    [
      [plan(31), addPayee("Corner Bakery")],
      /^scheduled transfer sch_\d+ \(Everyday, Savings\): amount is 31, should be 30 \(changed by call 1\)$/,
    ],
    [
      [addPayee("Corner Bakery")],
      /^a scheduled transfer is missing: from account acc_101 \(Everyday\), .*amount 30/,
    ],
    [
      [addPayee("Corner Bakery"), plan(30), transfer("acc_108", 5)],
      /^account acc_\d+ \(\w+\): balance is [\d.]+, should be [\d.]+ \(changed by call 3\)$/,
    ],
    [
      [plan(30), plan(30), addPayee("Corner Bakery")],
      /^scheduled transfer sch_\d+ \(Everyday, Savings\) should not be there \(added by call 2\)$/,
    ],
  ])("is said by the first difference that matters: %j", async (calls, reason) => {
    const goals = [plan(30), addPayee("Corner Bakery")];
    const task = await taskOf({
      id: "t-order",
      users: ["Plan 30 from acc_101 to Savings, and add the payee Corner Bakery."],
      goals: goals.map(it => ({ calls: [toGoalCall(it)], after: [], turn: 0 })),
      teacher: [...goals.map(it => calling(it)), done],
    });
    const { reasons } = getSuccess(
      await attemptTask(task, [...calls.map(it => calling(it)), done]),
    );
    expect(reasons).toEqual([expect.stringMatching(reason)]);
  });
});

describe("free text of a write", () => {
  const addDictated = (more: Partial<GoalCall>) =>
    taskOf({
      id: "t-payee",
      users: ["Add a payee, the Corner Bakery."],
      goals: [{ calls: [toGoalCall(addPayee("The Corner Bakery"), more)], after: [], turn: 0 }],
      teacher: [calling(addPayee("The Corner Bakery")), done],
    });
  const wrongName = /is "?.*should be|is missing|should not be there/;
  const checkName = async (more: Partial<GoalCall>, name: string, isRight: boolean) => {
    const attempt = await attemptTask(await addDictated(more), [calling(addPayee(name)), done]);
    const { achieved, reasons } = getSuccess(attempt);
    expect(achieved).toBe(isRight);
    if (!isRight) expect(reasons.join("; ")).toMatch(wrongName);
    const breakdown = scoreAttempt(attempt, paperProfile);
    if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
    expect(breakdown.total).toBeCloseTo(isRight ? 1.3 : 1.25, 4);
  };
  test.each([
    [{}, "The Corner Bakery", true],
    [{}, "corner bakery", false],
    [{ loose: ["name"] }, "corner bakery", true],
    [{ loose: ["name"] }, "Corner-Bakery!", true],
    [{ loose: ["name"] }, "Corner Bakeries", false],
    [{ words: { name: ["bakery"] } }, "Bakery at the corner", true],
    [{ words: { name: ["bakery"] } }, "The corner", false],
    [{ mask: ["name"] }, "Any name", true],
  ])("compared by %j, %s", async (more, name, isRight) => {
    await checkName(more, name, isRight);
  });
  test.each([
    ["Product film", true],
    ["the product film", true],
    ["Product films", false],
  ])("within a list, such as the lines of an invoice: %s", async (text, isRight) => {
    const bill = (of: string): Call => ({
      name: "payments_create_invoice",
      arguments: { customer_id: "cus_101", lines: [{ text: of, quantity: 2, unit_price: 900 }] },
    });
    const task = await taskOf({
      id: "t-bill",
      server: "payments",
      users: ["Bill cus_101 for a product film, twice at 900 each."],
      goals: [
        {
          calls: [toGoalCall(bill("product film"), { loose: ["lines/0/text"] })],
          after: [],
          turn: 0,
        },
      ],
      teacher: [calling(bill("product film")), done],
    });
    const attempt = await attemptTask(task, [calling(bill(text)), done]);
    expect(getSuccess(attempt).achieved).toBe(isRight);
    const breakdown = scoreAttempt(attempt, paperProfile);
    if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
    expect(breakdown.total > 1.29).toBe(isRight);
  });
});
