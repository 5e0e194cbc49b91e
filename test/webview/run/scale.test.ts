/** Scales, ticks, ranges and paths of plots. */
import { expect, test } from "vitest";
import {
  createBandPath,
  countDecimals,
  createScale,
  createLinePath,
  computeRange,
  computeRunningMean,
  spreadLabels,
  computeScaleTicks,
  computeTicks,
} from "../../../webview/run/scale.ts";

test("ticks are round numbers within the range", () => {
  expect(computeTicks(0.97, 1.32, 4)).toEqual([1, 1.1, 1.2, 1.3]);
  expect(computeTicks(-0.08, 0.99, 3)).toEqual([0, 0.5]);
  expect(computeTicks(1, 120, 5)).toEqual([50, 100]);
  expect(computeTicks(0, 0.0003, 3)).toEqual([0, 0.0001, 0.0002, 0.0003]);
  expect(computeTicks(5, 5, 3)).toEqual([5]);
});

test("ticks have as many decimals as they need to differ", () => {
  expect(
    [[0, 0.5], [-0.01, -0.005, 0], [0, 20], [1, 1.1], [0, 0.0001], [3]].map(countDecimals),
  ).toEqual([1, 3, 0, 1, 4, 0]);
});

test("a range has a margin around its values, but not beyond included values", () => {
  expect(computeRange([1, 2])).toEqual([0.94, 2.06]);
  expect(computeRange([1, 2], [0])).toEqual([0, 2.12]);
  expect(computeRange([0.5, 0.5])).toEqual([0.45, 0.55]);
  expect(computeRange([0, 0])).toEqual([0, 1]);
  expect(computeRange([])).toEqual([0, 1]);
  expect(computeRange([Number.NaN, 3, Infinity])).toEqual([2.7, 3.3000000000000003]);
});

test("a path is interrupted at points that are not finite", () => {
  const x = createScale([0, 10], [0, 100]);
  const y = createScale([0, 1], [50, 0]);
  expect(
    createLinePath(
      [
        { x: 0, y: 0 },
        { x: 5, y: 0.5 },
        { x: 6, y: Number.NaN },
        { x: 10, y: 1 },
      ],
      x,
      y,
    ),
  ).toBe("M0.0 50.0L50.0 25.0M100.0 0.0");
  expect(
    createBandPath(
      [
        { x: 0, y: 0 },
        { x: 10, y: 0 },
      ],
      [
        { x: 0, y: 1 },
        { x: 10, y: 1 },
      ],
      x,
      y,
    ),
  ).toBe("M0.0 0.0L100.0 0.0L100.0 50.0L0.0 50.0Z");
});

test("a running mean follows the values over its window", () => {
  const points = [2, 4, 6, Number.NaN, 10].map((y, x) => ({ x, y }));
  expect(computeRunningMean(points, 2).map(it => it.y)).toEqual([2, 3, 5, 6, 10]);
});

test("labels keep a minimum distance and their order within the range", () => {
  expect(spreadLabels([10, 12, 50], 14, 0, 100)).toEqual([10, 24, 50]);
  expect(spreadLabels([98, 99, 20], 14, 0, 100)).toEqual([86, 100, 20]);
  expect(spreadLabels([12, 10], 14, 0, 100)).toEqual([24, 10]);
});

test("on a logarithmic scale, equal ratios are equal distances, and ticks are powers of ten", () => {
  const scale = createScale([0.001, 10], [0, 400], true);
  expect([0.001, 0.01, 0.1, 1, 10].map(it => Math.round(scale.at(it)))).toEqual([
    0, 100, 200, 300, 400,
  ]);
  expect(scale.invert(200)).toBeCloseTo(0.1);
  expect(computeScaleTicks(scale, 6)).toEqual([0.001, 0.01, 0.1, 1, 10]);
  expect(computeScaleTicks(scale, 3)).toEqual([0.01, 1]);
  expect(computeScaleTicks(createScale([2, 5], [0, 400], true), 3)).toEqual([2, 3, 4, 5]);
});
