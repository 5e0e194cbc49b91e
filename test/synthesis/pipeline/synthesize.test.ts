/** Three hundred tasks of the student preset have the properties that training relies on. */
import { beforeAll, describe, expect, test } from "vitest";
import { createAuditor } from "../../../src/evaluation/audit.ts";
import { judges } from "../../../src/evaluation/solvers/solvers.ts";
import { createTeacherPolicy } from "../../../src/policy/scripted.ts";
import { rollout } from "../../../src/policy/rollout.ts";
import { getDeclarations } from "../../../src/synthesis/graph/declarations.ts";
import { containsToken } from "../../../src/trajectory/valueMatching.ts";
import { ReportCounts } from "../../../src/synthesis/pipeline/report/reportCounts.ts";
import { computeStudentSplit } from "../../../src/synthesis/pipeline/split.ts";
import {
  computeCallBudget,
  type Task,
  formatTaskLine,
  taskLineSchema,
} from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import { readSharedTasks, synthesizeTasks, type TaskSet } from "../synthesizeTasks.ts";

let tasks: TaskSet["tasks"];
let rejected: TaskSet["rejected"];
beforeAll(async () => {
  ({ tasks, rejected } = await readSharedTasks("student"));
});

const reportOptions = {
  count: 300,
  seed: 11,
  servers: ["banking"],
  teacher: "graph",
  preset: "student",
  menu: "chain",
};

const getShare = (is: (it: Task) => boolean) => tasks.filter(is).length / tasks.length;

test("the same seed gives the same bytes, another seed other tasks", async () => {
  const again = await synthesizeTasks(20);
  expect(JSON.stringify(again.tasks)).toBe(JSON.stringify(tasks.slice(0, 20)));
  const other = await synthesizeTasks(20, { seed: 12 });
  expect(other.tasks.map(it => it.turns[0]!.user)).not.toEqual(
    again.tasks.map(it => it.turns[0]!.user),
  );
});

test("every task fits its schema", () => {
  for (const it of tasks)
    expect(taskLineSchema.safeParse(JSON.parse(formatTaskLine(it))).error).toBeUndefined();
});

test("a rollout of the teacher policy on the task's menu gives the same events", async () => {
  for (const task of tasks.slice(0, 60)) {
    const { events } = (
      await rollout(task, createTeacherPolicy(task), catalog, { maxMessages: 40 })
    ).trajectory;
    const withoutPatches = events.map(it =>
      it.kind === "call" ? { ...it, patches: undefined } : it,
    );
    expect(JSON.parse(JSON.stringify(withoutPatches))).toEqual(task.trajectory.events);
  }
});

describe("solvers", () => {
  test("reach every task if they are right, and none if they are wrong", async () => {
    const auditTask = createAuditor(catalog, judges);
    const misjudged: string[] = [];
    for (const task of tasks.slice(0, 100)) {
      const audit = await auditTask(task);
      if (audit.kind !== "audited") throw new Error(`${task.id}: ${audit.why}`);
      for (const { solver, success, differs } of audit.attempts)
        if (solver.kind === "right" ? !success : success && differs)
          misjudged.push(`${solver.name} on ${task.id}`);
    }
    expect(misjudged).toEqual([]);
  });

  test("reject a few tasks, and the report counts them", () => {
    const flawed = rejected.filter(it => it.reason === "solver");
    expect(flawed.length).toBeLessThan(0.1 * tasks.length);
    const counts = new ReportCounts();
    for (const it of rejected) counts.countRejected(it);
    const { solvers: bySolver = {}, rejected: byReason } = counts.createReport(reportOptions);
    expect(byReason["solver"] ?? 0).toBe(flawed.length);
    expect(Object.values(bySolver).reduce((sum, n) => sum + n, 0)).toBe(flawed.length);
    for (const { solver, why } of flawed) expect(why.startsWith(`${solver} `)).toBe(true);
  });
});

describe("the user", () => {
  test("says no tool names and only ids that are declared as spoken", () => {
    for (const { turns, goals } of tasks) {
      const text = turns.map(it => it.user).join("\n");
      expect([...catalog.tools.keys()].filter(it => containsToken(text, it))).toEqual([]);
      for (const call of goals.flatMap(it => it.calls)) {
        const { inputs } = getDeclarations(
          catalog.getServer(catalog.tools.get(call.name)!.server),
        ).get(call.name)!;
        for (const { key, isSpoken } of inputs)
          if (!isSpoken && call.arguments[key] !== undefined)
            expect(
              containsToken(text, call.arguments[key] as string),
              `${call.arguments[key] as string} in ${text}`,
            ).toBe(false);
      }
    }
  });

  test("leaves no slot open, begins with a word or a value, and gets a reply", () => {
    for (const { user, reply } of tasks.flatMap(it => it.turns)) {
      expect(`${user}${reply}`).not.toMatch(/[{}|\u0000-\u0008]|undefined|\bobject\b|  |\.\.$/);
      expect(user).toMatch(/^["~/€“#]*[\p{L}\d.]/u);
      expect(reply).not.toBe("");
    }
  });

  test("writes short turns", () => {
    for (const { user } of tasks.flatMap(it => it.turns)) expect(user.length).toBeLessThan(420);
  });
});

test("goals are the successful calls, in an order that respects their edges, each in its turn", () => {
  for (const { goals, trajectory, turns, budget } of tasks) {
    expect(
      goals.flatMap(it => it.calls).map(it => ({ name: it.name, arguments: it.arguments })),
    ).toEqual(
      listCalls(trajectory)
        .filter(it => it.outcome.kind === "ok")
        .map(it => ({ name: it.name, arguments: it.arguments })),
    );
    for (const [i, { after }] of goals.entries()) expect(after.every(it => it.goal < i)).toBe(true);
    expect(turns.flatMap((it, turn) => it.goals.map(goal => goals[goal]!.turn === turn))).toEqual(
      goals.map(() => true),
    );
    expect(budget.calls).toBe(computeCallBudget(goals));
    expect(budget.assistantMessages).toBeGreaterThanOrEqual(
      goals.flatMap(it => it.calls).length + turns.length,
    );
  }
});

test("a menu of kind chain has the called tools and others, at most eight in total", () => {
  for (const { menu, goals, trajectory, servers, knobs } of tasks) {
    const names = menu.map(it => it.name);
    expect(names.length).toBeLessThanOrEqual(8);
    expect(new Set(names).size).toBe(names.length);
    expect(trajectory.header.menu).toEqual(names);
    for (const it of goals.flatMap(goal => goal.calls)) expect(names).toContain(it.name);
    for (const it of names)
      expect(servers.map(server => server.name)).toContain(catalog.tools.get(it)!.server);
    expect(knobs["menu"]).toBe("chain");
  }
  expect(
    getShare(it => (it.knobs["company"] as number) + (it.knobs["distractors"] as number) > 0),
  ).toBeGreaterThan(0.9);
});

test("a menu of kind full offers every tool of the server", async () => {
  const full = await synthesizeTasks(12, { menu: "full", servers: ["banking"] });
  const all = [...catalog.getServer("banking").tools.keys()].toSorted();
  expect(
    full.tasks
      .filter(it => it.kind === "normal")
      .map(it => it.menu.map(entry => entry.name).toSorted()),
  ).toEqual(full.tasks.flatMap(it => (it.kind === "normal" ? [all] : [])));
});

test("the shares are close to those of the preset", () => {
  const checkNear = (actual: number, expected: number, tolerance: number) =>
    expect(Math.abs(actual - expected), `${actual} is about ${expected}`).toBeLessThan(tolerance);
  checkNear(
    getShare(it => it.kind === "irrelevant"),
    0.05,
    0.03,
  );
  checkNear(
    getShare(it => it.info === "missing"),
    0.2,
    0.07,
  );
  checkNear(
    getShare(it => it.info === "minimal"),
    0.2,
    0.07,
  );
  checkNear(
    getShare(it => it.turns.length === 1),
    0.4,
    0.12,
  );
  checkNear(
    getShare(it => it.split === "heldout-chain"),
    0.2,
    0.09,
  );
  checkNear(
    getShare(it => it.menu.some(entry => entry.enumsStripped)),
    0.2,
    0.15,
  );
  expect(Math.max(...tasks.map(it => it.turns.length))).toBe(3);
});

test("failed calls are refusals, and the conversation recovers from them", () => {
  const failed = tasks.filter(it =>
    listCalls(it.trajectory).some(call => call.outcome.kind !== "ok"),
  );
  expect(failed.length).toBeGreaterThan(5);
  for (const { provenance, trajectory } of failed) {
    expect(provenance.log.join("\n")).toMatch(/-> recover /);
    for (const call of listCalls(trajectory))
      expect(["ok", "refused"]).toContain(call.outcome.kind);
  }
});

test("an irrelevant task has no goals and no calls, and its tool is not on the menu", () => {
  for (const it of tasks.filter(task => task.kind === "irrelevant")) {
    expect(listCalls(it.trajectory)).toEqual([]);
    expect(it.goals).toEqual([]);
    expect(it.menu.map(entry => entry.name)).not.toContain(it.chain.at(-1));
  }
  expect(tasks.every(it => (it.kind === "irrelevant") === (it.goals.length === 0))).toBe(true);
});

test("the split depends on the called tools only, and can be requested", async () => {
  for (const it of tasks)
    if (it.goals.length > 0) expect(it.split).toBe(computeStudentSplit(it).split);
  const heldOut = await synthesizeTasks(15, { split: "heldout-chain" });
  expect(heldOut.tasks.map(it => it.split)).toEqual(heldOut.tasks.map(() => "heldout-chain"));
});

test("a rejected attempt has a reason and a log", () => {
  expect(rejected.length).toBeGreaterThan(0);
  for (const it of rejected) {
    expect(it.why).not.toBe("");
    if (!["chain"].includes(it.reason)) expect(it.log.length).toBeGreaterThan(0);
  }
});

test("tasks are spread over the servers", () => {
  for (const name of ["banking", "calendar", "filesystem"])
    expect(getShare(it => it.servers[0]!.name === name)).toBeGreaterThan(0.2);
});
