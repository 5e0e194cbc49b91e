/** Profiles against cases worked out by hand, and what holds for prefixes of the goals' calls. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ScoredCall, ScoredGoal } from "../../src/reward/align.ts";
import { scoreGraduated } from "../../src/reward/formula.ts";
import { profiles, provePlusProfile, type Profile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt, scoreCalls } from "../../src/reward/reward.ts";
import { rollout } from "../../src/policy/rollout.ts";
import {
  createScriptedPolicy,
  createTeacherPolicy,
  idlePolicy,
} from "../../src/policy/scripted.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import type { Task } from "../../src/trajectory/task.ts";
import type { Policy } from "../../src/policy/policy.ts";
import {
  call,
  calling,
  catalog,
  moveFifty,
  moveTwice,
  readOnly,
  saying,
} from "../trajectory/sampleTasks.ts";

const findProfile = (name: string): Profile => profiles.find(it => it.name === name)!;

const goals: ScoredGoal[] = [
  { calls: [{ name: "get_balance", arguments: { account_id: "A1" } }], after: [] },
  {
    calls: [{ name: "transfer", arguments: { from_account: "A1", to_account: "A2", amount: 50 } }],
    after: [{ goal: 0, kind: "explicit" }],
  },
];
const balance: ScoredCall = {
  name: "get_balance",
  arguments: { account_id: "A1" },
  outcome: { kind: "ok" },
};
const transfer: ScoredCall = {
  name: "transfer",
  arguments: { from_account: "A1", to_account: "A2", amount: 50 },
  outcome: { kind: "ok" },
};
/** Case T5: another account and amount, refused. */
const refused: ScoredCall = {
  name: "transfer",
  arguments: { from_account: "A1", to_account: "A9", amount: 75 },
  outcome: { kind: "refused" },
};
const list: ScoredCall = { name: "list_accounts", arguments: {}, outcome: { kind: "ok" } };

describe("ablations of the paper's Table 5, case T5: .8333, 1, 0, 1, .6667", () => {
  const check = (name: string, total: number, calls: readonly ScoredCall[] = [balance, refused]) =>
    test(name, () =>
      expect(scoreCalls({ goals, calls }, findProfile(name)).total).toBeCloseTo(total, 4),
    );
  check("paper", 1.1833);
  check("paper-no-validity", 0.7667);
  check("paper-no-coverage", 0.6833);
  check("paper-no-efficiency", 1.1833);
  check("paper-no-name", 0.9833);
  check("paper-no-argument", 1.1167);
  // B = 2 instead of 3: one call over it costs .5 · 1/2 · .15
  check("paper-flat-budget", 1.2333 - 0.0375, [balance, list, transfer]);
  // without the success term: the refused call covers nothing, .4167 + .25 + .2 + .1
  check("prove-plus", 0.9667);
});

describe("graduated", () => {
  const check = (title: string, calls: readonly ScoredCall[], total: number) =>
    test(title, () => {
      const parts = Object.values(scoreGraduated(goals, calls, undefined));
      const sum = parts.reduce((all, it) => all + it.score * it.weight, 0);
      expect(sum).toBeCloseTo(total, 4);
    });
  check("the goals' calls: 1", [balance, transfer], 1);
  check("no call: 0", [], 0);
  // form 1 and .66, executed 1 and 0: atomic (.83 + .5)/2, both goals in order
  check("wrong values and refused", [balance, refused], 0.5 * ((1 + 0.66) / 4 + 0.25) + 0.5);
  check("another tool counts in the mean", [balance, transfer, list], 0.5 * (2 / 3) + 0.5);
  check("the wrong order covers one goal", [transfer, balance], 0.5 + 0.25);
});

const createAttempt = createAttemptFactory(catalog);
async function scoreAll(task: Task, policy: Policy) {
  const { trajectory, finalState } = await rollout(task, policy, catalog);
  const attempt = createAttempt(task, trajectory, finalState);
  const score = (name: string) => {
    const result = scoreAttempt(attempt, findProfile(name));
    return isScored(result) ? result.total : NaN;
  };
  return { envfactory: score("envfactory"), tier: score("tier"), graduated: score("graduated") };
}

describe("rewards of other papers on sessions", () => {
  test("the teacher earns 1 under each", async () => {
    for (const task of await Promise.all([moveFifty(), moveTwice(), readOnly()]))
      expect(await scoreAll(task, createTeacherPolicy(task))).toEqual({
        envfactory: expect.closeTo(1, 9),
        tier: expect.closeTo(1, 9),
        graduated: expect.closeTo(1, 9),
      });
  });

  test("no call: half of envfactory only where nothing was to be changed", async () => {
    expect(await scoreAll(await moveFifty(), idlePolicy)).toEqual({
      envfactory: 0,
      tier: 0,
      graduated: 0,
    });
    expect(await scoreAll(await readOnly(), idlePolicy)).toMatchObject({
      envfactory: 0.5,
      tier: 0,
    });
  });

  test("a tool that is not offered closes the gate of tier after the format", async () => {
    const policy = createScriptedPolicy("rob", [calling(call("rob")), saying("done")]);
    expect(await scoreAll(await moveFifty(), policy)).toMatchObject({
      tier: expect.closeTo(0.1, 9),
      envfactory: 0,
    });
  });
});

describe("under prove-plus, a strict prefix of the goals' calls earns less than all", () => {
  const goalCalls = fc.array(
    fc.record({
      name: fc.constantFrom("f", "g", "h"),
      arguments: fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom(1, "x", true), {
        noNullPrototype: true,
      }),
    }),
    { minLength: 1, maxLength: 3 },
  );
  const chains = fc
    .array(fc.tuple(goalCalls, fc.nat(5)), { minLength: 1, maxLength: 5 })
    .map(steps =>
      steps.map(([calls, back], g): ScoredGoal => ({
        calls: calls as ScoredGoal["calls"],
        after: g === 0 ? [] : [{ goal: back % g, kind: "explicit" }],
      })),
    );

  test("in the five parts alone", () => {
    fc.assert(
      fc.property(chains, chain => {
        const calls = chain.flatMap((goal, message) =>
          goal.calls.map((it): ScoredCall => ({ ...it, outcome: { kind: "ok" }, message })),
        );
        const score = (n: number) =>
          scoreCalls({ goals: chain, calls: calls.slice(0, n) }, provePlusProfile).total;
        const whole = score(calls.length);
        for (let n = 0; n < calls.length; n++) expect(score(n)).toBeLessThan(whole - 1e-9);
      }),
    );
  });

  test("on sessions", async () => {
    for (const task of await Promise.all([moveFifty(), moveTwice(), readOnly()])) {
      const calls = task.goals.flatMap(it => it.calls);
      const totals: number[] = [];
      for (let n = 0; n <= calls.length; n++) {
        const made = calls
          .slice(0, n)
          .map(({ name, arguments: args }) => calling({ name, arguments: args }));
        const policy = createScriptedPolicy("prefix", made);
        const { trajectory, finalState } = await rollout(task, policy, catalog);
        const result = scoreAttempt(createAttempt(task, trajectory, finalState), provePlusProfile);
        totals.push(isScored(result) ? result.total : NaN);
      }
      expect(Math.max(...totals.slice(0, -1))).toBeLessThan(totals.at(-1)! - 0.5);
    }
  });
});
