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
  call,
  calling,
  catalog,
  goal,
  lookUp,
  moveFifty,
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

async function succeeds(name: string, task: Task): Promise<boolean> {
  const audit = await createAuditor(catalog, [getSolver(name)])(task);
  if (audit.kind !== "audited") throw new Error(audit.why);
  return audit.attempts[0]!.success;
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
      expect(await succeeds(name, await moveToBoth())).toBe(true);
  });

  test("none of them uses an id that nothing has shown", async () => {
    const task = await taskOf({
      id: "t-unseen",
      users: ["Move 50 from my account to my savings."],
      goals: [goal([transfer("acc_108", 50)])],
      teacher: [calling(transfer("acc_108", 50)), saying("Done.")],
    });
    for (const solver of solvers.filter(it => it.kind === "right")) {
      const policy = createSolverPolicy(solver, task);
      const { events } = (await rollout(task, policy, catalog)).trajectory;
      expect(events.filter(it => it.kind === "call")).toEqual([]);
      expect(policy.problem).toBe('banking_transfer needs "acc_101", which nothing has shown');
    }
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
    // the task has no condition to ignore
    const wrong = solvers.filter(it => it.kind === "wrong" && it.name !== "ignores-conditions");
    for (const { name } of wrong)
      expect([name, await succeeds(name, ruled)]).toEqual([name, false]);
    for (const name of ["asker", "parallel", "verifier"])
      expect([name, await succeeds(name, ruled)]).toEqual([name, true]);
  });
});

test("the same task gives the same attempt", async () => {
  const task = await moveToBoth();
  for (const { name } of solvers) expect(await solve(name, task)).toEqual(await solve(name, task));
});
