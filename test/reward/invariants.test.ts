/** Properties of the reward that hold for all attempts, tested on random ones. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/environment/json.ts";
import type { ScoredGoal, ScoredCall } from "../../src/reward/align.ts";
import { partNames, type PartName } from "../../src/reward/breakdown.ts";
import { paperProfile } from "../../src/reward/profiles.ts";
import { scoreCalls } from "../../src/reward/reward.ts";
import { referenceTotal } from "./reference.ts";

const total = (goals: readonly ScoredGoal[], calls: readonly ScoredCall[]) =>
  scoreCalls({ goals, calls }, paperProfile).total;

const args = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom(1, 2, "x", true, null), {
  noNullPrototype: true,
}) as fc.Arbitrary<JsonObject>;
const call = fc.record({
  name: fc.constantFrom("f", "g", "h", "off", ""),
  arguments: args,
  outcome: fc.record({ kind: fc.constantFrom("ok", "refused", "bad-arguments", "unknown-tool") }),
}) as fc.Arbitrary<ScoredCall>;
const calls = fc.array(call, { maxLength: 12 });
const goalCalls = fc.array(fc.record({ name: fc.constantFrom("f", "g", "h"), arguments: args }), {
  minLength: 1,
  maxLength: 3,
});

/** Goals whose edges all point back. */
const goals: fc.Arbitrary<ScoredGoal[]> = fc
  .array(fc.tuple(goalCalls, fc.array(fc.nat(8))), { minLength: 1, maxLength: 5 })
  .map(list =>
    list.map(([calls, back], g) => ({
      calls,
      after:
        g === 0
          ? []
          : [...new Set(back.map(it => it % g))].slice(0, 2).map(goal => ({
              goal,
              kind: goal % 2 ? ("implicit" as const) : ("explicit" as const),
            })),
    })),
  );

test("the total equals that of the reference implementation", () => {
  const grouped = fc
    .tuple(calls, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }))
    .map(([list, breaks]) => {
      let message = 0;
      return list.map((it, i) => ({ ...it, message: breaks[i] ? message++ : message }));
    });
  fc.assert(
    fc.property(goals, grouped, fc.boolean(), (goals, calls, strictMessageOrder) => {
      expect(
        scoreCalls({ goals, calls }, { ...paperProfile, strictMessageOrder }).total,
      ).toBeCloseTo(referenceTotal(goals, calls, strictMessageOrder), 9);
    }),
    { numRuns: 1000 },
  );
});

test("no attempt has a reward above 1.3", () => {
  fc.assert(
    fc.property(goals, calls, (goals, calls) => {
      expect(total(goals, calls)).toBeLessThanOrEqual(1.3 + 1e-9);
    }),
  );
});

test("without goals the reward is 1 or 0", () => {
  fc.assert(
    fc.property(calls, calls => {
      expect(total([], calls)).toBe(calls.length === 0 ? 1 : 0);
    }),
  );
});

test("a call serves at most one goal call", () => {
  fc.assert(
    fc.property(goals, calls, (goals, calls) => {
      const served = scoreCalls({ goals, calls }, paperProfile).goals.flatMap(it =>
        it.calls.filter(at => at !== null),
      );
      expect(new Set(served).size).toBe(served.length);
    }),
  );
});

test("within the budget efficiency is 0, beyond it negative", () => {
  fc.assert(
    fc.property(goals, calls, (goals, calls) => {
      const { n, budget, parts } = scoreCalls({ goals, calls }, paperProfile);
      expect(Math.sign(parts.efficiency.score)).toBe(n <= budget ? 0 : -1);
    }),
  );
});

test("independent goals with different names may be served in any order", () => {
  const distinct = fc.uniqueArray(fc.tuple(fc.constantFrom("f", "g", "h", "i"), args), {
    selector: it => it[0],
    minLength: 2,
    maxLength: 4,
  });
  fc.assert(
    fc.property(distinct, fc.infiniteStream(fc.nat()), (list, order) => {
      const made = list.map(([name, it]): ScoredCall => ({
        name,
        arguments: it,
        outcome: { kind: "ok" },
      }));
      const goals = made.map((it): ScoredGoal => ({
        calls: [{ name: it.name, arguments: it.arguments as JsonObject }],
        after: [],
      }));
      const keyed = made.map(it => ({ it, key: order.next().value }));
      const shuffled = keyed.toSorted((a, b) => a.key - b.key).map(({ it }) => it);
      expect(total(goals, shuffled)).toBeCloseTo(total(goals, made), 9);
    }),
  );
});

test("if every call is valid, an irrelevant call never raises the total", () => {
  fc.assert(
    fc.property(goals, fc.array(call, { minLength: 1, maxLength: 10 }), (goals, list) => {
      const valid = list
        .filter(it => it.name !== "")
        .map(it => ({ ...it, outcome: { kind: "ok" as const } }));
      fc.pre(valid.length > 0);
      const more: ScoredCall = { name: "off", arguments: {}, outcome: { kind: "ok" } };
      expect(total(goals, [...valid, more])).toBeLessThanOrEqual(total(goals, valid) + 1e-9);
    }),
  );
});

test("with one candidate for each goal call, a wrong argument never raises the total", () => {
  const chain = fc.uniqueArray(fc.tuple(fc.constantFrom("f", "g", "h", "i"), args), {
    selector: it => it[0],
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(chain, fc.nat(), (list, pick) => {
      const made = list.map(([name, it]): ScoredCall => ({
        name,
        arguments: it,
        outcome: { kind: "ok" },
      }));
      const goals = made.map((it, g): ScoredGoal => ({
        calls: [{ name: it.name, arguments: it.arguments as JsonObject }],
        after: g === 0 ? [] : [{ goal: g - 1, kind: "implicit" }],
      }));
      const at = pick % made.length;
      const wrong = made.map((it, i) =>
        i === at
          ? {
              ...it,
              arguments: Object.fromEntries(
                Object.keys(it.arguments as JsonObject).map(key => [key, "wrong"]),
              ),
            }
          : it,
      );
      expect(total(goals, wrong)).toBeLessThanOrEqual(total(goals, made) + 1e-9);
    }),
  );
});

test("with all weights but one at zero, the total is that part", () => {
  fc.assert(
    fc.property(goals, calls, fc.constantFrom(...partNames), (goals, calls, part) => {
      const weights = Object.fromEntries(partNames.map(it => [it, it === part ? 1 : 0])) as Record<
        PartName,
        number
      >;
      const breakdown = scoreCalls({ goals, calls }, { ...paperProfile, weights });
      expect(breakdown.total).toBeCloseTo(breakdown.parts[part].score, 12);
    }),
  );
});
