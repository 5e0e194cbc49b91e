/**
 * The reward's formulas on cases worked by hand, with the arithmetic in each title. They use calls
 * without a server, so names are opaque.
 */
import { describe, expect, test } from "vitest";
import type { Breakdown } from "../../src/reward/breakdown.ts";
import { scoreCalls } from "../../src/reward/reward.ts";
import { paperProfile, type Profile } from "../../src/reward/profiles.ts";
import type { ScoredGoal, ScoredCall } from "../../src/reward/align.ts";
import type { JsonObject } from "../../src/environment/json.ts";

const call = (
  name: string,
  args: JsonObject = {},
  kind: ScoredCall["outcome"]["kind"] = "ok",
): ScoredCall => ({ name, arguments: args, outcome: { kind } });
const goal = (calls: readonly ScoredCall[], ...after: number[]): ScoredGoal => ({
  calls: calls.map(({ name, arguments: args }) => ({ name, arguments: args as JsonObject })),
  after: after.map(it => ({ goal: it, kind: "implicit" })),
});
const times = (n: number, it: ScoredCall) => Array.from({ length: n }, () => it);

/** val, cov, eff, name, arg, total */
type Row = readonly [
  string,
  readonly ScoredCall[],
  readonly [number, number, number, number, number, number],
];

const scores = ({ parts, total }: Breakdown) => [
  parts.validity.score,
  parts.coverage.score,
  parts.efficiency.score,
  parts.name.score,
  parts.argument.score,
  total,
];

function check(
  goals: readonly ScoredGoal[],
  [name, calls, expected]: Row,
  profile: Profile = paperProfile,
) {
  test(name, () => {
    const got = scores(scoreCalls({ goals, calls }, profile));
    for (const [i, it] of expected.entries())
      expect(
        got[i],
        ["validity", "coverage", "efficiency", "name", "argument", "total"][i],
      ).toBeCloseTo(it, 4);
  });
}

const balance = call("get_balance", { account_id: "A1" });
const transfer = call("transfer", { from_account: "A1", to_account: "A2", amount: 50 });
const list = call("list_accounts");
const nope = call("nope", {}, "unknown-tool");
const wrong = call("transfer", { from_account: "A1", to_account: "A9", amount: 75 }, "refused");
const short = call("transfer", { amount: 50 }, "bad-arguments");

describe("case T: get_balance, then transfer; B = 2 + ⌈2/2⌉ = 3", () => {
  const goals = [goal([balance]), goal([transfer], 0)];
  const rows: readonly Row[] = [
    ["T1 exact: .5 + .5 + 0 + .2 + .1 = 1.3", [balance, transfer], [1, 1, 0, 1, 1, 1.3]],
    ["T2 none: 0", [], [0, 0, 0, 0, 0, 0]],
    [
      "T3 the wrong way round, one of two goals in order: .5 + .25 + .2 + .1 = 1.05",
      [transfer, balance],
      [1, 0.5, 0, 1, 1, 1.05],
    ],
    [
      "T4 four too many, n = 6: -.5·(6-3)/3 = -.5, name 2/6: .5 + .5 - .075 + .0667 + .1 = 1.0917",
      [balance, ...times(4, list), transfer],
      [1, 1, -0.5, 0.3333, 1, 1.0917],
    ],
    [
      "T5 a refused transfer with two wrong values: (1 + 2/3)/2 = .8333, arg (1 + 1/3)/2 = .6667: 1.1833",
      [balance, wrong],
      [0.8333, 1, 0, 1, 0.6667, 1.1833],
    ],
    [
      "T6 an unknown tool first: val 2/3, name 2/3: .3333 + .5 + .1333 + .1 = 1.0667",
      [nope, balance, transfer],
      [0.6667, 1, 0, 0.6667, 1, 1.0667],
    ],
    [
      "T7 keys left out: (1 + 1/3)/2 = .6667, no match: .3333 + .25 + .2 + .1 = .8833",
      [balance, short],
      [0.6667, 0.5, 0, 1, 1, 0.8833],
    ],
    ["T8 half of it: .5 + .25 + .2 + .1 = 1.05", [balance], [1, 0.5, 0, 1, 1, 1.05]],
    [
      "T9 one look around within the budget: name 2/3: .5 + .5 + .1333 + .1 = 1.2333",
      [balance, list, transfer],
      [1, 1, 0, 0.6667, 1, 1.2333],
    ],
    [
      "T10 a goal's call four times: -.5·(5-3)/3 = -.3333: 1.3 - .05 = 1.25",
      [...times(4, balance), transfer],
      [1, 1, -0.3333, 1, 1, 1.25],
    ],
    ["T11 valid and beside the point: .5", [list], [1, 0, 0, 0, 0, 0.5]],
    ["T12 unknown and beside the point: .5·½ = .25", [nope, list], [0.5, 0, 0, 0, 0, 0.25]],
    ["T12a unknown alone: 0", [nope], [0, 0, 0, 0, 0, 0]],
  ];
  for (const row of rows) check(goals, row);
});

describe("case P: search, then three gets at once, then buy; B = 5 + ⌈5/2⌉ = 8", () => {
  const search = call("search", { q: "x" });
  const get = (id: number) => call("get", { id });
  const buy = call("buy", { id: 2 });
  const goals = [goal([search]), goal([get(1), get(2), get(3)], 0), goal([buy], 1)];
  const rows: readonly Row[] = [
    ["P1 exact: 1.3", [search, get(1), get(2), get(3), buy], [1, 1, 0, 1, 1, 1.3]],
    [
      "P2 one get left out, so neither gets nor buy count: .5 + .5/3 + .2 + .1 = .9667",
      [search, get(1), get(2), buy],
      [1, 0.3333, 0, 1, 1, 0.9667],
    ],
    [
      "P3 buy before the last get: .5 + .3333 + .2 + .1 = 1.1333",
      [search, get(1), get(2), buy, get(3)],
      [1, 0.6667, 0, 1, 1, 1.1333],
    ],
    [
      "P4 as P2 with a wrong id: arg 3/4: .5 + .1667 + .2 + .075 = .9417",
      [search, get(9), get(2), buy],
      [1, 0.3333, 0, 1, 0.75, 0.9417],
    ],
  ];
  for (const row of rows) check(goals, row);
});

describe("abstention: no goals", () => {
  const check = (calls: readonly ScoredCall[], total: number) => {
    const breakdown = scoreCalls({ goals: [], calls }, paperProfile);
    expect(breakdown).toMatchObject({ rule: "abstain", total });
  };
  test("no call: 1", () => check([], 1));
  test("a call: 0", () => check([list], 0));
  test("a call of an unknown tool: 0", () => check([nope], 0));
});

describe("four goals achieved, then k valid but irrelevant calls; B = 4 + 2 = 6", () => {
  const done = ["a", "b", "c", "d"].map(it => call(it, { x: 1 }));
  const goals = done.map(it => goal([it]));
  const ladder: readonly (readonly [number, number, string])[] = [
    [0, 1.3, "1.3"],
    [1, 1.26, "1.1 + .2·4/5"],
    [2, 1.2333, "1.1 + .2·4/6"],
    [3, 1.2018, "1.1 + .2·4/7 - .15·.5·1/6"],
    [4, 1.175, "1.1 + .2·4/8 - .15·.5·2/6"],
    [6, 1.13, "1.1 + .2·4/10 - .15·.5·4/6"],
    [8, 1.0917, "1.1 + .2·4/12 - .15·.5·6/6"],
  ];
  for (const [k, total, sum] of ladder) {
    test(`k = ${k}: ${sum} = ${total}`, () =>
      expect(
        scoreCalls({ goals, calls: [...done, ...times(k, call("junk"))] }, paperProfile).total,
      ).toBeCloseTo(total, 4));
  }
});

describe("the budget B = n + ⌈β·n⌉", () => {
  const goals = (n: number) => [goal(times(n, list))];
  const table: readonly (readonly [number, number])[] = [
    [1, 2],
    [2, 3],
    [3, 5],
    [4, 6],
    [5, 8],
    [6, 9],
    [7, 11],
    [8, 12],
    [9, 14],
    [10, 15],
  ];
  for (const [n, b] of table)
    test(`${n} goal calls: ${b}`, () =>
      expect(scoreCalls({ goals: goals(n), calls: [] }, paperProfile).budget).toBe(b));
  test("β = .1 of 30 is 3 more, not 4", () =>
    expect(scoreCalls({ goals: goals(30), calls: [] }, { ...paperProfile, beta: 0.1 }).budget).toBe(
      33,
    ));
  test("β = 0 gives none: the first extra call costs .15·.5/2", () => {
    const exact = [goal([balance]), goal([transfer], 0)];
    expect(
      scoreCalls(
        { goals: exact, calls: [balance, transfer, balance] },
        { ...paperProfile, beta: 0 },
      ).total,
    ).toBeCloseTo(1.3 - 0.0375, 4);
  });
});

describe("which call serves which goal", () => {
  const served = (
    goals: readonly ScoredGoal[],
    calls: readonly ScoredCall[],
    profile: Profile = paperProfile,
  ) => scoreCalls({ goals, calls }, profile).goals.map(it => it.calls);
  const get = (id: number, extra: JsonObject = {}) => call("get", { id, ...extra });

  test("a call serves only one goal call", () =>
    expect(served([goal([list]), goal([list])], [list])).toEqual([[0], [null]]));
  test("more equal values win over an earlier position", () =>
    expect(served([goal([get(2)])], [get(1), get(2)])).toEqual([[1]]));
  test("among equal candidates the earlier one wins", () =>
    expect(served([goal([get(2)])], [get(2), get(2)])).toEqual([[0]]));
  test("correct order wins over more equal values", () =>
    expect(served([goal([list]), goal([get(2)], 0)], [get(2), list, get(1)])).toEqual([[1], [2]]));
  test("extra keys are allowed, missing ones are not", () =>
    expect(
      served([goal([get(1)]), goal([get(2)])], [get(1, { q: 1 }), call("get", { q: 1 })]),
    ).toEqual([[0], [null]]));
  test("arguments that are not an object serve no goal", () =>
    expect(
      served(
        [goal([list])],
        [{ name: "list_accounts", arguments: "{}", outcome: { kind: "bad-arguments" } }],
      ),
    ).toEqual([[null]]));
  test("a block that could not be parsed is a call with validity 0", () => {
    const breakdown = scoreCalls(
      {
        goals: [goal([list])],
        calls: [{ name: "", arguments: "<garbled", outcome: { kind: "unknown-tool" } }, list],
      },
      paperProfile,
    );
    expect(breakdown.n).toBe(2);
    expect(breakdown.calls[0]).toMatchObject({
      validity: 0,
      named: false,
      message: "the call could not be parsed",
    });
  });
  test("a failed call serves its goal in the paper, but not if success is required", () => {
    const goals = [goal([transfer])];
    expect(served(goals, [wrong])).toEqual([[0]]);
    expect(served(goals, [wrong], { ...paperProfile, coverageRequiresSuccess: true })).toEqual([
      [null],
    ]);
  });
  test("an edge to an unmatched goal is broken: coverage 0 of 2", () => {
    const breakdown = scoreCalls(
      { goals: [goal([balance]), goal([transfer], 0)], calls: [transfer] },
      paperProfile,
    );
    expect(breakdown.parts.coverage.score).toBe(0);
    expect(breakdown.goals[1]).toMatchObject({ matched: true, position: 0, broken: [0] });
  });
  test("a broken edge does not cascade: only direct predecessors count, 2 of 3", () => {
    const three = [goal([list]), goal([balance], 0), goal([transfer], 1)];
    expect(
      scoreCalls({ goals: three, calls: [balance, list, transfer] }, paperProfile).parts.coverage
        .score,
    ).toBeCloseTo(2 / 3, 6);
  });
});

describe("a value cannot flow within one message", () => {
  const explicit: readonly ScoredGoal[] = [
    goal([balance]),
    { ...goal([transfer]), after: [{ goal: 0, kind: "explicit" }] },
  ];
  const together = [balance, transfer].map(it => ({ ...it, message: 0 }));
  const coverage = (calls: readonly ScoredCall[], strictMessageOrder: boolean, goals = explicit) =>
    scoreCalls({ goals, calls }, { ...paperProfile, strictMessageOrder }).parts.coverage.score;
  test("in the paper both count", () => expect(coverage(together, false)).toBe(1));
  test("with strict message order the second does not: 1/2", () =>
    expect(coverage(together, true)).toBe(0.5));
  test("in two messages both count", () =>
    expect(
      coverage(
        [
          { ...balance, message: 0 },
          { ...transfer, message: 1 },
        ],
        true,
      ),
    ).toBe(1));
  test("an implicit edge requires only the order", () =>
    expect(coverage(together, true, [goal([balance]), goal([transfer], 0)])).toBe(1));
});

describe("equal arguments", () => {
  const share = (wanted: JsonObject, given: JsonObject, mask?: string[]) =>
    scoreCalls(
      {
        goals: [
          { calls: [{ name: "f", arguments: wanted, ...(mask ? { mask } : {}) }], after: [] },
        ],
        calls: [call("f", given)],
      },
      paperProfile,
    ).parts.argument.score;
  const cases: readonly (readonly [string, JsonObject, JsonObject, number])[] = [
    ["no arguments at all score 1", {}, {}, 1],
    ["50 is 50.0", { a: 50 }, { a: 50.0 }, 1],
    ["a millionth is nothing", { a: 1_000_000 }, { a: 1_000_000.5 }, 1],
    ["a thousandth is something", { a: 1000 }, { a: 1001 }, 0],
    ["0 is not a small number", { a: 0 }, { a: 1e-9 }, 0],
    ["true is not 1", { a: true }, { a: 1 }, 0],
    ['"50" is not 50', { a: "50" }, { a: 50 }, 0],
    ["white space around a string is nothing", { a: "x" }, { a: " x\n" }, 1],
    ["case is something", { a: "x" }, { a: "X" }, 0],
    ["one way to write é is another", { a: "caf\u00e9" }, { a: "cafe\u0301" }, 1],
    ["keys have no order", { a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }, 1],
    ["an object with one key more is another", { a: { x: 1 } }, { a: { x: 1, y: 2 } }, 0],
    ["arrays have an order", { a: [1, 2] }, { a: [2, 1] }, 0],
    ["null is not a missing key", { a: null, b: 1 }, { a: null, b: 1 }, 1],
    [
      "an own __proto__ is a key like any other",
      JSON.parse('{"__proto__":1}') as JsonObject,
      JSON.parse('{"__proto__":2}') as JsonObject,
      0,
    ],
  ];
  for (const [name, wanted, given, expected] of cases)
    test(name, () => expect(share(wanted, given)).toBe(expected));

  test("a masked value is not compared: 1 of 1", () =>
    expect(share({ to: "ada", body: "Hello" }, { to: "ada", body: "Hi" }, ["body"])).toBe(1));
  test("a masked key is still required: no pair", () =>
    expect(share({ to: "ada", body: "Hello" }, { to: "ada" }, ["body"])).toBe(0));
  test("all masked scores 1", () =>
    expect(share({ body: "Hello" }, { body: "Hi" }, ["body"])).toBe(1));
  test("the order of items does not matter if the schema says that they are unique", () => {
    const goals: readonly ScoredGoal[] = [
      { calls: [{ name: "f", arguments: { a: [1, 2], b: [1, 2] } }], after: [] },
    ];
    const schemaOf = () => ({
      properties: { a: { type: "array", uniqueItems: true }, b: { type: "array" } },
    });
    expect(
      scoreCalls({ goals, calls: [call("f", { a: [2, 1], b: [2, 1] })], schemaOf }, paperProfile)
        .parts.argument.score,
    ).toBe(0.5);
  });
});

test("the efficiency part has no floor in the paper, and that of the profile if it has one", () => {
  const goals = [goal([list])];
  const calls = times(100, list);
  expect(scoreCalls({ goals, calls }, paperProfile).parts.efficiency.score).toBeCloseTo(
    -0.5 * 49,
    6,
  );
  expect(
    scoreCalls({ goals, calls }, { ...paperProfile, efficiencyFloor: -1 }).parts.efficiency.score,
  ).toBe(-1);
});
