/** Scores of attempts on a real server: success, profiles, and attempts that cannot be scored. */
import { describe, expect, test } from "vitest";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import {
  idlePolicy,
  createScriptedPolicy,
  createTeacherPolicy,
} from "../../src/policy/scripted.ts";
import { paperProfile, provePlusProfile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { isReadOnly, getSuccess } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { asFinished, type CallEvent } from "../../src/trajectory/trajectory.ts";
import {
  abstain,
  balance,
  call,
  calling,
  catalog,
  goal,
  lookUp,
  moveFifty,
  moveTwice,
  readOnly,
  saying,
  taskOf,
  transfer,
} from "../trajectory/sampleTasks.ts";

const attemptOf = createAttemptFactory(catalog);
const attempt = async (task: Task, messages: readonly AssistantMessage[]) =>
  attemptOf(
    task,
    (await rollout(task, createScriptedPolicy("test", messages), catalog)).trajectory,
  );

/** What a list of messages achieves at a task: "yes", or why not. */
async function check(task: Promise<Task>, messages: readonly AssistantMessage[], expected: string) {
  const { achieved, reasons } = getSuccess(await attempt(await task, messages));
  expect(achieved ? "yes" : reasons.join("; ")).toBe(expected);
}

const done = saying("Done.");

describe("success", () => {
  test("the teacher's calls", () =>
    check(moveFifty(), [calling(lookUp), calling(transfer("acc_108", 50)), done], "yes"));
  test("requires look-ups too", () =>
    check(
      moveFifty(),
      [calling(transfer("acc_108", 50)), done],
      'banking_list_accounts(name: "Savings") was not called',
    ));
  test("a wrong account", () =>
    check(
      moveFifty(),
      [calling(lookUp), calling(transfer("acc_115", 50)), done],
      "account acc_108 (Savings): balance is 3500, should be 3550 (no call changed it)",
    ));
  test("refused calls and additional look-ups are allowed", () =>
    check(
      moveFifty(),
      [
        calling(balance, lookUp, transfer("acc_999", 50)),
        calling(transfer("acc_108", 50), balance),
        done,
      ],
      "yes",
    ));
  test("an additional transfer is not", () =>
    check(
      moveFifty(),
      [calling(lookUp, transfer("acc_108", 50), transfer("acc_108", 50)), done],
      "account acc_101 (Everyday): balance is 3048.95, should be 3098.95 (changed by call 3)",
    ));
  test("independent goals may run in any order, although ids and times then differ", () =>
    check(
      moveTwice(),
      [calling(transfer("acc_115", 20), transfer("acc_108", 50)), done, calling(balance), done],
      "yes",
    ));
  test("a read counts only after the goals it follows", () =>
    check(
      moveTwice(),
      [calling(balance, transfer("acc_115", 20), transfer("acc_108", 50)), done, done],
      'banking_get_balance(account_id: "acc_101") was not called after what has to come before it',
    ));
  test("the same amounts in the other order are not a success", () =>
    check(
      moveTwice(),
      [calling(transfer("acc_115", 50), transfer("acc_108", 20)), done, calling(balance), done],
      "account acc_108 (Savings): balance is 3520, should be 3550 (changed by call 2)",
    ));
  test("a read with other arguments does not count", () =>
    check(
      readOnly(),
      [calling(call("get_balance", { account_id: "acc_108" })), done],
      'banking_get_balance(account_id: "acc_101") was not called',
    ));
  test("a task without goals accepts look-ups and refused writes, but no write", async () => {
    await check(abstain(), [calling(balance, transfer("acc_108", 1e6)), done], "yes");
    await check(
      abstain(),
      [calling(transfer("acc_108", 5)), done],
      "1 writes where none was wanted",
    );
  });
  test("a task without goals of an earlier format requires no call", () =>
    check(
      abstain().then(it => ({ ...it, format: "prove/task@3" as const })),
      [calling(balance), done],
      "1 calls where none was wanted",
    ));
  test("a task without goals succeeds with an answer", () =>
    check(abstain(), [saying("I cannot.")], "yes"));
});

const undoing = () => {
  const freeze = call("freeze_card", { card_id: "card_211" });
  const unfreeze = call("unfreeze_card", { card_id: "card_211", last_digits: "4417" });
  const goals = [goal([freeze]), goal([unfreeze], [{ goal: 0, kind: "implicit" }])];
  return taskOf({
    id: "t-undo",
    users: ["Freeze card_211, then make it usable again. It ends in 4417."],
    goals,
    teacher: [calling(freeze), calling(unfreeze), done],
  });
};

describe("goals that cancel each other out", () => {
  test("are achieved by both calls", async () =>
    check(
      undoing(),
      [
        calling(call("freeze_card", { card_id: "card_211" })),
        calling(call("unfreeze_card", { card_id: "card_211", last_digits: "4417" })),
        done,
      ],
      "yes",
    ));
  test("are not achieved without calls", () =>
    check(
      undoing(),
      [done],
      'banking_freeze_card(card_id: "card_211") was not called; banking_unfreeze_card(card_id: "card_211", last_digits: "4417") was not called',
    ));
});

const planned = { from_account: "acc_101", to_account: "acc_108", amount: 40, date: "2026-04-01" };
/** An id is made by one call and used by the next: teacher and attempt hold different ones. */
const planAndCancel = async (between: readonly AssistantMessage[]) => {
  const plan = call("schedule_transfer", planned);
  const other = call("schedule_transfer", { ...planned, amount: 60 });
  const learn = await attempt(
    await taskOf({ id: "x", users: ["x"], goals: [goal([plan])], teacher: [calling(plan), done] }),
    [...between, calling(plan, other), done],
  );
  const ids = learn.trajectory.events.flatMap(it =>
    it.kind === "call" && it.name.endsWith("schedule_transfer") && it.outcome.kind === "ok"
      ? [(it.outcome.value as { scheduled_id: string }).scheduled_id]
      : [],
  );
  return { plan, other, ids };
};

test("an attempt is compared by its own generated ids, not the teacher's", async () => {
  const cancel = (scheduled_id: string) => call("cancel_scheduled_transfer", { scheduled_id });
  const straight = await planAndCancel([]);
  const goals = [
    goal([straight.plan]),
    goal([straight.other]),
    goal([cancel(straight.ids[0]!)], [{ goal: 0, kind: "explicit", via: "scheduled_id" }]),
  ];
  const teacher = [calling(straight.plan, straight.other), calling(cancel(straight.ids[0]!)), done];
  const task = await taskOf({
    id: "t-plan",
    users: ["Plan 40 and 60, then cancel the first."],
    goals,
    teacher,
  });
  const run = async (messages: readonly AssistantMessage[]) =>
    getSuccess(await attempt(task, messages)).achieved;

  // the other order draws the ids the other way round
  const [a, b] = straight.ids as [string, string];
  expect(await run([calling(straight.other, straight.plan), calling(cancel(b)), done])).toBe(true);
  expect(await run([calling(straight.other, straight.plan), calling(cancel(a)), done])).toBe(false);
});

describe("a policy that does nothing", () => {
  test("succeeds at no task with goals", async () => {
    for (const task of await Promise.all([moveFifty(), moveTwice(), readOnly(), undoing()]))
      expect(
        getSuccess(attemptOf(task, (await rollout(task, idlePolicy, catalog)).trajectory)).achieved,
        task.id,
      ).toBe(false);
  });
  test("has the reward 0 on a task with goals and 1 on one without", async () => {
    const total = async (task: Task) =>
      scoreAttempt(
        attemptOf(task, (await rollout(task, idlePolicy, catalog)).trajectory),
        paperProfile,
      );
    expect(await total(await moveFifty())).toMatchObject({ total: 0 });
    expect(await total(await abstain())).toMatchObject({ total: 1, rule: "abstain" });
  });
});

test("the teacher's reward is 1.3 with paper, and 1 more for success with prove-plus", async () => {
  const task = await moveTwice();
  const trajectory = (await rollout(task, createTeacherPolicy(task), catalog)).trajectory;
  expect(scoreAttempt(attemptOf(task, trajectory), paperProfile)).toMatchObject({
    total: expect.closeTo(1.3, 6),
    extras: {},
  });
  expect(scoreAttempt(attemptOf(task, trajectory), provePlusProfile)).toMatchObject({
    total: expect.closeTo(2.3, 6),
    extras: { success: { score: 1, weight: 1, value: 1 } },
  });
});

test("a wrong but valid id costs a tenth of one argument in three with paper, and the success term with prove-plus", async () => {
  const wrong = await attempt(await moveFifty(), [
    calling(lookUp),
    calling(transfer("acc_115", 50)),
    done,
  ]);
  // arg (1 + 2/3)/2 = .8333: 1.3 - .1·.1667 = 1.2833
  expect(scoreAttempt(wrong, paperProfile)).toMatchObject({ total: expect.closeTo(1.2833, 4) });
  expect(scoreAttempt(wrong, provePlusProfile)).toMatchObject({
    total: expect.closeTo(1.2833, 4),
    extras: { success: { value: 0 } },
  });
});

test("evidence is attached to its call", async () => {
  const result = scoreAttempt(
    await attempt(await moveFifty(), [
      calling(lookUp),
      calling(transfer("acc_115", 1e5)),
      calling(transfer("acc_108", 50)),
      done,
    ]),
    paperProfile,
  );
  expect(isScored(result) && result.calls[1]).toMatchObject({
    validity: 2 / 3,
    named: true,
    message: "insufficient funds: Everyday has 3448.95 available, 100000 needed",
  });
  expect(isScored(result) && result.calls[1]!.serves).toBeUndefined();
  expect(isScored(result) && result.calls[2]).toMatchObject({
    serves: { goal: 1, call: 0 },
    validity: 1,
  });
});

test("tasks with reads only are recognized", async () => {
  expect(isReadOnly(await attempt(await readOnly(), []))).toBe(true);
  expect(isReadOnly(await attempt(await moveFifty(), []))).toBe(false);
  expect(isReadOnly(await attempt(await abstain(), []))).toBe(false);
});

describe("attempts that cannot be scored", () => {
  test("an attempt with a broken call, whatever else it did", async () => {
    const { task, trajectory } = await attempt(await moveFifty(), [
      calling(lookUp),
      calling(transfer("acc_108", 50)),
      done,
    ]);
    const last = trajectory.events.findLast(it => it.kind === "call")!;
    const broken: CallEvent = {
      ...last,
      outcome: { kind: "broken", message: "no answer within 10 s" },
    };
    const events = trajectory.events.map(it => (it === last ? broken : it));
    expect(
      scoreAttempt(attemptOf(task, asFinished({ ...trajectory, events })!), paperProfile),
    ).toEqual({
      unscorable: "no answer within 10 s",
    });
  });
  test("an attempt that ended by a fault", async () => {
    const { task, trajectory } = await attempt(await moveFifty(), []);
    const events = [
      ...trajectory.events.slice(0, -1),
      { kind: "ended" as const, by: "fault" as const, fault: "the endpoint is down" },
    ];
    expect(
      scoreAttempt(attemptOf(task, asFinished({ ...trajectory, events })!), paperProfile),
    ).toEqual({
      unscorable: "the endpoint is down",
    });
  });
});

test("a task whose goals no longer run is an error that names the goal and a remedy", async () => {
  const task = await moveFifty();
  const stale = { ...task, goals: [goal([transfer("acc_999", 50)])] };
  expect(() => attemptOf(stale, asFinished(task.trajectory)!)).toThrow(
    "task t-move: goal 1, banking_transfer, is refused (there is no account acc_999): restore the fixture it was made on, or synthesize it anew",
  );
});
