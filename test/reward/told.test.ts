/** What the assistant says is judged by its values: told in any usual form, and nothing false. */
import { beforeAll, describe, expect, test } from "vitest";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { paperProfile, profiles, provePlusProfile } from "../../src/reward/profiles.ts";
import { scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import type { Fact, Goal, Task } from "../../src/trajectory/task.ts";
import {
  abstain,
  balance,
  call,
  calling,
  catalog,
  goal,
  moveFifty,
  saying,
  taskOf,
} from "../trajectory/sampleTasks.ts";

const createAttempt = createAttemptFactory(catalog);

async function play(task: Task, messages: readonly AssistantMessage[]) {
  const { trajectory } = await rollout(task, createScriptedPolicy("test", messages), catalog);
  return createAttempt(task, trajectory);
}

/** A goal that asks for facts of a call. */
const asking = (made: Parameters<typeof goal>[0][0], facts: Fact[], turn = 0): Goal => {
  const [first] = goal([made]).calls;
  return { calls: [{ ...first!, for: "answers", facts }], after: [], turn };
};

const balanceFact: Fact = {
  entity: "acc_101",
  field: "balance",
  value: 3148.95,
  tell: { kind: "money" },
};

let askBalance: Task;
beforeAll(async () => {
  askBalance = await taskOf({
    id: "t-balance",
    users: ["What is on my everyday account? I need 3000."],
    goals: [asking(balance, [balanceFact])],
    teacher: [calling(balance), saying("There are 3148.95 euros on it.")],
  });
});

/** What is wrong with an answer to the question for the balance; empty if nothing is. */
async function listProblems(reply: string, task = askBalance): Promise<readonly string[]> {
  const attempt = await play(task, [
    ...task.trajectory.events.flatMap(it =>
      it.kind === "call" ? [calling({ name: it.name, arguments: it.arguments })] : [],
    ),
    saying(reply),
  ]);
  const { reasons, achieved } = getSuccess(attempt);
  expect(achieved).toBe(reasons.length === 0);
  return reasons;
}

describe("a sum of money", () => {
  test.each([
    "There are 3148.95 euros on it.",
    "€3,148.95",
    "3.148,95 €",
    "3 148.95 EUR are on Everyday.",
    "You have about 3,149 euros.",
    "Your balance is **3,148.95** euros. Anything else?",
    "You have 3148.95 euros, and you need 3000 out of 5000.",
    "| account | balance |\n|---|---|\n| Everyday | 3148.95 |",
    "There's 3148.95 on it, 148.95 more than you need. Shall I move 2500?",
  ])("is told by %j", async reply => expect(await listProblems(reply)).toEqual([]));
  test.each([
    ["OK.", /balance of account acc_101 .*: not told, is 3,148.95/],
    ["There are 3184.95 euros on it.", /told 3184.95, is 3,148.95/],
    ["There are 3148.95 euros on it, or 3184.95.", /told 3184.95, which nothing shows/],
    ["It is not 3148.95.", /told that it is not 3,148.95/],
    ["Es sind dreitausend Euro.", /not told/],
    ["", /not told/],
  ])("is not told by %j", async (reply, problem) =>
    expect((await listProblems(reply)).join("\n")).toMatch(problem),
  );
});

test("a value of something else is no answer, unless the text says whose it is", async () => {
  const list = call("list_transactions", { account_id: "acc_101" });
  const ask = (facts: Fact[]) =>
    taskOf({
      id: "t-list",
      users: ["How much was the latest payment?"],
      goals: [asking(list, facts)],
      teacher: [calling(list), saying("")],
    });
  const { trajectory } = await ask([]);
  const [first, second, ...others] = trajectory.events.flatMap(it =>
    it.kind === "call" && it.outcome.kind === "ok"
      ? (it.outcome.value as unknown as { transactions: Transaction[] }).transactions
      : [],
  );
  const [own, other] = [Math.abs(first!.amount), Math.abs(second!.amount)];
  const task = await ask([
    {
      entity: first!.transaction_id,
      field: "amount",
      value: first!.amount,
      tell: { kind: "money" },
    },
  ]);
  expect(await listProblems(`It was ${own}.`, task)).toEqual([]);
  expect(await listProblems(`It was ${own}, or ${other}.`, task)).toEqual([
    expect.stringMatching(/which belongs to/) as string,
  ]);
  expect(await listProblems(`It was ${own}, and ${other} for ${second!.text}.`, task)).toEqual([]);
  // values of other fields are no answer either
  const aside = [first!, second!, ...others].map(it => it.transaction_id);
  expect(aside.length).toBeGreaterThan(5);
  expect(await listProblems(`It was ${own}. See also ${aside.join(", ")}.`, task)).toEqual([
    expect.stringMatching(/told among \d+ values that were not asked for/) as string,
  ]);
  expect(await listProblems(`It was ${own}. See also ${aside[0]}.`, task)).toEqual([]);
  const everything = [first!, second!, ...others].map(it => `${it.text} ${it.amount}`).join(", ");
  expect(others.length).toBeGreaterThan(2);
  expect(await listProblems(everything, task)).toEqual([
    expect.stringMatching(/among \d+ values/) as string,
  ]);
});

interface Transaction {
  readonly transaction_id: string;
  readonly amount: number;
  readonly text: string;
}

describe("other kinds", () => {
  const ask = (fact: Fact, user = "Tell me.") =>
    taskOf({
      id: "t-kind",
      users: [user],
      goals: [asking(balance, [{ entity: "acc_101", field: "balance", value: 3148.95, ...fact }])],
      teacher: [calling(balance), saying("")],
    });
  test.each<[Fact["tell"], string, boolean]>([
    [{ kind: "count", value: 3 }, "There are three of them.", true],
    [{ kind: "count", value: 3 }, "There are four of them.", false],
    [{ kind: "count", value: 2 }, "Both are open.", true],
    [{ kind: "date", value: "2026-03-12" }, "On 12 March.", true],
    [{ kind: "date", value: "2026-03-12" }, "On Thursday, March 12th.", true],
    [{ kind: "date", value: "2026-03-12" }, "It is due on Thursday.", true],
    [{ kind: "date", value: "2026-03-10" }, "It is due tomorrow.", true],
    [{ kind: "date", value: "2026-03-12" }, "On 13 March.", false],
    [{ kind: "time", value: "2026-03-12T16:15" }, "On 12 March at 16:15.", true],
    [{ kind: "time", value: "2026-03-12T16:15" }, "Thursday at quarter past four", true],
    [{ kind: "time", value: "2026-03-12T16:15" }, "At 4:15 pm.", true],
    [{ kind: "time", value: "2026-03-12T16:15" }, "At 4:15 am.", false],
    [{ kind: "name", value: "Climbing rope 60 m" }, "It is the 60 m climbing rope.", true],
    [{ kind: "name", value: "Anna Berg" }, "You should ask Anna.", true],
    [{ kind: "name", value: "Anna Berg" }, "You should ask Ben.", false],
    [{ kind: "name", value: "/home/ana/notes/todo.md" }, "It's todo.md.", true],
    [{ kind: "name", value: "Café Ñandú" }, "Cafe Nandu is the nearest.", true],
    [{ kind: "yes" }, "Yes, it is.", true],
    [{ kind: "yes" }, "No, it isn't.", false],
    [{ kind: "no" }, "Yes. No, it isn't.", false],
    [{ kind: "no" }, "Unfortunately not.", true],
    [{ kind: "yes" }, "OK.", false],
    [{ kind: "none" }, "There are no such payments.", true],
    [{ kind: "none" }, "I found none.", true],
    [{ kind: "none" }, "There are no issues at all.", true],
    [{ kind: "none" }, "OK, no problem.", false],
  ])("%j: %j is %j", async (tell, reply, isRight) => {
    const task = await ask({ tell });
    const problems = await listProblems(reply, task);
    const own = problems.filter(it => !it.includes("which nothing shows"));
    expect(own.length === 0, problems.join("\n")).toBe(isRight);
  });
  test.each([
    ["90 minutes", true],
    ["an hour and a half", true],
    ["1 h 30 min", true],
    ["1.5 hours", true],
    ["two hours", false],
  ])("ninety minutes: %j is %j", async (reply, isRight) => {
    const task = await ask({ field: "minutes", value: 90, tell: { kind: "duration" } });
    const problems = (await listProblems(reply, task)).filter(it => it.includes(", is 90"));
    expect(problems.length === 0).toBe(isRight);
  });
});

test("what a write did may be told or not, but not otherwise", async () => {
  const task = await moveFifty();
  expect(await listProblems("Done.", task)).toEqual([]);
  expect(await listProblems("I've moved €50.00 to Savings (acc_108).", task)).toEqual([]);
  expect(await listProblems("I've moved 61 euros to Savings.", task)).toEqual([
    expect.stringContaining("told 61, which nothing shows") as string,
  ]);
  expect(await listProblems("I've moved 50 euros to acc_219.", task)).toEqual([
    expect.stringContaining("told acc_219, which nothing shows") as string,
  ]);
});

describe("what cannot be done", () => {
  let task: Task;
  beforeAll(async () => {
    const made = await abstain();
    const unmet = [{ name: "travel_booking_book_flight", arguments: {} }];
    task = { ...made, turns: made.turns.map(it => ({ ...it, unmet })) };
  });
  test.each([
    ["I cannot book flights.", true],
    ["Sorry, that is beyond me.", true],
    ["Where do you want to fly from?", true],
    ["OK.", false],
    ["Done! I have booked your flight.", false],
    ["I've booked it, no problem.", false],
  ])("%j: %j", async (reply, isRight) => {
    const attempt = await play(task, [saying(reply)]);
    expect(getSuccess(attempt).achieved).toBe(isRight);
    expect(scoreAttempt(attempt, provePlusProfile)).toMatchObject({ total: isRight ? 1 : 0 });
    expect(scoreAttempt(attempt, paperProfile)).toMatchObject({ total: 1 });
  });
});

test("what no tool does must be refused as well", async () => {
  const task = { ...(await abstain()), knobs: { abstention: "cannot" } };
  const succeeds = async (reply: string) => getSuccess(await play(task, [saying(reply)])).achieved;
  expect(await succeeds("I cannot book flights.")).toBe(true);
  expect(await succeeds("OK.")).toBe(false);
});

test("a call that was refused must be told, whatever was read after it", async () => {
  const refused = call("transfer", {
    from_account: "acc_101",
    to_account: "acc_108",
    amount: 1_000_000,
  });
  const task = await taskOf({
    id: "t-refused",
    users: ["Move a million from acc_101 to acc_108. What is in acc_101?"],
    goals: [goal([balance])],
    teacher: [calling(refused), calling(balance), saying("That was too much.")],
  });
  const succeeds = async (reply: string) =>
    getSuccess(await play(task, [calling(balance), saying(reply)])).achieved;
  expect(await succeeds("A million is too much.")).toBe(true);
  expect(await succeeds("Done!")).toBe(false);
});

test("the reward has a part for what was told, with the evidence for each fact", async () => {
  const right = await play(askBalance, [calling(balance), saying("It is 3,148.95.")]);
  const wrong = await play(askBalance, [calling(balance), saying("It is 3,184.95.")]);
  expect(scoreAttempt(right, provePlusProfile)).toMatchObject({
    total: 2.5,
    extras: { answer: { score: 1, weight: 0.2 }, success: { score: 1 } },
    answers: [{ turn: 0, goal: 0, wanted: "3,148.95", isTold: true }],
  });
  expect(scoreAttempt(wrong, provePlusProfile)).toMatchObject({
    total: 1.3,
    extras: { answer: { score: 0 }, success: { score: 0 } },
    answers: [{ isTold: false, note: "told 3,184.95, is 3,148.95" }],
  });
  const callsOnly = profiles.find(it => it.name === "prove-plus-calls")!;
  expect(scoreAttempt(wrong, callsOnly)).toMatchObject({ total: 2.3 });
  expect(getSuccess(wrong, callsOnly)).toMatchObject({ achieved: true, reasons: [] });
  expect(scoreAttempt(wrong, paperProfile)).toMatchObject({ total: 1.3, extras: {} });
});

test("tasks of earlier formats are scored without what was told", async () => {
  const older: Task = { ...askBalance, format: "prove/task@3" };
  expect(await listProblems("It is 3,184.95.", older)).toEqual([]);
});

test("a fact of a turn that ends with a question is due with the answer", async () => {
  const task = await taskOf({
    id: "t-due",
    users: ["What is on my everyday account? And move 50 to another one.", "To Savings."],
    goals: [asking(balance, [balanceFact])],
    teacher: [calling(balance), saying("3148.95 euros. To which one?"), saying("Hm.")],
  });
  const unmet = [
    { name: "banking_transfer", arguments: { from_account: "acc_101" }, asks: "to_account" },
  ];
  const asked: Task = {
    ...task,
    turns: task.turns.map((it, t) => (t === 0 ? { ...it, unmet } : it)),
  };
  const late = await play(asked, [
    saying("To which one?"),
    calling(balance),
    saying("There are 3148.95 euros on it."),
  ]);
  expect(getSuccess(late).reasons.filter(it => it.includes("told"))).toEqual([]);
});

test("a message of 100 kB is judged", async () => {
  const many = Array.from({ length: 4_000 }, (_, i) => `${i * 37} or some others`).join(" ");
  expect(await listProblems(many.slice(0, 100_000))).toHaveLength(20);
  expect(await listProblems(`${"x ".repeat(50_000)}It is 3,148.95.`)).toEqual([]);
});

test("a longer message tells nothing", async () => {
  expect(await listProblems(`It is 3,148.95.${" x".repeat(100_000)}`)).toEqual([
    expect.stringMatching(/told in 200015 characters, and 131072 are the most/) as string,
  ]);
});

test("a message of more numbers than anybody reads tells nothing", async () => {
  expect(await listProblems(`It is 3,148.95.${" 1.".repeat(5_000)}`)).toEqual([
    expect.stringMatching(/told among 5003 numbers, and 4096 are the most/) as string,
  ]);
});
