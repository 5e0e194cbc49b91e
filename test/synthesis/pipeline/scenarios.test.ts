/** Conversations that follow scenarios: conditions that hold or not, changes of mind, continuity. */
import { beforeAll, describe, expect, test } from "vitest";
import { conditionIgnorer } from "../../../src/evaluation/solvers/wrongSolvers.ts";
import { createSolverPolicy } from "../../../src/evaluation/solvers/solver.ts";
import { playTask } from "../../evaluation/playTask.ts";
import { getSuccess } from "../../../src/reward/success.ts";
import { parseScenarios } from "../../../src/synthesis/text/scenarios.ts";
import { createAttemptFactory } from "../../../src/trajectory/attempt.ts";
import { type Task, formatTaskLine } from "../../../src/trajectory/task.ts";
import { parseTask } from "../../../src/trajectory/file.ts";
import { catalog } from "../../contracts/transports.ts";
import { readSharedTasks, synthesizeTasks } from "../synthesizeTasks.ts";

const scenarios = parseScenarios(
  JSON.stringify({
    format: "prove/scenarios@1",
    scenarios: [
      {
        name: "save-if-enough",
        motive: ["I want to save a little."],
        turns: [
          [
            {
              as: "look",
              tool: "banking_get_balance",
              say: [{ say: "what is on {account_id}?", reply: ["{balance} euros."] }],
            },
            {
              tool: "banking_transfer",
              say: ["if it is more than {limit} euros, move {amount} to {to_account}"],
              from: { from_account: "look.account_id" },
              if: {
                of: "look",
                field: "balance",
                is: "over",
                else: ["That is not more than {limit} euros."],
              },
            },
          ],
          [
            {
              as: "plan",
              tool: "banking_schedule_transfer",
              say: ["plan {amount} from there to {to_account} for {date}"],
              from: { from_account: "look.account_id" },
            },
          ],
          [
            {
              tool: "banking_cancel_scheduled_transfer",
              say: ["cancel that transfer again"],
              from: { scheduled_id: "plan.scheduled_id" },
              revises: "plan",
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
beforeAll(async () => {
  const paper = {
    preset: "paper",
    menu: "realistic",
    servers: ["banking"],
    scenarios,
    seed: 2,
  } as const;
  tasks = (await synthesizeTasks(120, paper)).tasks.filter(it => it.knobs["scenario"]);
});

const listWrites = (task: Task, turn: number): string[] =>
  task.goals.filter(it => it.turn === turn).flatMap(it => it.calls.map(call => call.name));

const findTurn = ({ turns }: Task): number => turns.findIndex(it => / more than /.test(it.user));

describe("a condition", () => {
  test("that holds makes the write a goal", () => {
    const met = tasks.filter(it => it.knobs["conditions"] === "met");
    expect(met.length).toBeGreaterThan(3);
    for (const it of met) {
      expect(listWrites(it, findTurn(it))).toContain("banking_transfer");
      expect(it.turns[findTurn(it)]!.conditional).toBeUndefined();
    }
  });

  test("that does not hold leaves the write out, and the assistant says why", () => {
    const notMet = tasks.filter(it => it.knobs["conditions"] === "not met");
    expect(notMet.length).toBeGreaterThan(3);
    for (const it of notMet) {
      const turn = it.turns[findTurn(it)]!;
      expect(listWrites(it, findTurn(it))).not.toContain("banking_transfer");
      // not where the bank would refuse it anyway
      for (const { name } of turn.conditional ?? [])
        expect(it.menu.map(tool => tool.name)).toContain(name);
      expect(turn.reply).toMatch(/not more than [\d., ]+ euros/);
    }
  });

  test("must not be ignored", async () => {
    const createAttempt = createAttemptFactory(catalog);
    const conditional = tasks.filter(task => task.turns.some(turn => turn.conditional));
    expect(conditional.length).toBeGreaterThan(3);
    for (const it of conditional) {
      const policy = createSolverPolicy(conditionIgnorer, it);
      const attempt = await playTask(it, policy, catalog, createAttempt);
      expect(getSuccess(attempt).achieved).toBe(false);
    }
  });

  test("is kept in the tasks file", () => {
    const task = tasks.find(it => it.turns.some(turn => turn.conditional))!;
    expect(parseTask(JSON.parse(formatTaskLine(task)), { file: "t" }).turns).toEqual(task.turns);
  });
});

test("what is done and then taken back is a goal in both turns", () => {
  const revised = tasks.filter(it => it.knobs["changesOfMind"] === 1);
  expect(revised.length).toBeGreaterThan(3);
  for (const { goals } of revised) {
    const names = goals.flatMap(it => it.calls.map(call => call.name));
    const planned = names.indexOf("banking_schedule_transfer");
    expect(planned).toBeGreaterThanOrEqual(0);
    expect(names.lastIndexOf("banking_cancel_scheduled_transfer")).toBeGreaterThan(planned);
  }
});

test("later turns are about what earlier ones were about", () => {
  const normal = tasks.filter(it => it.kind === "normal");
  for (const { goals, turns } of normal.filter(it => it.turns.length > 2)) {
    const last = goals.filter(it => it.turn === turns.length - 1);
    expect(last.some(it => it.after.some(edge => goals[edge.goal]!.turn < turns.length - 1))).toBe(
      true,
    );
  }
});

describe("conversations with something that cannot be done", () => {
  test("begin with the same motive and requests", () => {
    for (const kind of ["clarify", "irrelevant"]) {
      const following = tasks.filter(it => it.kind === kind);
      expect(following.length).toBeGreaterThan(0);
      for (const { turns } of following)
        expect(turns[0]!.user).toMatch(/what(?: i|')s on|account/i);
    }
  });

  test("call nothing for a first turn whose tools are all missing", () => {
    for (const { turns, goals, menu, knobs } of tasks.filter(it => it.kind === "irrelevant")) {
      expect(goals).toEqual([]);
      expect(knobs["conditions"]).toBeUndefined();
      const offered = menu.map(it => it.name);
      for (const { name } of turns.flatMap(it => it.unmet ?? []))
        expect(offered).not.toContain(name);
    }
  });

  test("go on with the scenario when the user brings the tool", async () => {
    const { tasks: all } = await readSharedTasks("realistic");
    const brought = all.filter(it => it.knobs["broughtTool"] && it.knobs["scenario"]);
    expect(brought.length).toBeGreaterThan(0);
    const goesOn = ({ turns, goals }: Task) =>
      goals.some(it => it.turn > turns.findIndex(turn => turn.adds));
    expect(brought.some(goesOn)).toBe(true);
  });
});

test("a value is left out in later turns too", async () => {
  const { tasks: all } = await readSharedTasks("realistic");
  const missing = all.filter(it => it.knobs["scenario"] && it.info === "missing");
  const asking = missing.map(it =>
    it.turns.findIndex(({ unmet = [] }) => unmet.some(call => call.asks !== undefined)),
  );
  expect(asking.every(it => it >= 0)).toBe(true);
  expect(asking.some(it => it > 0)).toBe(true);
});

test("users say the values of a scenario, also where they leave another one out or add it", async () => {
  const titles = ["Old cookbooks", "Travel guides from the sixties"];
  const selling = parseScenarios(
    JSON.stringify({
      format: "prove/scenarios@1",
      scenarios: [
        {
          name: "sell",
          motive: ["I am clearing out."],
          turns: [
            [
              {
                tool: "marketplace_create_listing",
                say: ["offer {title} under {category}, {condition}, from {start_price}"],
                values: { title: titles, category: ["books"] },
              },
            ],
            [{ tool: "marketplace_list_my_listings", say: ["what do I offer now?"] }],
          ],
        },
      ],
    }),
    "test.json",
    catalog,
  );
  const made = await synthesizeTasks(60, {
    preset: "paper",
    menu: "realistic",
    servers: ["marketplace"],
    scenarios: selling,
  });
  const sold = made.tasks.flatMap(({ id, turns, goals }) =>
    goals
      .flatMap(it => it.calls)
      .filter(it => titles.some(title => title === it.arguments["title"]))
      .map(call => ({ id, call, said: turns.map(it => it.user).join(" ") })),
  );
  expect(sold.length).toBeGreaterThan(10);
  for (const { id, call, said } of sold) expect(said, id).toContain(call.arguments["title"]);
});
