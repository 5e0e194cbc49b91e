/** The simulated user of a rollout answers questions, and only those. */
import { describe, expect, test } from "vitest";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy, createTeacherPolicy } from "../../src/policy/scripted.ts";
import { readAbstentions } from "../../src/synthesis/text/abstentions.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { type Event, parseEventLine, eventLineSchema } from "../../src/trajectory/trajectory.ts";
import { listTurns } from "../../src/trajectory/oneTurn.ts";
import {
  balance,
  calling,
  catalog,
  goal,
  moveFifty,
  moveTwice,
  saying,
  taskOf,
  transfer,
} from "../trajectory/sampleTasks.ts";

async function attempt(
  task: Task,
  messages: readonly AssistantMessage[],
  maxMessages?: number,
): Promise<readonly Event[]> {
  const policy = createScriptedPolicy("test", messages);
  return (await rollout(task, policy, catalog, maxMessages === undefined ? {} : { maxMessages }))
    .trajectory.events;
}

const listAnswers = (events: readonly Event[]) =>
  events.flatMap(it => (it.kind === "user" && it.answers ? [it.text] : []));

async function check(question: string, expected: readonly string[]) {
  expect(listAnswers(await attempt(await moveTwice(), [saying(question)]))).toEqual(expected);
}

const yes = ["Yes, please."];
const no = ["No, please do it the way I said."];
const unknown = ["I don't know more than that. Please use what you have."];

test("a phrase that is repeated a hundred thousand times is answered", async () => {
  // a pattern that takes quadratic time would read 10^11 characters
  for (const phrase of ["would you like ", "do you want a "])
    await check(`${phrase.repeat(100_000)}?`, yes);
  await check(`${"would you like ".repeat(100_000)}this or that?`, unknown);
  await check(`${'"'.repeat(1_000_000)} May I?`, yes);
});

describe("a question before the turn's requests are done", () => {
  test("a question whether to leave it undone is not answered with yes", async () => {
    await check("Shall I do nothing?", no);
    await check("Would you like me to leave everything as it is?", no);
    await check("Just to be sure: should I not transfer anything?", no);
    await check("Shall I transfer 50 to Savings, or rather do nothing?", no);
    await check("Shall I go ahead or not?", yes);
    await check("Shall I transfer 50 to Savings, although it cannot be undone?", yes);
  });

  test("about what the user asked for is confirmed", async () => {
    await check("Shall I transfer 50 to Savings and 20 to the holiday fund?", yes);
    await check("Do you want me to go ahead?", yes);
    await check("Shall I do that? It cannot be undone.", yes);
    await check("That is 70 in all. Please confirm that I should go ahead.", yes);
  });
  test("in any of the teacher's words is confirmed", async () => {
    const { request, plain } = readAbstentions("resources").confirmation;
    for (const it of [...request, ...plain])
      await check(
        it.replace("{Because}", "Transfers need a yes").replace("{clause}", "move 50 to Savings"),
        yes,
      );
  });
  test("with a number that nobody has said is denied", () =>
    check("Shall I transfer 500 to Savings?", no));
  test("with the sum of what is due is confirmed, and with another sum denied", async () => {
    await check("Shall I transfer 50 to Savings and 20 to the holiday fund, 70 in all?", yes);
    await check("Shall I transfer 50 to Savings and 20 to the holiday fund, 80 in all?", no);
  });
  test("that says how a number was computed is confirmed", async () => {
    const task = await taskOf({
      id: "t-computed",
      users: ["Move 30% of 200 to Savings, less a fee of 10."],
      goals: [goal([transfer("acc_108", 50)])],
      teacher: [calling(transfer("acc_108", 50)), saying("Done.")],
    });
    const answer = async (question: string) => listAnswers(await attempt(task, [saying(question)]));
    expect(await answer("Shall I transfer 60 - 10 = 50 to Savings?")).toEqual(yes);
    expect(await answer("Shall I transfer 60 to Savings?")).toEqual(no);
  });
  test("with a number of a later turn is denied, and with a known hour of twelve confirmed", async () => {
    const task = await taskOf({
      id: "t-later",
      users: ["Move 50 to Savings before 14:30.", "Make it 500."],
      goals: [goal([transfer("acc_108", 50)]), goal([transfer("acc_108", 450)], [], 1)],
      teacher: [
        calling(transfer("acc_108", 50)),
        saying("Done."),
        calling(transfer("acc_108", 450)),
        saying("Done."),
      ],
    });
    const answer = async (question: string) => listAnswers(await attempt(task, [saying(question)]));
    expect(await answer("Shall I transfer 500 to Savings?")).toEqual(no);
    expect(await answer("Shall I transfer 50 before 2:30?")).toEqual(yes);
  });
  test("about anything else has no answer", async () => {
    await check("From which account?", unknown);
    await check("Happy to help. Which “Savings” do you mean?", unknown);
    await check("Could you confirm which account I should use?", unknown);
    await check("Please confirm which of the two you mean.", unknown);
    await check("Would you like the first or the second account?", unknown);
  });
  test("that offers more help, or a statement, is no question", async () => {
    await check("Is there anything else?", []);
    await check("I will move both.", []);
    await check("", []);
  });
});

test("the policy goes on after an answer, with one message more than the limit", async () => {
  const task = await moveTwice();
  const events = await attempt(
    task,
    [
      saying("Shall I do both?"),
      calling(transfer("acc_108", 50), transfer("acc_115", 20)),
      saying("Done."),
      calling(balance),
      saying("That."),
    ],
    4,
  );
  expect(events.map(it => (it.kind === "user" ? it.text : it.kind))).toEqual([
    "Move 50 to Savings and 20 to the holiday fund.",
    "assistant",
    "Yes, please.",
    "assistant",
    "call",
    "call",
    "assistant",
    "And what is left?",
    "assistant",
    "call",
    "assistant",
    "ended",
  ]);
  expect(events.at(-1)).toEqual({ kind: "ended", by: "policy" });
  expect(listTurns(task, events)).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
});

test("the user answers twice in a turn, then goes on", async () => {
  const events = await attempt(
    await moveTwice(),
    Array.from({ length: 9 }, () => saying("Which?")),
  );
  expect(events.map(it => (it.kind === "user" ? it.text : it.kind))).toEqual([
    "Move 50 to Savings and 20 to the holiday fund.",
    "assistant",
    ...unknown,
    "assistant",
    ...unknown,
    "assistant",
    "And what is left?",
    "assistant",
    ...unknown,
    "assistant",
    ...unknown,
    "assistant",
    "ended",
  ]);
});

test("the user confirms each call of a turn that takes several", async () => {
  const task = await taskOf({
    id: "t-three",
    users: ["Move 50, 20 and 10 to Savings, one after the other."],
    goals: [50, 20, 10].map(it => goal([transfer("acc_108", it)])),
    teacher: [...[50, 20, 10].map(it => calling(transfer("acc_108", it))), saying("Done.")],
  });
  const events = await attempt(
    task,
    [50, 20, 10].flatMap(it => [
      saying(`Shall I transfer ${it} now?`),
      calling(transfer("acc_108", it)),
    ]),
  );
  expect(listAnswers(events)).toEqual([...yes, ...yes, ...yes]);
  expect(events.filter(it => it.kind === "call" && it.outcome.kind === "ok")).toHaveLength(3);
});

test("the user answers at most six times in a turn", async () => {
  const task = await taskOf({
    id: "t-eight",
    users: ["Move 8 times 1 euro to Savings."],
    goals: Array.from({ length: 8 }, () => goal([transfer("acc_108", 1)])),
    teacher: [...Array.from({ length: 8 }, () => calling(transfer("acc_108", 1))), saying("Done.")],
  });
  const events = await attempt(
    task,
    Array.from({ length: 20 }, () => saying("Which?")),
  );
  expect(listAnswers(events)).toHaveLength(6);
});

test("after the turn's requests are done, a question changes nothing", async () => {
  const task = await moveFifty();
  const events = await attempt(task, [
    calling(transfer("acc_108", 50)),
    saying("It is done. Shall I go ahead?"),
  ]);
  expect(listAnswers(events)).toEqual([]);
  expect(events.at(-1)).toEqual({ kind: "ended", by: "policy" });
});

test("a question that the next turn answers gets that turn", async () => {
  const task = await taskOf({
    id: "t-ask",
    users: ["Show me my balance and move 50 to Savings.", "From acc_101."],
    goals: [goal([balance]), goal([transfer("acc_108", 50)], [], 1)],
    teacher: [calling(balance), saying("Done."), calling(transfer("acc_108", 50)), saying("Done.")],
  });
  const asking = {
    ...task,
    turns: task.turns.map((it, i) => (i === 0 ? { ...it, reply: "From which account?" } : it)),
  };
  const events = await attempt(asking, [saying("Which account do you mean?"), calling(balance)]);
  expect(events[2]).toEqual({ kind: "user", text: "From acc_101." });
});

test("a task's teacher meets the same user as when its task was made", async () => {
  for (const task of await Promise.all([moveFifty(), moveTwice()])) {
    const { trajectory } = await rollout(task, createTeacherPolicy(task), catalog);
    expect(trajectory.events.filter(it => it.kind === "user")).toEqual(
      task.trajectory.events.filter(it => it.kind === "user"),
    );
  }
});

test("an answer is marked in files, and files without marks open as before", () => {
  for (const line of [
    { kind: "user", text: "Yes.", answers: true },
    { kind: "user", text: "Move 50." },
  ])
    expect(parseEventLine(eventLineSchema.parse(line))).toEqual(line);
});
