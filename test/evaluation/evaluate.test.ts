/** The metrics of policies, from real rollouts. */
import { describe, expect, test } from "vitest";
import { computeChange } from "../../src/evaluation/metrics.ts";
import { evaluate } from "../../src/evaluation/evaluate.ts";
import { PolicyFault, type Policy } from "../../src/policy/policy.ts";
import { idlePolicy, createScriptedPolicy } from "../../src/policy/scripted.ts";
import { paperProfile, provePlusProfile } from "../../src/reward/profiles.ts";
import type { Task } from "../../src/trajectory/task.ts";
import {
  abstain,
  balance,
  call,
  calling,
  catalog,
  lookUp,
  moveFifty,
  moveTwice,
  readOnly,
  saying,
} from "../trajectory/sampleTasks.ts";

const tasks = await Promise.all([moveFifty(), moveTwice(), readOnly(), abstain()]);

/** Each task's own teacher, behind one policy. */
const teacher: Policy = {
  name: "scripted:teacher",
  async next({ header, events }) {
    const { trajectory } = tasks.find(it => it.id === header.task)!;
    const message = events.filter(it => it.kind === "assistant").length;
    const said = trajectory.events.find(it => it.kind === "assistant" && it.message === message);
    const calls = trajectory.events.flatMap(it =>
      it.kind === "call" && it.message === message
        ? [{ name: it.name, arguments: it.arguments }]
        : [],
    );
    return { text: said?.kind === "assistant" ? said.text : "", calls };
  },
};

test("the teacher: 1.3 on three tasks and 1 on the one without goals, (3·1.3 + 1)/4 = 1.225", async () => {
  const { metrics } = await evaluate(tasks, teacher, {
    catalog,
    profiles: [paperProfile, provePlusProfile],
  });
  expect(metrics).toMatchObject({
    attempts: 4,
    unscorable: 0,
    reward: { paper: expect.closeTo(1.225, 6), "prove-plus": expect.closeTo((3 * 2.3 + 1) / 4, 6) },
    parts: { validity: 1, coverage: 1, efficiency: 0, name: 1, argument: 1 },
    abstention: 1,
    success: 1,
    goalSuccess: 1,
    readOnlySuccess: 1,
    calls: 6 / 4,
    withinBudget: 1,
    lazy: 0,
  });
});

test("a policy that does nothing: 0 on tasks with goals, 1/4 of all tasks done", async () => {
  const { metrics } = await evaluate(tasks, idlePolicy, { catalog });
  expect(metrics).toMatchObject({
    reward: { paper: 0.25 },
    goalSuccess: 0,
    readOnlySuccess: 0,
    success: 0.25,
    abstention: 1,
    calls: 0,
  });
});

test("errors are shares of all calls, by kind", async () => {
  const messy = createScriptedPolicy("messy", [
    calling(
      { name: "", arguments: "{{" },
      call("rob"),
      call("get_balance"),
      call("get_balance", { account_id: "acc_9" }),
      balance,
    ),
    saying("?"),
  ]);
  const { metrics, rows } = await evaluate(tasks.slice(0, 1), messy, { catalog });
  expect(metrics.errors).toEqual({ syntax: 0.2, tool: 0.2, arguments: 0.2, refused: 0.2 });
  expect(rows[0]).toMatchObject({ calls: 5, budget: 3 });
});

test("one wanted call and no more is lazy; asking again is repeating", async () => {
  const lazy = await evaluate(tasks.slice(0, 2), createScriptedPolicy("lazy", [calling(lookUp)]), {
    catalog,
  });
  expect(lazy.metrics).toMatchObject({ lazy: 0.5, repeated: 0 });
  const again = await evaluate(
    tasks.slice(2, 3),
    createScriptedPolicy("again", [calling(balance, balance), calling(balance)]),
    { catalog },
  );
  expect(again.metrics.repeated).toBeCloseTo(2 / 3, 6);
});

test("tokens are counted where the policy reports them, speed where a clock is given", async () => {
  const counted = createScriptedPolicy("counted", [
    { ...saying("Hello there"), tokens: [1, 2, 3], mask: [1, 1, 1] },
  ]);
  let now = 0;
  const { metrics } = await evaluate(tasks.slice(2), counted, { catalog, clock: () => (now += 4) });
  expect(metrics).toMatchObject({ tokensPerRollout: 3, rolloutsPerSecond: 0.5 });
  expect((await evaluate(tasks.slice(2), idlePolicy, { catalog })).metrics).not.toHaveProperty(
    "tokensPerRollout",
  );
});

test("what a fault cut off counts in no mean, and is said", async () => {
  const failing: Policy = {
    name: "failing",
    async next(conversation) {
      if (conversation.header.task === "t-read") throw new PolicyFault("the endpoint is down");
      return teacher.next(conversation);
    },
  };
  const { metrics, rows } = await evaluate(tasks, failing, { catalog });
  expect(metrics).toMatchObject({
    attempts: 4,
    unscorable: 1,
    success: 1,
    reward: { paper: expect.closeTo((2 * 1.3 + 1) / 3, 6) },
  });
  expect(rows[2]).toMatchObject({
    task: "t-read",
    unscorable: "the endpoint is down",
    breakdowns: {},
  });
});

test("rows stand in the tasks' order, however many attempts run at once", async () => {
  const many: Task[] = Array.from({ length: 20 }, (_, i) => tasks[i % 4]!);
  let running = 0;
  let most = 0;
  const slow: Policy = {
    name: "slow",
    async next(conversation) {
      most = Math.max(most, ++running);
      await new Promise(resolve => setImmediate(resolve));
      running--;
      return teacher.next(conversation);
    },
  };
  const { rows } = await evaluate(many, slow, { catalog, concurrency: 5 });
  expect(rows.map(it => it.task)).toEqual(many.map(it => it.id));
  expect(most).toBe(5);
});

test("an abort rejects", async () => {
  await expect(
    evaluate(tasks, teacher, { catalog, signal: AbortSignal.abort(new Error("enough")) }),
  ).rejects.toThrow("enough");
});

describe("a change", () => {
  test("is paired by task: (1.3 + 1.3 + 1.3 + 0)/4 = .975 more than doing nothing", async () => {
    const before = await evaluate(tasks, idlePolicy, { catalog });
    const after = await evaluate(tasks.toReversed(), teacher, { catalog });
    const interval = computeChange(before.rows, after.rows, it => it.breakdowns["paper"]!.total);
    // s = .65, t(3) = 3.1824: .975 ± 3.1824·.65/2
    expect(interval).toMatchObject({
      mean: expect.closeTo(0.975, 6),
      low: expect.closeTo(0.975 - 1.0343, 3),
      high: expect.closeTo(0.975 + 1.0343, 3),
      n: 4,
    });
  });
});
