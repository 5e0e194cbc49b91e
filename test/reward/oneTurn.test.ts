/** Attempts at one turn, after the teacher's turns: what they earn, and what counts as theirs. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openCatalog } from "../../src/environment/catalog.ts";
import type { AssistantMessage, Policy } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import {
  createScriptedPolicy,
  createTeacherPolicy,
  idlePolicy,
} from "../../src/policy/scripted.ts";
import {
  paperProfile,
  profiles,
  provePlusProfile,
  type Profile,
} from "../../src/reward/profiles.ts";
import type { Breakdown } from "../../src/reward/breakdown.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess } from "../../src/reward/success.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { synthesize } from "../../src/synthesis/pipeline/run/synthesize.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import { listSingleTurns } from "../../src/trajectory/oneTurn.ts";
import type { Task } from "../../src/trajectory/task.ts";
import {
  balance,
  calling,
  catalog,
  goal,
  moveTwice,
  saying,
  taskOf,
  transfer,
} from "../trajectory/sampleTasks.ts";

const createAttempt = createAttemptFactory(catalog);

/** The messages of a turn, after whatever the teacher said before. */
const createTurnPolicy = (task: Task, turn: number, own: readonly AssistantMessage[]): Policy => {
  const before = task.trajectory.events.findIndex(
    (it, i, all) =>
      it.kind === "user" && all.slice(0, i).filter(of => of.kind === "user").length === turn,
  );
  const given = task.trajectory.events
    .slice(0, before)
    .filter(it => it.kind === "assistant")
    .map(() => saying("the teacher's"));
  return createScriptedPolicy("test", [...given, ...own]);
};

async function attemptTurn(task: Task, turn: number, own: readonly AssistantMessage[]) {
  const { trajectory, finalState } = await rollout(
    task,
    createTurnPolicy(task, turn, own),
    catalog,
    { turn },
  );
  return createAttempt(task, trajectory, finalState);
}

function score(attempt: ReturnType<typeof createAttempt>, profile: Profile): Breakdown {
  const result = scoreAttempt(attempt, profile);
  if (!isScored(result)) throw new Error(result.unscorable);
  return result;
}

/** What an attempt at the second turn of two transfers and a balance earns. */
async function check(
  own: readonly AssistantMessage[],
  expected: { total: number; n: number; achieved: boolean },
) {
  const attempt = await attemptTurn(await moveTwice(), 1, own);
  const { total, n, budget } = score(attempt, provePlusProfile);
  expect({ total, n, achieved: getSuccess(attempt).achieved }).toEqual({
    ...expected,
    total: expect.closeTo(expected.total, 6) as number,
  });
  expect(budget).toBe(2);
}

describe("only the calls and goals of the attempted turn count", () => {
  test("the teacher's call earns all", () =>
    check([calling(balance), saying("3078.95.")], { total: 2.3, n: 1, achieved: true }));
  test("no call earns nothing", () =>
    check([saying("Done.")], { total: 0, n: 0, achieved: false }));
  test("the teacher's transfers serve no goal again, and change the world", () =>
    // valid calls, of which half are named by a goal; the world is not the goals
    check([calling(transfer("acc_108", 50)), calling(balance), saying("Done.")], {
      total: 0.5 + 0.5 + 0.1 + 0.1,
      n: 2,
      achieved: false,
    }));
  test("calls over the turn's own budget of two cost", () =>
    check([calling(balance, balance, balance), saying("3078.95.")], {
      total: 2.3 - (0.15 * 0.5) / 2,
      n: 3,
      achieved: true,
    }));
});

test("the evidence has the positions of the transcript and says which calls were the teacher's", async () => {
  const attempt = await attemptTurn(await moveTwice(), 1, [calling(balance), saying("Done.")]);
  const { calls, goals } = score(attempt, provePlusProfile);
  expect(calls.map(it => [it.call, it.given ?? false, it.serves?.goal])).toEqual([
    [0, true, undefined],
    [1, true, undefined],
    [2, false, 2],
  ]);
  expect(goals.map(it => [it.goal, it.matched, it.needed ?? true])).toEqual([
    [0, true, false],
    [1, true, false],
    [2, true, true],
  ]);
});

test("an attempt at the first turn is scored by the first turn's goals", async () => {
  const attempt = await attemptTurn(await moveTwice(), 0, [
    calling(transfer("acc_108", 50), transfer("acc_115", 20)),
    saying("Done."),
  ]);
  expect(attempt.task.turns.length).toBe(1);
  expect(score(attempt, provePlusProfile).total).toBeCloseTo(2.3, 6);
  expect(getSuccess(attempt).achieved).toBe(true);
});

test("a turn without goals earns 1 without a call", async () => {
  const task = await taskOf({
    id: "t-thanks",
    users: ["What is in acc_101?", "Thanks! Have a nice day."],
    goals: [goal([balance])],
    teacher: [calling(balance), saying("3148.95."), saying("You too.")],
  });
  const silent = await attemptTurn(task, 1, [saying("Bye.")]);
  expect(score(silent, provePlusProfile)).toMatchObject({ rule: "abstain", total: 1, n: 0 });
  const busy = await attemptTurn(task, 1, [calling(balance), saying("Bye.")]);
  expect(score(busy, provePlusProfile)).toMatchObject({ rule: "abstain", total: 0.95, n: 1 });
  expect(score(busy, paperProfile)).toMatchObject({ rule: "abstain", total: 0, n: 1 });
  const wrong = await attemptTurn(task, 1, [calling(transfer("acc_108", 5)), saying("Bye.")]);
  expect(score(wrong, provePlusProfile)).toMatchObject({ rule: "abstain", total: 0, n: 1 });
});

test("a turn without goals in which the teacher makes a call is not attempted on its own", async () => {
  const task = await taskOf({
    id: "t-refused",
    users: ["What is in acc_101?", "Send a million to acc_108."],
    goals: [goal([balance])],
    teacher: [
      calling(balance),
      saying("3148.95."),
      calling(transfer("acc_108", 1e6)),
      saying("That is more than there is."),
    ],
  });
  expect(listSingleTurns(task)).toEqual([0]);
});

describe("a rollout of one turn", () => {
  test("runs the teacher's calls, leaves the turn to the policy and ends with it", async () => {
    const task = await moveTwice();
    const { trajectory } = await rollout(task, createTeacherPolicy(task), catalog, { turn: 1 });
    expect(trajectory.header.turn).toBe(1);
    expect(trajectory.events.filter(it => it.kind === "call").map(it => it.outcome.kind)).toEqual([
      "ok",
      "ok",
      "ok",
    ]);
    const first = await rollout(task, createTeacherPolicy(task), catalog, { turn: 0 });
    expect(first.trajectory.events.filter(it => it.kind === "user").length).toBe(1);
    expect(first.trajectory.events.at(-1)).toEqual({ kind: "ended", by: "policy" });
  });

  test("leaves it the messages that the teacher's other turns do not take", async () => {
    const task = await moveTwice(); // six messages, of which the teacher takes two in each turn
    const busy: Policy = { name: "busy", next: async () => calling(balance) };
    const { trajectory } = await rollout(task, busy, catalog, { turn: 0 });
    expect(trajectory.events.filter(it => it.kind === "assistant").length).toBe(4);
    expect(trajectory.events.at(-1)).toEqual({ kind: "ended", by: "limit" });
  });

  test("refuses a task whose teacher's calls no longer return what they did", async () => {
    const task = await moveTwice();
    const events = task.trajectory.events.map(it =>
      it.kind === "call" && it.name === transfer("", 0).name
        ? { ...it, arguments: transfer("acc_108", 51).arguments }
        : it,
    );
    const changed = { ...task, trajectory: { ...task.trajectory, events } };
    await expect(rollout(changed, idlePolicy, catalog, { turn: 1 })).rejects.toThrow(
      /the teacher's call banking_transfer no longer returns what it did/,
    );
    await expect(rollout(task, idlePolicy, catalog, { turn: 2 })).rejects.toThrow(/has no turn 3/);
  });
});

test("on synthesized tasks the teacher earns all at each turn, and doing nothing earns it only where nothing is left to do", async () => {
  const resources = join(import.meta.dirname, "../../resources");
  const own = openCatalog(await loadServers(), [join(resources, "servers")]);
  const createOwnAttempt = createAttemptFactory(own);
  const tasks: Task[] = [];
  for await (const it of synthesize({
    catalog: own,
    resources,
    seed: 7,
    servers: ["banking", "calendar"],
    menu: "chain",
    preset: "student",
    split: "train",
    oneTurnShare: 0,
  })) {
    if (it.kind === "accepted") tasks.push(it.task);
    if (tasks.length === 25) break;
  }
  let turns = 0;
  for (const task of tasks)
    for (const turn of listSingleTurns(task)) {
      turns++;
      const run = async (policy: Policy) => {
        const { trajectory, finalState } = await rollout(task, policy, own, { turn });
        return createOwnAttempt(task, trajectory, finalState);
      };
      const taught = await run(createTeacherPolicy(task));
      expect(getSuccess(taught).reasons).toEqual([]);
      const idle = await run(idlePolicy);
      for (const profile of profiles) {
        const { rule, parts, total } = score(taught, profile);
        if (rule === "tool") expect(parts.coverage.score).toBe(1);
        else expect(total).toBe(1);
        // doing nothing without a word is wrong where something cannot be done
        const judging = { ignoresAnswers: profile.answer === 0 };
        if (profile.goals === "resolved" && !getSuccess(idle, judging).achieved)
          expect(score(idle, profile).total).toBeLessThan(total);
      }
    }
  expect(turns).toBeGreaterThan(40);
});
