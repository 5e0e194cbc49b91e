/** Pure functions for plots: scales, ticks, ranges, paths and running means. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A linear scale from numbers to pixels. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  at(value: number): number;
}

export const createLinearScale = (from: number, to: number, start: number, end: number): Scale => ({
  from,
  to,
  at: value => start + ((value - from) / (to - from || 1)) * (end - start),
});

/** Round numbers that span a range in about `count` steps of 1, 2 or 5 times a power of ten. */
export function computeTicks(from: number, to: number, count: number): readonly number[] {
  const span = to - from;
  if (!(span > 0)) return [from];
  const minStep = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(minStep));
  const step = [1, 2, 5, 10].find(it => it * power >= minStep)! * power;
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

/**
 * A range that holds all values and those in `include`, with a small margin; a flat line gets room
 * around it.
 */
export function computeRange(
  values: readonly number[],
  include: readonly number[] = [],
): readonly [number, number] {
  let from = Infinity;
  let to = -Infinity;
  for (const it of values.concat(include)) {
    if (!Number.isFinite(it)) continue;
    from = Math.min(from, it);
    to = Math.max(to, it);
  }
  if (from > to) return [0, 1];
  if (from === to)
    return from === 0
      ? [0, 1]
      : [Math.min(from * 0.9, from * 1.1), Math.max(from * 0.9, from * 1.1)];
  const margin = (to - from) * 0.06;
  return [include.includes(from) ? from : from - margin, include.includes(to) ? to : to + margin];
}

/** The path through points; a point that is not finite interrupts it. */
export function createLinePath(points: readonly Point[], x: Scale, y: Scale): string {
  let path = "";
  let isDrawing = false;
  for (const it of points) {
    if (!Number.isFinite(it.y)) {
      isDrawing = false;
      continue;
    }
    path += `${isDrawing ? "L" : "M"}${x.at(it.x).toFixed(1)} ${y.at(it.y).toFixed(1)}`;
    isDrawing = true;
  }
  return path;
}

/** The outline of a band between two lines. */
export function createBandPath(
  low: readonly Point[],
  high: readonly Point[],
  x: Scale,
  y: Scale,
): string {
  if (low.length === 0) return "";
  const back = createLinePath(low.toReversed(), x, y).replace("M", "L");
  return `${createLinePath(high, x, y)}${back}Z`;
}

/** The mean over each point and those up to `window - 1` before it. */
export function computeRunningMean(points: readonly Point[], window: number): readonly Point[] {
  let sum = 0;
  let n = 0;
  return points.map(({ x, y }, i) => {
    if (Number.isFinite(y)) {
      sum += y;
      n++;
    }
    const left = points[i - window];
    if (left && Number.isFinite(left.y)) {
      sum -= left.y;
      n--;
    }
    return { x, y: n > 0 ? sum / n : Number.NaN };
  });
}

/**
 * Positions for labels, as close as possible to `targets`: at least `gap` apart, from `min` to
 * `max`, and in the order of the targets.
 */
export function spreadLabels(
  targets: readonly number[],
  gap: number,
  min: number,
  max: number,
): readonly number[] {
  const order = targets.map((at, i) => ({ at, i })).toSorted((a, b) => a.at - b.at);
  let floor = min;
  for (const it of order) {
    it.at = Math.max(it.at, floor);
    floor = it.at + gap;
  }
  let ceiling = max;
  for (const it of order.toReversed()) {
    it.at = Math.min(it.at, ceiling);
    ceiling = it.at - gap;
  }
  const positions: number[] = [];
  for (const { at, i } of order) positions[i] = at;
  return positions;
}

/** The number of decimals that neighbouring ticks need to differ. */
export const countDecimals = (ticks: readonly number[]): number => {
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : Math.abs(ticks[0] ?? 1) || 1;
  return Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
};
