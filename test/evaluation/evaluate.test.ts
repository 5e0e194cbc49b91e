/** The metrics of policies, from real rollouts. */
import { describe, expect, test } from "vitest";
import { computeChange } from "../../src/evaluation/compare.ts";
import { computeSlices } from "../../src/evaluation/metrics.ts";
import { createSeenTasks, listGoalTools } from "../../src/trajectory/seenTasks.ts";
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

const options = { catalog, profiles: [paperProfile] };

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

/** Looks up the balance again and again. */
const readsForever: Policy = {
  name: "reads-forever",
  next: async () => calling(balance),
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
  const { metrics } = await evaluate(tasks, idlePolicy, options);
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
  const { metrics, rows } = await evaluate(tasks.slice(0, 1), messy, options);
  expect(metrics.errors).toEqual({ syntax: 0.2, tool: 0.2, arguments: 0.2, refused: 0.2 });
  expect(rows[0]).toMatchObject({ calls: 5, budget: 3 });
});

test("one wanted call and no more is lazy; asking again is repeating", async () => {
  const lazy = await evaluate(
    tasks.slice(0, 2),
    createScriptedPolicy("lazy", [calling(lookUp)]),
    options,
  );
  expect(lazy.metrics).toMatchObject({ lazy: 0.5, repeated: 0 });
  const again = await evaluate(
    tasks.slice(2, 3),
    createScriptedPolicy("again", [calling(balance, balance), calling(balance)]),
    options,
  );
  expect(again.metrics.repeated).toBeCloseTo(2 / 3, 6);
});

test("tokens are counted where the policy reports them, speed where a clock is given", async () => {
  const counted = createScriptedPolicy("counted", [
    { ...saying("Hello there"), tokens: [1, 2, 3], mask: [1, 1, 1] },
  ]);
  let now = 0;
  const { metrics } = await evaluate(tasks.slice(2), counted, {
    ...options,
    clock: () => (now += 4),
  });
  expect(metrics).toMatchObject({ tokensPerRollout: 3, attemptsPerSecond: 0.5 });
  expect((await evaluate(tasks.slice(2), idlePolicy, options)).metrics).not.toHaveProperty(
    "tokensPerRollout",
  );
});

test("a bug in one attempt does not end the others, and is reported", async () => {
  const bug = new TypeError("x is undefined");
  const failing: Policy = {
    name: "failing",
    async next(conversation) {
      if (conversation.header.task === "t-read") throw bug;
      return teacher.next(conversation);
    },
  };
  const bugs: unknown[] = [];
  const faults: unknown[] = [];
  const { metrics, rows } = await evaluate(tasks, failing, {
    ...options,
    onBug: it => bugs.push(it),
    onRow: (_, { events }) => faults.push(events.at(-1)),
  });
  expect(bugs).toEqual([bug]);
  expect(metrics).toMatchObject({ attempts: 4, unscorable: 1, success: 1 });
  expect(rows[2]).toMatchObject({
    task: "t-read",
    unscorable: "PROVE has a bug, please report it (TypeError: x is undefined)",
  });
  expect(faults[2]).toMatchObject({ kind: "ended", by: "fault" });
});

test("what a fault cut off counts in no mean, and is said", async () => {
  const failing: Policy = {
    name: "failing",
    async next(conversation) {
      if (conversation.header.task === "t-read") throw new PolicyFault("the endpoint is down");
      return teacher.next(conversation);
    },
  };
  const { metrics, rows } = await evaluate(tasks, failing, options);
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
  const { rows } = await evaluate(many, slow, { ...options, concurrency: 5 });
  expect(rows.map(it => it.task)).toEqual(many.map(it => it.id));
  expect(most).toBe(5);
});

test("an abort rejects", async () => {
  await expect(
    evaluate(tasks, teacher, { ...options, signal: AbortSignal.abort(new Error("enough")) }),
  ).rejects.toThrow("enough");
});

describe("a change", () => {
  test("is paired by task: (1.3 + 1.3 + 1.3 + 0)/4 = .975 more than doing nothing", async () => {
    const before = await evaluate(tasks, idlePolicy, options);
    const after = await evaluate(tasks.toReversed(), teacher, options);
    const interval = computeChange(before.rows, [after.rows], it => it.breakdowns["paper"]!.total);
    expect(interval).toMatchObject({ mean: expect.closeTo(0.975, 6), n: 4, clusters: 4, runs: 1 });
  });
});

describe("several attempts per task", () => {
  test("mean@2 counts attempts, pass@2 tasks", async () => {
    // the second attempt at each task does nothing, which is right for the task without goals
    const everySecond: Policy = {
      name: "every-second",
      next: conversation =>
        conversation.header.id.endsWith("/1")
          ? idlePolicy.next(conversation)
          : teacher.next(conversation),
    };
    const { metrics, rows } = await evaluate(tasks, everySecond, { ...options, samples: 2 });
    expect(rows.map(it => it.task)).toEqual(tasks.flatMap(it => [it.id, it.id]));
    expect(metrics).toMatchObject({ attempts: 8, samples: 2, success: 5 / 8, pass: 1 });
    expect(metrics.intervals.pass).toMatchObject({ mean: 1, n: 4 });
    expect(computeChange(rows, [rows], it => Number(it.success))).toMatchObject({ mean: 0, n: 4 });
  });
});

test("an attempt that a limit cut off is no success, although the goals are met", async () => {
  const { metrics, rows } = await evaluate(tasks.slice(2, 3), readsForever, options);
  expect(rows[0]).toMatchObject({ isCut: true, success: false });
  expect(metrics).toMatchObject({ cut: 1, success: 0 });
});

test("slices have the attempts with the same split, server, calls, kind or knob", async () => {
  const { rows } = await evaluate(tasks, idlePolicy, {
    ...options,
    seen: createSeenTasks([listGoalTools(tasks[0])], []),
  });
  const slices = computeSlices(rows);
  const find = (by: string, is: string) => slices.find(it => it.by === by && it.is === is);
  expect(find("kind", "abstain")).toMatchObject({ attempts: 1, success: 1 });
  expect(find("kind", "normal")).toMatchObject({ attempts: 3, success: 0, reward: { paper: 0 } });
  expect(slices.filter(it => it.by === "split").map(it => it.attempts)).toEqual([4]);
});
