/** Rewards under other weights, and how they order attempts. */
import { expect, test } from "vitest";
import { computeTotal, describeOrder, describeOrders } from "../../../webview/attempts/weights.ts";

test("a total is the sum of scores times weights", () =>
  expect(
    computeTotal(
      { total: 1, scores: { validity: 1, efficiency: -2 } },
      { validity: 0.5, efficiency: 0.15 },
      false,
    ),
  ).toBeCloseTo(0.2));

test("a part without a weight adds nothing", () =>
  expect(computeTotal({ total: 1, scores: { validity: 1 } }, {}, false)).toBe(0));

test("under a profile with a floor, a total is never negative", () =>
  expect(computeTotal({ total: 0, scores: { penalty: 1 } }, { penalty: -1 }, true)).toBe(0));

test("an attempt without parts keeps its total", () =>
  expect(computeTotal({ total: 1, scores: {} }, { validity: 0.5 }, false)).toBe(1));

test("an attempt without a reward gets none", () =>
  expect(computeTotal({ scores: {} }, { validity: 0.5 }, false)).toBeUndefined());

const rows = [{ success: true }, { success: false }, { success: true }, { success: false }, {}];

test("the order is the share of pairs in which the success is ahead; a tie counts half", () => {
  expect(describeOrder(rows, [1.3, 1.3, 1.1, 0.4, undefined])).toEqual({
    successes: 2,
    failures: 2,
    successMean: expect.closeTo(1.2),
    failureMean: expect.closeTo(0.85),
    agreement: 2.5 / 4,
  });
});

test("without failures there is no order", () =>
  expect(describeOrder([{ success: true }], [1])).toEqual({
    successes: 1,
    failures: 0,
    successMean: 1,
    failureMean: undefined,
    agreement: undefined,
  }));

test("changed weights are described beside those of the profile", () => {
  const own = describeOrder(rows, [1.3, 1.3, 1.1, 0.4, undefined]);
  const current = describeOrder(rows, [2, 1, 2, 1, undefined]);
  expect(describeOrders({ current, own }, true)).toBe(
    "Mean reward of 2 successes: 2.000 (with the profile's weights 1.200). " +
      "Mean reward of 2 failures: 1.000 (with the profile's weights 0.850). " +
      "A success has a higher reward than a failure in 100.0% " +
      "(with the profile's weights 62.5%) of all pairs.",
  );
});

test("a million attempts are ordered without comparing each two of them", () => {
  const many = Array.from({ length: 1_000_000 }, (_, i) => ({
    total: 1,
    success: i % 3 > 0,
    scores: { validity: (i % 7) / 7, coverage: (i % 5) / 5, success: Number(i % 3 > 0) },
  }));
  const totals = many.map(it =>
    computeTotal(it, { validity: 0.3, coverage: 1, success: 1 }, false),
  );
  expect(describeOrder(many, totals).agreement).toBeGreaterThan(0.5);
});
