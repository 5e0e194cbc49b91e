/** Three hundred tasks, looked at as somebody who has to train on them would. */
import { beforeAll, describe, expect, test } from "vitest";
import { createTeacherPolicy } from "../../../src/policy/scripted.ts";
import { rollout } from "../../../src/policy/rollout.ts";
import { getDeclarations } from "../../../src/synthesis/graph/declarations.ts";
import { containsToken } from "../../../src/synthesis/text/containsToken.ts";
import { computeSplit } from "../../../src/synthesis/pipeline/split.ts";
import { computeCallBudget, type Task } from "../../../src/trajectory/task.ts";
import { formatTaskLine, taskLineSchema } from "../../../src/trajectory/taskLine.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/doors.ts";
import { made } from "../made.ts";

let tasks: Task[];
let rejected: Awaited<ReturnType<typeof made>>["rejected"];
beforeAll(async () => {
  ({ tasks, rejected } = await made(300));
});

const share = (is: (it: Task) => boolean) => tasks.filter(is).length / tasks.length;

test("the same seed gives the same bytes, another seed other tasks", async () => {
  const again = await made(40);
  expect(JSON.stringify(again.tasks)).toBe(JSON.stringify(tasks.slice(0, 40)));
  const other = await made(40, { seed: 12 });
  expect(other.tasks.map(it => it.turns[0]!.user)).not.toEqual(
    again.tasks.map(it => it.turns[0]!.user),
  );
});

test("every task fits its schema", () => {
  for (const it of tasks)
    expect(taskLineSchema.safeParse(JSON.parse(formatTaskLine(it))).error).toBeUndefined();
});

test("the teacher does it again on the task's own menu, byte for byte", async () => {
  for (const task of tasks.slice(0, 60)) {
    const { events } = (
      await rollout(task, createTeacherPolicy(task), catalog, { maxMessages: 40 })
    ).trajectory;
    const bare = events.map(it => (it.kind === "call" ? { ...it, patches: undefined } : it));
    expect(JSON.parse(JSON.stringify(bare))).toEqual(task.trajectory.events);
  }
});

describe("a user", () => {
  test("says no ids but the ones people know, and names no tool", () => {
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

  test("leaves no slot open and begins like a person", () => {
    for (const { user, reply } of tasks.flatMap(it => it.turns)) {
      expect(`${user}${reply}`).not.toMatch(/[{}|\u0000-\u0008]|undefined|\bobject\b|  |\.\.$/);
      expect(user).toMatch(/^["~/€“#]*[\p{L}\d.]/u);
      expect(reply).not.toBe("");
    }
  });

  test("speaks in short turns", () => {
    for (const { user } of tasks.flatMap(it => it.turns)) expect(user.length).toBeLessThan(420);
  });
});

test("goals are the successful calls, in an order that respects their edges, each in its turn", () => {
  for (const { goals, trajectory, turns, budget } of tasks) {
    expect(goals.flatMap(it => it.calls)).toEqual(
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

test("a menu of kind chain holds what is called, other tools, and at most eight in all", () => {
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
    share(it => (it.knobs["company"] as number) + (it.knobs["distractors"] as number) > 0),
  ).toBeGreaterThan(0.9);
});

test("a menu of kind full offers every tool of the server", async () => {
  const full = await made(12, { menu: "full", servers: ["banking"] });
  const all = [...catalog.getServer("banking").tools.keys()].toSorted();
  expect(
    full.tasks
      .filter(it => it.kind === "normal")
      .map(it => it.menu.map(entry => entry.name).toSorted()),
  ).toEqual(full.tasks.flatMap(it => (it.kind === "normal" ? [all] : [])));
});

test("the mixture is about the paper's", () => {
  const near = (is: number, wanted: number, by: number) =>
    expect(Math.abs(is - wanted), `${is} is about ${wanted}`).toBeLessThan(by);
  near(
    share(it => it.kind === "irrelevant"),
    0.05,
    0.03,
  );
  near(
    share(it => it.info === "missing"),
    0.2,
    0.07,
  );
  near(
    share(it => it.info === "minimal"),
    0.2,
    0.07,
  );
  near(
    share(it => it.turns.length === 1),
    0.4,
    0.12,
  );
  near(
    share(it => it.split === "heldout-chain"),
    0.2,
    0.09,
  );
  near(
    share(it => it.menu.some(entry => entry.enumsStripped)),
    0.2,
    0.15,
  );
  expect(Math.max(...tasks.map(it => it.turns.length))).toBe(3);
});

test("calls fail for real reasons, and the talk goes on from there", () => {
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

test("a task without goals calls nothing and wants what is not on the menu", () => {
  for (const it of tasks.filter(task => task.kind === "irrelevant")) {
    expect(listCalls(it.trajectory)).toEqual([]);
    expect(it.goals).toEqual([]);
    expect(it.menu.map(entry => entry.name)).not.toContain(it.chain.at(-1));
  }
  expect(tasks.every(it => (it.kind === "irrelevant") === (it.goals.length === 0))).toBe(true);
});

test("splits follow from the tools alone, and a wish for one split is granted", async () => {
  for (const { goals, split } of tasks)
    if (goals.length > 0)
      expect(split).toBe(computeSplit(goals.flatMap(it => it.calls.map(call => call.name))));
  const held = await made(15, { split: "heldout-chain" });
  expect(held.tasks.map(it => it.split)).toEqual(held.tasks.map(() => "heldout-chain"));
});

test("what is turned down says why, with the way it took", () => {
  expect(rejected.length).toBeGreaterThan(0);
  for (const it of rejected) {
    expect(it.why).not.toBe("");
    if (!["chain"].includes(it.reason)) expect(it.log.length).toBeGreaterThan(0);
  }
});

test("every server gets about its share", () => {
  for (const name of ["banking", "calendar", "filesystem"])
    expect(share(it => it.servers[0]!.name === name)).toBeGreaterThan(0.2);
});
