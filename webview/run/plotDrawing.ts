/** Draws the parts of a plot as SVG elements: axes, lines, labels and the cursor. */
import { svgElement } from "../element.ts";
import {
  computeRange,
  computeRunningMean,
  computeTicks,
  countDecimals,
  createBandPath,
  createLinearScale,
  createLinePath,
  spreadLabels,
  type Point,
  type Scale,
} from "./scale.ts";

export interface Series {
  readonly name: string;
  /** A class that sets the colour. */
  readonly colour: string;
  /** A dash pattern, so that lines differ without colour, too. */
  readonly dash?: string;
  readonly points: readonly Point[];
  /** Half the height of a band around the line, for each point. */
  readonly spread?: readonly number[];
}

/** The size of a plot and its scales, in pixels. */
export interface PlotLayout {
  readonly width: number;
  readonly height: number;
  readonly x: Scale;
  readonly y: Scale;
  /** The right end of the plotted area; labels stand to the right of it. */
  readonly right: number;
  readonly hasLabels: boolean;
}

/** How the values of a plot are written. */
export interface ValueFormat {
  readonly format: (value: number, decimals: number) => string;
  /** The factor between a value and its text: 100 for a share written as a percentage. */
  readonly factor?: number;
}

const margin = { top: 8, right: 10, bottom: 22, left: 46 };
const labelWidth = 128;
const dotRadius = "3";

/** The layout for a drawing area of this size; `include` are values that must be visible. */
export function createLayout(
  series: readonly Series[],
  { width, height }: { readonly width: number; readonly height: number },
  include: readonly number[] | undefined,
): PlotLayout {
  const first = Math.min(...series.map(it => it.points[0]?.x ?? Infinity));
  const last = Math.max(...series.map(it => it.points.at(-1)?.x ?? 0));
  const hasLabels = series.length > 1 && width > 380;
  const right = width - margin.right - (hasLabels ? labelWidth : 0);
  const [low, high] = computeRange(series.flatMap(listExtremes), include);
  return {
    width,
    height,
    x: createLinearScale(first, Math.max(last, first + 1), margin.left, right),
    y: createLinearScale(low, high, height - margin.bottom, margin.top),
    right,
    hasLabels,
  };
}

const listExtremes = ({ points, spread = [] }: Series) =>
  points.flatMap(({ y }, i) => (spread[i] === undefined ? [y] : [y - spread[i], y + spread[i]]));

export function drawAxes({ x, y, height, right }: PlotLayout, format: ValueFormat): SVGElement[] {
  const rows = computeTicks(y.from, y.to, Math.max(2, Math.floor(height / 46)));
  const decimals = countDecimals(rows.map(it => it * (format.factor ?? 1)));
  const grid = rows.flatMap(it => [
    svgElement("line", {
      class: "grid",
      x1: String(margin.left),
      x2: String(right),
      y1: y.at(it).toFixed(1),
      y2: y.at(it).toFixed(1),
    }),
    svgElement(
      "text",
      {
        class: "tick",
        x: String(margin.left - 6),
        y: (y.at(it) + 3.5).toFixed(1),
        "text-anchor": "end",
      },
      format.format(it, decimals),
    ),
  ]);
  const columns = Math.max(2, Math.floor((right - margin.left) / 80));
  const steps = computeTicks(x.from, x.to, columns).filter(it => Number.isInteger(it));
  const stepLabels = steps.map(it =>
    svgElement(
      "text",
      { class: "tick", x: x.at(it).toFixed(1), y: String(height - 6), "text-anchor": "middle" },
      String(it),
    ),
  );
  return [...grid, ...stepLabels];
}

/** A small triangle below the axis for each checkpoint. */
export const drawCheckpoints = (
  { x, height }: PlotLayout,
  checkpoints: readonly number[],
): SVGElement[] =>
  checkpoints
    .filter(it => it >= x.from && it <= x.to)
    .map(it =>
      svgElement(
        "path",
        { class: "mark", d: `M${x.at(it).toFixed(1)} ${height - margin.bottom + 1}l-3 5h6z` },
        svgElement("title", {}, `checkpoint after step ${it}`),
      ),
    );

/** A short line is drawn as it is; a long one faintly, with its running mean on top. */
export function drawSeries(series: Series, layout: PlotLayout): SVGElement[] {
  const { points, colour, dash, spread } = series;
  const { x, y } = layout;
  const window = Math.round(points.length / 30);
  const isLong = window > 1;
  const elements = spread ? [drawBand(points, spread, colour, layout)] : [];
  elements.push(
    svgElement("path", {
      class: `line ${colour}${isLong ? " faint" : ""}`,
      d: createLinePath(points, x, y),
      "stroke-dasharray": isLong ? undefined : dash,
    }),
  );
  if (points.length === 1 && points[0]) elements.push(drawDot(points[0], colour, layout));
  if (isLong)
    elements.push(
      svgElement("path", {
        class: `line ${colour}`,
        d: createLinePath(computeRunningMean(points, window), x, y),
        "stroke-dasharray": dash,
      }),
    );
  return elements;
}

const drawBand = (
  points: readonly Point[],
  spread: readonly number[],
  colour: string,
  { x, y }: PlotLayout,
) =>
  svgElement("path", {
    class: `band ${colour}`,
    d: createBandPath(
      points.map((it, i) => ({ x: it.x, y: it.y - spread[i]! })),
      points.map((it, i) => ({ x: it.x, y: it.y + spread[i]! })),
      x,
      y,
    ),
  });

const drawDot = (point: Point, colour: string, { x, y }: PlotLayout) =>
  svgElement("circle", {
    class: `dot ${colour}`,
    cx: x.at(point.x).toFixed(1),
    cy: y.at(point.y).toFixed(1),
    r: dotRadius,
  });

/** The names of the lines, each beside the end of its line. */
export function drawLabels(
  series: readonly Series[],
  { y, width, height }: PlotLayout,
): SVGElement[] {
  const ends = series.map(it => it.points.findLast(point => Number.isFinite(point.y))?.y ?? y.from);
  const heights = spreadLabels(
    ends.map(it => y.at(it)),
    14,
    margin.top + 6,
    height - margin.bottom - 2,
  );
  return series.map((it, i) =>
    svgElement(
      "g",
      { class: `label ${it.colour}` },
      svgElement("line", {
        class: "line",
        x1: String(width - labelWidth),
        x2: String(width - labelWidth + 14),
        y1: heights[i]!.toFixed(1),
        y2: heights[i]!.toFixed(1),
        "stroke-dasharray": it.dash,
      }),
      svgElement(
        "text",
        { x: String(width - labelWidth + 20), y: (heights[i]! + 4).toFixed(1) },
        it.name,
      ),
    ),
  );
}

/** A vertical line at a step, with a dot on each line of the plot. */
export function drawCursor(
  step: number,
  series: readonly Series[],
  layout: PlotLayout,
): SVGElement[] {
  const at = layout.x.at(step).toFixed(1);
  const line = svgElement("line", {
    class: "cursor",
    x1: at,
    x2: at,
    y1: String(margin.top),
    y2: String(layout.height - margin.bottom),
  });
  const dots = series.flatMap(it => {
    const point = it.points.find(({ x }) => x === step);
    return point && Number.isFinite(point.y) ? [drawDot(point, it.colour, layout)] : [];
  });
  return [line, ...dots];
}
