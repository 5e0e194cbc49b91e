/** Intervals against textbook values. */
import { expect, test } from "vitest";
import { computeInterval, computePairedInterval } from "../../src/evaluation/interval.ts";

test("1 2 3 4 5: 3 ± 2.7764·√(2.5/5) = 3 ± 1.9632", () => {
  expect(computeInterval([1, 2, 3, 4, 5])).toMatchObject({
    mean: 3,
    low: expect.closeTo(1.0368, 3),
    high: expect.closeTo(4.9632, 3),
    n: 5,
  });
});

const quantiles: readonly (readonly [number, number])[] = [
  [9, 2.2622],
  [10, 2.2281],
  [20, 2.086],
  [30, 2.0423],
  [100, 1.984],
  [1000, 1.9623],
];
for (const [freedom, quantile] of quantiles) {
  test(`with ${freedom} degrees of freedom half the width is ${quantile} standard errors`, () => {
    // half of the values 1, half −1, and a 0 where the count is odd: the standard error is known
    const n = freedom + 1;
    const values = Array.from({ length: n }, (_, i) => (i === n - 1 && n % 2 ? 0 : i % 2 ? -1 : 1));
    const error = Math.sqrt(values.filter(Boolean).length / (n - 1) / n);
    expect(computeInterval(values)!.high / error).toBeCloseTo(quantile, 3);
  });
}

test("equal differences leave no doubt: 0.5 ± 0", () => {
  expect(computePairedInterval([1, 2, 3], [1.5, 2.5, 3.5])).toEqual({
    mean: 0.5,
    low: 0.5,
    high: 0.5,
    n: 3,
  });
});

test("one value has no interval", () => expect(computeInterval([1])).toBeUndefined());
