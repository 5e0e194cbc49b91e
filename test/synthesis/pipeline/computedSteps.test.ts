/** Steps of scenarios whose value the assistant has to compute, and steps over chosen rows. */
import { beforeAll, describe, expect, test } from "vitest";
import { oneWrongValue, skipper } from "../../../src/evaluation/solvers/wrongSolvers.ts";
import { createSolverPolicy } from "../../../src/evaluation/solvers/solver.ts";
import { createTeacherPolicy } from "../../../src/policy/scripted.ts";
import type { JsonObject } from "../../../src/environment/json.ts";
import { getSuccess } from "../../../src/reward/success.ts";
import { parseScenarios } from "../../../src/synthesis/text/scenarios.ts";
import { createAttemptFactory } from "../../../src/trajectory/attempt.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { getCallValue, listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { playTask } from "../../evaluation/playTask.ts";
import { synthesizeTasks } from "../synthesizeTasks.ts";

const list = (say: string, tool: string, fixed: JsonObject = {}) => ({
  as: "list",
  tool,
  say: [{ say, with: fixed, reply: ["{items}."] }],
});
const spent = {
  as: "bill",
  tool: "budget_add_expense",
  say: ["put down {amount} for {text} under {category_id}"],
};

const scenarios = parseScenarios(
  JSON.stringify({
    format: "prove/scenarios@1",
    scenarios: [
      {
        name: "sum",
        motive: ["There are bills."],
        turns: [
          [list("who is on my list of payees?", "banking_list_payees")],
          [
            {
              tool: "banking_transfer",
              say: ["move what is due to all of them from {from_account} to {to_account}"],
              compute: { argument: "amount", is: "sum", of: "list", field: "due" },
            },
          ],
        ],
      },
      {
        name: "share",
        motive: ["We went out."],
        turns: [
          [spent],
          [
            {
              tool: "budget_update_expense",
              say: ["{parts} of us share that, so put down my part only"],
              from: { expense_id: "bill.expense_id" },
              compute: { argument: "amount", is: "share", of: "bill.amount", parts: [2, 3, 4] },
            },
          ],
        ],
      },
      {
        name: "rounded",
        motive: ["I want to save."],
        turns: [
          [
            {
              as: "b",
              tool: "banking_get_balance",
              say: [{ say: "what is on {account_id}?", reply: ["{balance} euros."] }],
            },
          ],
          [
            {
              tool: "banking_transfer",
              say: ["move {percent} percent of it to {to_account}, rounded to whole euros"],
              from: { from_account: "b.account_id" },
              compute: {
                argument: "amount",
                is: "share",
                of: "b.balance",
                percent: [7, 13],
                round: 0,
              },
            },
          ],
        ],
      },
      {
        name: "rows",
        motive: ["My drafts have piled up."],
        turns: [
          [list("which of my invoices are drafts?", "payments_list_invoices", { status: "draft" })],
          [
            {
              tool: "payments_void_invoice",
              say: ["void all of those under {limit} euros"],
              rows: {
                argument: "invoice_id",
                of: "list",
                where: { field: "total", is: "under", limit: [300, 500, 800, 1000] },
              },
            },
          ],
        ],
      },
      {
        name: "each-row",
        motive: ["Everything has become dearer."],
        turns: [
          [list("what are my budgets?", "budget_list_categories")],
          [
            {
              tool: "budget_set_category_limit",
              say: [
                "raise the limit of all those over 120 euros by {percent} percent, rounded to euros",
              ],
              rows: {
                argument: "category_id",
                of: "list",
                where: { field: "limit", is: "over", limit: [120] },
              },
              compute: {
                argument: "limit",
                is: "more",
                of: "row.limit",
                percent: [10, 20],
                round: 0,
              },
            },
          ],
        ],
      },
      {
        name: "without",
        motive: ["My inbox is full."],
        turns: [
          [list("what is in my inbox?", "email_search_mail", { folder: "Inbox" })],
          [
            {
              tool: "email_archive_thread",
              say: ["archive all of those that I have read"],
              rows: {
                argument: "thread_id",
                of: "list",
                where: { field: "unread", equals: null },
              },
            },
          ],
        ],
      },
      {
        name: "two-criteria",
        motive: ["I want to look into an invoice."],
        turns: [
          [list("which of my invoices are open?", "payments_list_invoices", { status: "open" })],
          [
            {
              tool: "payments_get_invoice",
              say: ["show me the smallest of those over {limit} euros"],
              choose: {
                argument: "invoice_id",
                of: "list",
                by: "total",
                order: "least",
                where: { field: "total", is: "over", limit: [300, 500, 800, 1000] },
              },
            },
          ],
        ],
      },
    ],
  }),
  "test.json",
  catalog,
);

let tasks: Task[];
/** Those where a row of a list is chosen by two criteria, without computing. */
let choices: Task[];
beforeAll(async () => {
  const servers = ["banking", "budget", "payments", "email"];
  const made = await synthesizeTasks(120, {
    preset: "paper",
    menu: "realistic",
    servers,
    scenarios,
  });
  tasks = made.tasks.filter(it => it.knobs["computedValues"] ?? it.knobs["chosenRows"]);
  choices = made.tasks.filter(({ knobs, goals }) =>
    goals.some(
      ({ calls }) =>
        knobs["scenario"] === "two-criteria" &&
        calls.some(it => it.name === "payments_get_invoice"),
    ),
  );
});

const select = (scenario: string): Task[] => {
  const selected = tasks.filter(it => it.knobs["scenario"] === scenario);
  expect(selected.length, scenario).toBeGreaterThan(0);
  return selected;
};

/** The arguments of the calls of a tool, with their results. */
const listMade = ({ trajectory }: Task, tool: string) =>
  listCalls(trajectory)
    .filter(it => it.name === tool && it.outcome.kind === "ok")
    .map(it => ({ args: it.arguments as JsonObject, value: getCallValue(it) as JsonObject }));

const getLastTurn = ({ turns, goals }: Task, tool: string) =>
  turns[goals.find(it => it.calls.some(call => call.name === tool))!.turn]!;

describe("a computed value", () => {
  test("is the sum of the rows that have one, and is not said", () => {
    for (const task of select("sum")) {
      const [payees] = listMade(task, "banking_list_payees");
      const due = (payees!.value["payees"] as JsonObject[]).map(it => Number(it["due"] ?? 0));
      const [transfer] = listMade(task, "banking_transfer");
      expect(transfer!.args["amount"]).toBeCloseTo(due.reduce((a, b) => a + b));
      expect(task.turns.map(it => it.user).join(" ")).not.toMatch(/\d\d/);
    }
  });

  test("is one of the equal parts that the user names, and has no more than two decimals", () => {
    const parts: Record<string, number> = { two: 2, three: 3, four: 4 };
    for (const task of select("share")) {
      const { user } = getLastTurn(task, "budget_update_expense");
      const count = parts[/\b(two|three|four) of us/i.exec(user)![1]!.toLowerCase()]!;
      const [bill] = listMade(task, "budget_add_expense");
      const [update] = listMade(task, "budget_update_expense");
      const amount = Number(update!.args["amount"]);
      expect(amount * count).toBeCloseTo(Number(bill!.args["amount"]), 8);
      expect(amount).toBe(Math.round(amount * 100) / 100);
    }
  });

  test("is rounded where the user says so", () => {
    for (const task of select("rounded")) {
      const { user } = getLastTurn(task, "banking_transfer");
      const percent = Number(/(\d+) percent/.exec(user)![1]);
      const balance = Number(listMade(task, "banking_get_balance")[0]!.value["balance"]);
      const amount = listMade(task, "banking_transfer")[0]!.args["amount"];
      expect(amount).toBe(Math.round((balance * percent) / 100));
    }
  });
});

test("the same is done with every row for which the condition holds, and with no other", () => {
  for (const task of select("rows")) {
    const { user } = getLastTurn(task, "payments_void_invoice");
    const limit = Number(/under (?:€ ?)?([\d.]+)/.exec(user)![1]);
    const rows = listMade(task, "payments_list_invoices")[0]!.value["invoices"] as JsonObject[];
    const wanted = rows.filter(it => Number(it["total"]) < limit).map(it => it["invoice_id"]);
    const made = listMade(task, "payments_void_invoice").map(it => it.args["invoice_id"]);
    expect(made).toEqual(wanted);
    expect(wanted.length).toBeGreaterThan(1);
    expect(wanted.length).toBeLessThan(rows.length);
  }
});

test("each row gets the value that is computed from its own", () => {
  for (const task of select("each-row")) {
    const { user } = getLastTurn(task, "budget_set_category_limit");
    const [, over, percent] = /over (\d+) euros.* by (\d+) percent/.exec(user)!.map(Number);
    const rows = listMade(task, "budget_list_categories")[0]!.value["categories"] as JsonObject[];
    const wanted = rows
      .filter(it => Number(it["limit"]) > over!)
      .map(it => ({
        category_id: it["category_id"],
        limit: Math.round(Number(it["limit"]) * (1 + percent! / 100)),
      }));
    expect(wanted.length).toBeGreaterThan(1);
    expect(listMade(task, "budget_set_category_limit").map(it => it.args)).toEqual(wanted);
  }
});

test("a field that a row does not have is null", () => {
  for (const task of select("without")) {
    const rows = listMade(task, "email_search_mail")[0]!.value["threads"] as JsonObject[];
    const wanted = rows.filter(it => it["unread"] === undefined).map(it => it["thread_id"]);
    const made = listMade(task, "email_archive_thread").map(it => it.args["thread_id"]);
    expect(made).toEqual(wanted);
    expect(wanted.length).toBeLessThan(rows.length);
  }
});

test("a row is chosen by two criteria", () => {
  expect(choices.length).toBeGreaterThan(0);
  for (const task of choices) {
    const { user } = getLastTurn(task, "payments_get_invoice");
    const over = Number(/over (?:€ ?)?([\d.]+)/.exec(user)![1]);
    const rows = listMade(task, "payments_list_invoices")[0]!.value["invoices"] as JsonObject[];
    const fitting = rows.filter(it => Number(it["total"]) > over);
    const least = fitting.toSorted((a, b) => Number(a["total"]) - Number(b["total"]))[0]!;
    expect(fitting.length).toBeLessThan(rows.length);
    expect(listMade(task, "payments_get_invoice")[0]!.args["invoice_id"]).toBe(least["invoice_id"]);
  }
});

test("the teacher succeeds, and another value or a row left out does not", async () => {
  const createAttempt = createAttemptFactory(catalog);
  for (const task of tasks) {
    const play = async (policy: ReturnType<typeof createTeacherPolicy>) =>
      getSuccess(await playTask(task, policy, catalog, createAttempt)).achieved;
    expect(await play(createTeacherPolicy(task)), task.id).toBe(true);
    for (const it of [oneWrongValue, skipper])
      expect(await play(createSolverPolicy(it, task)), `${it.name} ${task.id}`).toBe(false);
  }
});
