/** Scales, ticks, ranges and paths of plots, in numbers alone. */

export interface Point {
  /** The place on the horizontal axis. */
  readonly x: number;
  readonly y: number;
}

/** A scale from numbers to pixels. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  /** Equal distances are equal ratios. All numbers are above 0. */
  readonly isLogarithmic: boolean;
  at(value: number): number;
  /** The number at a pixel. */
  invert(pixel: number): number;
}

export function createScale(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
  isLogarithmic = false,
): Scale {
  const [enter, leave] = isLogarithmic
    ? [Math.log, Math.exp]
    : [(it: number) => it, (it: number) => it];
  const [low, high] = [enter(from), enter(to)];
  const span = high - low || 1;
  return {
    from,
    to,
    isLogarithmic,
    at: value => start + ((enter(value) - low) / span) * (end - start),
    invert: pixel => leave(low + ((pixel - start) / (end - start || 1)) * span),
  };
}

/** Ticks of a scale, about `count` of them. */
export function computeScaleTicks(
  { from, to, isLogarithmic }: Scale,
  count: number,
): readonly number[] {
  if (!isLogarithmic) return computeTicks(from, to, count);
  const [low, high] = [Math.ceil(Math.log10(from) - 1e-9), Math.floor(Math.log10(to) + 1e-9)];
  // within a power of ten, the numbers are as good as evenly spaced
  if (high - low < 1) return computeTicks(from, to, count);
  const every = Math.max(1, Math.ceil((high - low + 1) / Math.max(1, count)));
  return Array.from({ length: high - low + 1 }, (_, i) => low + i)
    .filter(it => it % every === 0)
    .map(it => Number(`1e${it}`));
}

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

/** The least and the most of the finite values; undefined without any. */
export function findExtremes(values: readonly number[]): readonly [number, number] | undefined {
  let from = Infinity;
  let to = -Infinity;
  for (const it of values) {
    if (!Number.isFinite(it)) continue;
    from = Math.min(from, it);
    to = Math.max(to, it);
  }
  return from > to ? undefined : [from, to];
}

/**
 * A range that holds all values and those in `include`, with a small margin; a flat line gets room
 * around it.
 */
export function computeRange(
  values: readonly number[],
  include: readonly number[] = [],
): readonly [number, number] {
  const extremes = findExtremes(values.concat(include));
  if (!extremes) return [0, 1];
  const [from, to] = extremes;
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
