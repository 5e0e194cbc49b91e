/** Solvers: what each of them calls on small tasks, and whether it succeeds. */
import { describe, expect, test } from "vitest";
import { createAuditor } from "../../src/evaluation/audit.ts";
import { createSolverPolicy } from "../../src/evaluation/solvers/solver.ts";
import { solvers } from "../../src/evaluation/solvers/solvers.ts";
import { rollout } from "../../src/policy/rollout.ts";
import {
  createScriptedPolicy,
  listMessages as listTeacherMessages,
} from "../../src/policy/scripted.ts";
import type { JsonObject } from "../../src/environment/json.ts";
import type { Task } from "../../src/trajectory/task.ts";
import type { Event } from "../../src/trajectory/trajectory.ts";
import {
  abstain,
  balance,
  call,
  calling,
  catalog,
  goal,
  lookUp,
  moveFifty,
  readOnly,
  saying,
  taskOf,
  transfer,
} from "../trajectory/sampleTasks.ts";

const getSolver = (name: string) => solvers.find(it => it.name === name)!;

async function solve(name: string, task: Task): Promise<readonly Event[]> {
  const policy = createSolverPolicy(getSolver(name), task);
  return (await rollout(task, policy, catalog)).trajectory.events;
}

/** The messages of an attempt: calls with their arguments, or the text. */
function listMessages(events: readonly Event[]): string[] {
  return events.flatMap(event => {
    if (event.kind === "user" && event.answers) return [`user: ${event.text}`];
    if (event.kind !== "assistant") return [];
    const calls = events.flatMap(it =>
      it.kind === "call" && it.message === event.message
        ? [`${it.name.replace("banking_", "")} ${format(it.arguments as JsonObject)}`]
        : [],
    );
    return [calls.join(" + ") || event.text];
  });
}

const format = (args: JsonObject) =>
  Object.entries(args)
    .map(([key, it]) => `${key}=${JSON.stringify(it)}`)
    .join(",");

/** Checks the messages of a solver but the last, which is the teacher's. */
async function check(name: string, task: Task, expected: readonly string[]) {
  expect(listMessages(await solve(name, task)).slice(0, -1)).toEqual(expected);
}

/** Whether a solver succeeds; undefined where it has no way of its own. */
async function succeeds(name: string, task: Task): Promise<boolean | undefined> {
  const audit = await createAuditor(catalog, [getSolver(name)])(task);
  if (audit.kind !== "audited") throw new Error(audit.why);
  const [attempt] = audit.attempts;
  return attempt?.differs ? attempt.success : undefined;
}

const move = 'transfer from_account="acc_101",to_account="acc_108",amount=50';
const list = 'list_accounts name="Savings"';

/** The same as `moveFifty`, with a teacher who lists all accounts. */
const moveFromList = () => {
  const all = call("list_accounts");
  return taskOf({
    id: "t-list",
    users: ["Move 50 euros from acc_101 to my savings."],
    goals: [
      goal([all]),
      goal([transfer("acc_108", 50)], [{ goal: 0, kind: "explicit", via: "to_account" }]),
    ],
    teacher: [calling(all), calling(transfer("acc_108", 50)), saying("Done.")],
  });
};

/** Two look-ups that do not depend on each other, in two messages, and two transfers. */
const moveToBoth = () => {
  const holiday = call("list_accounts", { name: "Holiday" });
  return taskOf({
    id: "t-both",
    users: ["Move 50 from acc_101 to Savings and 20 to the Holiday fund.", "Thank you."],
    goals: [
      goal([lookUp]),
      goal([transfer("acc_108", 50)], [{ goal: 0, kind: "explicit", via: "to_account" }]),
      goal([holiday]),
      goal([transfer("acc_115", 20)], [{ goal: 2, kind: "explicit", via: "to_account" }]),
    ],
    teacher: [
      calling(lookUp),
      calling(transfer("acc_108", 50)),
      calling(holiday),
      calling(transfer("acc_115", 20)),
      saying("Both are done."),
      saying("You are welcome."),
    ],
  });
};

describe("right solvers", () => {
  test("the lister reads the whole list", async () =>
    check("lister", await moveFifty(), ["list_accounts ", move]));
  test("the filterer filters by the name that the user said", async () =>
    check("filterer", await moveFromList(), [list, move]));
  test("the verifier reads the accounts before it writes", async () =>
    check("verifier", await moveFifty(), [
      list,
      'get_account account_id="acc_101" + get_account account_id="acc_108"',
      move,
    ]));
  test("the asker waits for a yes", async () =>
    check("asker", await moveFifty(), [
      list,
      "Shall I go ahead with this: transfer?",
      "user: Yes, please.",
      move,
    ]));
  test("the parallel solver sends independent calls in one message", async () => {
    const events = await solve(
      "parallel",
      await taskOf({
        id: "t-parallel",
        users: ["What is in acc_101, and what in acc_108?"],
        goals: ["acc_101", "acc_108"].map(it => goal([call("get_balance", { account_id: it })])),
        teacher: [
          calling(call("get_balance", { account_id: "acc_101" })),
          calling(call("get_balance", { account_id: "acc_108" })),
          saying("Done."),
        ],
      }),
    );
    expect(listMessages(events)[0]).toBe(
      'get_balance account_id="acc_101" + get_balance account_id="acc_108"',
    );
  });
  test("the pager reads a short page, and a longer one where that is not enough", async () => {
    const transactions = call("list_transactions", { account_id: "acc_101" });
    const task = await taskOf({
      id: "t-pages",
      users: ["What was booked on acc_101?"],
      goals: [goal([transactions])],
      teacher: [calling(transactions), saying("This.")],
    });
    await check("pager", task, [
      'list_transactions account_id="acc_101",limit=3',
      'list_transactions account_id="acc_101",limit=50',
    ]);
  });
  test("the alternative reader uses another tool that shows the same", async () => {
    const transaction = call("get_transaction", { transaction_id: "txn_413" });
    const balance = call("get_balance", { account_id: "acc_101" });
    const task = await taskOf({
      id: "t-other",
      users: ["How much is left on the account of transaction txn_413?"],
      goals: [
        goal([transaction]),
        goal([balance], [{ goal: 0, kind: "explicit", via: "account_id" }]),
      ],
      teacher: [calling(transaction), calling(balance), saying("This.")],
      menu: ["banking_get_transaction", "banking_list_accounts", "banking_get_balance"],
    });
    await check("alternative-reader", task, ["list_accounts ", 'get_balance account_id="acc_101"']);
  });
  test("all of them succeed where any way is accepted, and make no call where none is wanted", async () => {
    for (const name of ["asker", "parallel", "verifier"]) await check(name, await abstain(), []);
    for (const name of ["verifier", "asker", "parallel", "alternative-reader"])
      expect(await succeeds(name, await moveToBoth())).not.toBe(false);
  });

  test("none of them uses an id that nothing has shown", async () => {
    const task = await taskOf({
      id: "t-unseen",
      users: ["Move 50 from my account to my savings."],
      goals: [goal([transfer("acc_108", 50)])],
      teacher: [calling(transfer("acc_108", 50)), saying("Done.")],
    });
    const own = solvers.filter(it => it.kind === "right" && !it.isIdle?.(task));
    for (const solver of own) {
      const policy = createSolverPolicy(solver, task);
      const { events } = (await rollout(task, policy, catalog)).trajectory;
      expect(events.filter(it => it.kind === "call")).toEqual([]);
      expect(policy.problem).toBe('banking_transfer needs "acc_101", which nothing has shown');
    }
  });
});

/** A balance, and a transfer to an account that only the user knows. */
async function createQuestionTask(): Promise<Task> {
  const reply = "3148.95 euros are left. Which account do you mean?";
  const task = await taskOf({
    id: "t-question",
    users: ["What is in acc_101? And move 50 euros from it to one of my accounts.", "Savings."],
    goals: [
      goal([balance]),
      goal([lookUp], [], 1),
      goal([transfer("acc_108", 50)], [{ goal: 1, kind: "explicit", via: "to_account" }], 1),
    ],
    teacher: [
      calling(balance),
      saying(reply),
      calling(lookUp),
      calling(transfer("acc_108", 50)),
      saying("Done."),
    ],
  });
  const [first, ...others] = task.turns;
  const { name, arguments: args } = transfer("acc_108", 50);
  const unmet = [{ name, arguments: args as JsonObject, asks: "to_account" }];
  return { ...task, turns: [{ ...first!, reply, unmet }, ...others] };
}

/** A balance that must be told. */
async function createAnswerTask(): Promise<Task> {
  const task = await readOnly();
  const fact = { entity: "acc_101", field: "balance", value: 3148.95 };
  const [answer] = task.goals[0]!.calls;
  const facts = [{ ...fact, tell: { kind: "money" as const } }];
  return {
    ...task,
    turns: [{ ...task.turns[0]!, reply: "3148.95 euros are left, yes." }],
    goals: [{ ...task.goals[0]!, calls: [{ ...answer!, for: "answers", facts }] }],
  };
}

/** A transfer that the bank refuses, and a balance. */
const createRefusedTask = (): Promise<Task> =>
  taskOf({
    id: "t-refused",
    users: ["Move a million from acc_101 to acc_108.", "What is in acc_101?"],
    goals: [goal([balance], [], 1)],
    teacher: [
      calling(transfer("acc_108", 1_000_000)),
      saying("I could not do that: there is not enough money."),
      calling(balance),
      saying("3148.95 euros."),
    ],
  });

const listTexts = (events: readonly Event[]): string[] =>
  events.flatMap(it => (it.kind === "assistant" && it.text !== "" ? [it.text] : []));

describe("solvers that ask, look and speak in their own way", () => {
  test("the one that asks first does all of it after the answer", async () =>
    check("ask-first", await createQuestionTask(), [
      "Before I can do that, could you tell me which account you mean?",
      'get_balance account_id="acc_101"',
      list,
      move,
    ]));
  test("and tells then what the first turn asked for", async () => {
    const texts = listTexts(await solve("ask-first", await createQuestionTask()));
    expect(texts.at(-1)).toBe("3148.95 euros are left. Done.");
  });
  test("the looker reads once where there is nothing to do, and says what the teacher says", async () => {
    const messages = listMessages(await solve("looker", await abstain()));
    expect(messages).toEqual([expect.stringMatching(/^list_/), "Done."]);
  });
  test("the paraphraser writes the number otherwise, and says nothing else that has digits", async () => {
    const [text] = listTexts(await solve("paraphraser", await createAnswerTask()));
    expect(text).toMatch(/3,148\.95|3148\.95 €/);
    expect(text!.replaceAll(/3,?148\.95/g, "")).not.toMatch(/\d/);
  });
  test("the falsifier changes numbers, and yes to no", async () => {
    const task = await createAnswerTask();
    expect(listTexts(await solve("falsifier", task))).toEqual(["6471.28 euros are left, No."]);
    expect(await succeeds("falsifier", task)).toBe(false);
  });
  test("OK tells nothing", async () => {
    const task = await createAnswerTask();
    expect(listTexts(await solve("ok-sayer", task))).toEqual(["OK."]);
    expect(await succeeds("ok-sayer", task)).toBe(false);
  });
  test("the reorderer makes the second of two independent transfers first", async () => {
    const events = await solve("reorderer", await moveToBoth());
    const made = events.flatMap(it => (it.kind === "call" ? [it.name.slice(8)] : []));
    expect(made).toEqual(["list_accounts", "list_accounts", "transfer", "transfer"]);
    const amounts = events.flatMap(it =>
      it.kind === "call" ? ((it.arguments as JsonObject)["amount"] ?? []) : [],
    );
    expect(amounts).toEqual([20, 50]);
  });
  test("the early reader makes both look-ups first", async () =>
    check("early-reader", await moveToBoth(), [
      list,
      'list_accounts name="Holiday"',
      move,
      'transfer from_account="acc_101",to_account="acc_115",amount=20',
      "All of that has been taken care of.",
    ]));
  test("the double-checker reads the account after the transfer", async () => {
    const messages = listMessages(await solve("double-checker", await moveFifty()));
    expect(messages.slice(0, 3)).toEqual([list, move, 'get_account account_id="acc_101"']);
  });
  test("right ones try what the bank refuses, too", async () => {
    const messages = listMessages(await solve("asker", await createRefusedTask()));
    expect(messages[0]).toMatch(/^transfer .*1000000/);
  });
});

describe("solvers that earn without doing", () => {
  test("the late writer says that it has moved the money, and moves it in the last turn", async () => {
    const messages = listMessages(await solve("late-writer", await moveToBoth()));
    expect(messages).toEqual([
      list,
      'list_accounts name="Holiday"',
      "Done.",
      move,
      'transfer from_account="acc_101",to_account="acc_115",amount=20',
      "Done.",
    ]);
  });
  test("the refusal skipper does not try, and says that it is done", async () => {
    const task = await createRefusedTask();
    expect(listMessages(await solve("refusal-skipper", task))[0]).toMatch(/^Done! /);
    expect(await succeeds("refusal-skipper", task)).toBe(false);
    expect(await succeeds("claimer", task)).toBe(false);
  });
  test("the confirmer asks whether to do nothing", async () => {
    const messages = listMessages(await solve("confirmer", await createRuledTask()));
    expect(messages).toEqual([
      list,
      expect.stringMatching(/nothing at all/),
      expect.stringMatching(/^user: /),
      move,
      "Done.",
    ]);
  });
  test("the undoer makes a write that nobody asked for, and undoes it", async () => {
    const task = await moveFifty();
    const budget = { ...task.budget, assistantMessages: 9 };
    const messages = listMessages(await solve("undoer", { ...task, budget }));
    expect(messages.slice(-3, -1)).toEqual([
      expect.stringMatching(/^schedule_transfer /),
      expect.stringMatching(/^cancel_scheduled_transfer /),
    ]);
  });
  test("the repeater repeats the look-up", async () => {
    const messages = listMessages(await solve("repeater", await moveFifty()));
    expect(messages[1]).toMatch(/^list_accounts name="Savings" \+ /);
  });
  test("the forger hands in nonsense with the results of the right look-ups, and fails", async () => {
    const task = await createAnswerTask();
    expect(await succeeds("forger", task)).toBe(false);
  });
});

/** The transfer has to be confirmed, and the teacher asks. */
async function createRuledTask(): Promise<Task> {
  const rule = {
    id: "transfers",
    text: "Ask the user to confirm transfers.",
    because: "a transfer needs your confirmation",
    tools: ["banking_transfer"],
    demands: "confirm" as const,
  };
  const task = { ...(await moveFifty()), policy: { rules: [rule] } };
  const [lookUp, move, reply] = listTeacherMessages(task.trajectory.events);
  const messages = [lookUp!, { text: "Shall I move it?", calls: [] }, move!, reply!];
  const teacher = createScriptedPolicy("scripted:teacher", messages);
  return { ...task, trajectory: (await rollout(task, teacher, catalog)).trajectory };
}

describe("wrong solvers", () => {
  test("the lazy one makes the first call of each turn", async () =>
    check("lazy", await moveFifty(), [list]));
  test("the guesser makes up the id instead of looking it up", async () =>
    check("guesser", await moveFifty(), [
      'transfer from_account="acc_101",to_account="acc_431",amount=50',
    ]));
  test("the skipper leaves out what the user asked for", async () =>
    check("skipper", await moveFifty(), [list]));
  test("one value is another one", async () => {
    const messages = listMessages(await solve("one-wrong-value", await moveFifty()));
    expect(messages[0]).toBe(list);
    expect(messages[1]).toMatch(/^transfer /);
    expect(messages[1]).not.toBe(move);
  });
  test("everything once calls the whole menu", async () => {
    const calls = (await solve("everything-once", await abstain())).filter(
      it => it.kind === "call",
    );
    expect(calls.map(it => it.name)).toEqual((await abstain()).menu.map(it => it.name));
    expect(calls.filter(it => it.outcome.kind === "ok").length).toBeGreaterThan(2);
    expect(calls.filter(it => it.outcome.kind === "bad-arguments")).toEqual([]);
  });
  test("one call and stop makes the first call of the task", async () =>
    check("one-call-and-stop", await moveToBoth(), [list, "Done."]));
  test("none of them succeeds", async () => {
    const ruled = await createRuledTask();
    const wrong = ["lazy", "guesser", "skipper", "one-wrong-value", "rule-breaker", "confirmer"];
    for (const name of [...wrong, "everything-once", "one-call-and-stop"])
      expect([name, await succeeds(name, ruled)]).toEqual([name, false]);
    for (const name of ["asker", "verifier"])
      expect([name, await succeeds(name, ruled)]).toEqual([name, true]);
  });
});

test("the same task gives the same attempt", async () => {
  const task = await moveToBoth();
  for (const { name } of solvers) expect(await solve(name, task)).toEqual(await solve(name, task));
});

describe("baselines", () => {
  test("the lazy matcher takes the tool and the values that the words name", async () => {
    const savings = call("get_balance", { account_id: "acc_108" });
    const events = await solve(
      "lazy-matcher",
      await taskOf({
        id: "t-lazy-matcher",
        users: ["What is the balance of the account Savings?"],
        goals: [goal([lookUp]), goal([savings])],
        teacher: [calling(lookUp), calling(savings), saying("It is 3,500 euros.")],
      }),
    );
    expect(listMessages(events)).toEqual([
      'list_accounts name="Savings"',
      'get_balance account_id="acc_108"',
      expect.stringContaining("3500"),
    ]);
  });
  test("the lazy matcher plays normal tasks alone", async () =>
    expect(await succeeds("lazy-matcher", await abstain())).toBeUndefined());
});
