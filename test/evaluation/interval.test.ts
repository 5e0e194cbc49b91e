/** Intervals against hand-made numbers, and how often they err on data without a difference. */
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/environment/random.ts";
import { computeChange, getVerdict } from "../../src/evaluation/compare.ts";
import { computeInterval, type Observation } from "../../src/evaluation/interval.ts";
import type { EvaluationRow } from "../../src/evaluation/row.ts";

const apart = (values: readonly number[]): Observation[] =>
  values.map((value, i) => ({ cluster: String(i), value }));

const getWidth = (observations: readonly Observation[]) => {
  const { low, high } = computeInterval(observations)!;
  return high - low;
};

test("a hundred independent 0s and 1s: 0.5 ± 1.98 · 0.05", () => {
  const interval = computeInterval(apart(Array.from({ length: 100 }, (_, i) => i % 2)))!;
  expect(interval).toMatchObject({ mean: 0.5, n: 100, clusters: 100, runs: 1 });
  expect(interval.low).toBeCloseTo(0.4, 1);
  expect((interval.high - interval.low) / 2).toBeCloseTo(0.0997, 2);
});

test("ten clusters of ten equal values are as uncertain as ten values", () => {
  const values = [0, 0, 1, 1, 0, 1, 0, 1, 1, 0];
  const clustered = values.flatMap((value, i) =>
    Array.from({ length: 10 }, () => ({ cluster: String(i), value })),
  );
  expect(getWidth(clustered)).toBeCloseTo(getWidth(apart(values)), 6);
  const independent = clustered.map((it, i) => ({ ...it, cluster: String(i) }));
  expect(getWidth(clustered)).toBeGreaterThan(3 * getWidth(independent));
});

test("a cluster with more values has more weight in the mean", () => {
  const [a, b] = ["a", "b"];
  const interval = computeInterval([
    { cluster: a, value: 1 },
    { cluster: a, value: 1 },
    { cluster: a, value: 1 },
    { cluster: b, value: 0 },
  ]);
  expect(interval!.mean).toBe(0.75);
});

test("runs that disagree widen the interval, even if each is certain", () => {
  const runs = (effects: readonly number[]) =>
    effects.flatMap((value, run) =>
      apart(Array.from({ length: 50 }, () => value)).map(it => ({ ...it, run })),
    );
  expect(getWidth(runs([0.1, 0.1, 0.1]))).toBeCloseTo(0, 9);
  // s = .1, t(2) = 4.3027: ± 4.3027 · .1/√3 = ± .248
  const { mean, low, high, runs: count } = computeInterval(runs([0, 0.1, 0.2]))!;
  expect([mean, count]).toEqual([expect.closeTo(0.1, 9), 3]);
  expect(low).toBeLessThan(-0.1);
  expect(high).toBeGreaterThan(0.3);
});

test("equal differences leave no doubt; one cluster has no interval", () => {
  expect(computeInterval(apart([0.5, 0.5, 0.5]))).toMatchObject({ low: 0.5, high: 0.5 });
  expect(
    computeInterval([
      { cluster: "a", value: 1 },
      { cluster: "a", value: 0 },
    ]),
  ).toBeUndefined();
});

test("the same observations give the same interval", () => {
  const values = apart([1, 0, 0, 1, 0.5]);
  expect(computeInterval(values)).toEqual(computeInterval(values));
});

/** Rows of 30 sets of tools with 8 tasks each; success is mostly decided by the set. */
function simulateRows(seed: number, gain: number): EvaluationRow[] {
  const random = createRandom(seed, "rows", gain);
  return Array.from({ length: 30 }, (_, set) => {
    const skill = random.next();
    return Array.from({ length: 8 }, (__, i) => {
      const success = random.boolean(Math.min(1, (skill > 0.5 ? 0.9 : 0.1) + gain));
      return { task: `${set}/${i}`, cluster: String(set), success } as EvaluationRow;
    });
  }).flat();
}

const readSuccess = (it: EvaluationRow) => Number(it.success);

describe("a control with shuffled labels", () => {
  /** The rows of two policies, exchanged at random for each set of tools. */
  function shuffleLabels(seed: number): [EvaluationRow[], EvaluationRow[]] {
    const random = createRandom(seed, "labels");
    const [a, b] = [simulateRows(2 * seed, 0), simulateRows(2 * seed + 1, 0)];
    const swapped = new Set(a.filter(() => random.boolean(0.5)).map(it => it.cluster));
    const choose = (own: EvaluationRow[], other: EvaluationRow[]) =>
      own.map((it, i) => (swapped.has(it.cluster) ? other[i]! : it));
    return [choose(a, b), choose(b, a)];
  }

  test("reads as a difference in at most one case of twelve", () => {
    const differs = Array.from({ length: 200 }, (_, seed) => {
      const [before, after] = shuffleLabels(seed);
      return (
        getVerdict(computeChange(before, [after], readSuccess)!) !== "no difference can be told"
      );
    }).filter(Boolean).length;
    expect(differs).toBeLessThan(200 / 12);
    // with every task a cluster of its own, as if they were independent, it often does
    const naive = Array.from({ length: 200 }, (_, seed) => {
      const [before, after] = shuffleLabels(seed).map(rows =>
        rows.map(it => ({ ...it, cluster: it.task })),
      );
      return (
        getVerdict(computeChange(before!, [after!], readSuccess)!) !== "no difference can be told"
      );
    }).filter(Boolean).length;
    expect(naive).toBeGreaterThan(60);
  });

  test("a real difference is told", () => {
    const before = simulateRows(1, 0);
    const better = before.map((it, i) => ({ ...it, success: it.success || i % 4 === 0 }));
    expect(getVerdict(computeChange(before, [better], readSuccess)!)).toBe("higher");
    expect(getVerdict(computeChange(better, [before], readSuccess)!)).toBe("lower");
  });
});
