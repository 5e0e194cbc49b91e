/**
 * One plot as SVG: lines over steps, and the cursor, which all plots share. It shows the values of
 * a step and is moved by pointer or by arrow keys. Does not depend on what the numbers mean.
 */
import { element, svgElement } from "../element.ts";

export interface PlotOptions extends ValueFormat {
  readonly title: string;
  /** Explains the numbers, in the tooltip of the title. */
  readonly description: string;
  /** What the title alone does not say, beside it. */
  readonly note?: string;
  /** Decimals of a value at the cursor; ticks have as many as they need. */
  readonly decimals: number;
  /** Values that must be visible. */
  readonly include?: readonly number[];
  readonly isWide?: boolean;
}

interface PlotListeners {
  /** Called with the step that is clicked. */
  readonly openStep: (step: number) => void;
  /** Called with the step that the pointer or the keys move to; undefined: with none. */
  readonly moveCursor: (step: number | undefined) => void;
}

/** What a plot draws. */
interface PlotContent {
  /** The first series is that of the run, whose steps the cursor moves over. */
  readonly series: readonly Series[];
  readonly checkpoints: readonly number[];
  /** The first and the last step, the same in all plots of a page. */
  readonly range: readonly [number, number];
  /** Over how many steps the lines are averaged; 1 draws them as they are. */
  readonly smoothing: number;
}

/** A plot as it is drawn. */
export interface DrawnPlot {
  readonly title: string;
  readonly svg: SVGElement;
  /** The place of the plot with its title, in pixels of the page. */
  readonly place: DOMRect;
  /** The names of the lines, if they do not stand beside the lines. */
  readonly keys: readonly HTMLElement[];
}

const cursorKeys: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageUp: -10,
  PageDown: 10,
  Home: -Infinity,
  End: Infinity,
};

export class Plot {
  readonly element: HTMLElement;
  readonly #options: PlotOptions;
  readonly #listeners: PlotListeners;
  // keeps the focus while its content is drawn again
  readonly #body = element("div", { class: "plot-body", tabindex: "0", role: "img" });
  readonly #values = element("output", { class: "reading number" });
  readonly #cursorLayer = svgElement("g");
  #content: PlotContent | undefined;
  #svg: SVGElement | undefined;
  #cursor: number | undefined;
  #layout: PlotLayout | undefined;

  constructor(options: PlotOptions, listeners: PlotListeners) {
    this.#options = options;
    this.#listeners = listeners;
    const { title, description, note, isWide } = options;
    this.element = element(
      "figure",
      { class: isWide ? "plot wide" : "plot" },
      element(
        "figcaption",
        { title: description },
        element(
          "span",
          {},
          title,
          note !== undefined && element("span", { class: "note quiet" }, ` ${note}`),
        ),
        this.#values,
      ),
      this.#body,
    );
    new ResizeObserver(() => this.#draw()).observe(this.#body);
    this.#addListeners();
  }

  /** The plot as it is drawn, or undefined if it is not. */
  get drawn(): DrawnPlot | undefined {
    if (!this.#svg) return undefined;
    return {
      title: this.#options.title,
      svg: this.#svg,
      place: this.element.getBoundingClientRect(),
      keys: this.#layout?.hasLabels ? [] : [...this.#values.querySelectorAll<HTMLElement>(".key")],
    };
  }

  update(content: PlotContent): void {
    this.#content = content;
    this.#draw();
  }

  /** Moves the cursor to a step; undefined: to none. */
  setCursor(step: number | undefined): void {
    if (step === this.#cursor) return;
    this.#cursor = step;
    this.#drawCursor();
  }

  #draw(): void {
    const { clientWidth: width, clientHeight: height } = this.#body;
    const content = this.#content;
    if (!content || width === 0 || this.#steps.length === 0) return;
    const { series, checkpoints, range, smoothing } = content;
    const layout = createLayout(series, { width, height }, range, this.#options.include);
    this.#layout = layout;
    const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    svg.append(
      ...drawAxes(layout, this.#options),
      ...drawCheckpoints(layout, checkpoints),
      ...series.flatMap(it => drawSeries(it, layout, smoothing)),
    );
    if (layout.hasLabels) svg.append(...drawLabels(series, layout));
    svg.append(this.#cursorLayer);
    this.#body.setAttribute("aria-label", this.#createSummary(series));
    this.#body.replaceChildren(svg);
    this.#svg = svg;
    this.#drawCursor();
  }

  /** The rest of the plot is not drawn again: the cursor moves in all plots at once. */
  #drawCursor(): void {
    const { series = [] } = this.#content ?? {};
    const cursor =
      this.#layout && this.#cursor !== undefined
        ? drawCursor(this.#cursor, series, this.#layout)
        : [];
    this.#cursorLayer.replaceChildren(...cursor);
    this.#showValues(series);
  }

  get #steps(): readonly { readonly x: number }[] {
    return this.#content?.series[0]?.points ?? [];
  }

  /** Shows the values at the cursor, or the last ones. */
  #showValues(series: readonly Series[]): void {
    const step = this.#cursor;
    const values = series.map(it => {
      const value =
        step === undefined ? getLastValue(it) : it.points.find(({ x }) => x === step)?.y;
      const prefix =
        series.length > 1
          ? element("span", { class: `key ${it.colour}` }, `${it.name} `)
          : undefined;
      return element("span", { class: "value" }, prefix, this.#formatValue(value));
    });
    this.#values.replaceChildren(
      ...(step === undefined ? [] : [element("span", { class: "value quiet" }, `step ${step}`)]),
      ...values,
    );
  }

  #formatValue(value: number | undefined): string {
    const { format, decimals } = this.#options;
    return value === undefined || !Number.isFinite(value) ? "–" : format(value, decimals);
  }

  #createSummary(series: readonly Series[]): string {
    const values = series.map(it => `${it.name} ${this.#formatValue(getLastValue(it))}`);
    const count = this.#steps.length === 1 ? "1 step" : `${this.#steps.length} steps`;
    return (
      `${this.#options.title} over ${count}; last values: ` +
      `${values.join(", ")}. Arrow keys move the cursor, Enter lists the attempts of the step.`
    );
  }

  #addListeners(): void {
    const { openStep, moveCursor } = this.#listeners;
    const openCursor = () => this.#cursor !== undefined && openStep(this.#cursor);
    this.#body.addEventListener("pointermove", event =>
      moveCursor(this.#findNearestStep(event.offsetX)),
    );
    this.#body.addEventListener("pointerleave", () => moveCursor(undefined));
    this.#body.addEventListener("click", openCursor);
    this.#body.addEventListener("focusout", () => moveCursor(undefined));
    this.#body.addEventListener("keydown", event => {
      if (event.key === "Enter") openCursor();
      const change = cursorKeys[event.key];
      if (change === undefined) return;
      event.preventDefault();
      const steps = this.#steps;
      const from =
        this.#cursor === undefined ? steps.length : steps.findIndex(it => it.x === this.#cursor);
      moveCursor(steps[Math.min(steps.length - 1, Math.max(0, from + change))]?.x);
    });
  }

  #findNearestStep(offset: number): number | undefined {
    const scale = this.#layout?.x;
    if (!scale) return undefined;
    const getDistance = (step: number) => Math.abs(scale.at(step) - offset);
    return this.#steps.reduce<number | undefined>(
      (nearest, { x }) =>
        nearest === undefined || getDistance(x) < getDistance(nearest) ? x : nearest,
      undefined,
    );
  }
}

const getLastValue = ({ points }: Series): number | undefined =>
  points.findLast(({ y }) => Number.isFinite(y))?.y;

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
interface PlotLayout {
  readonly width: number;
  readonly height: number;
  readonly x: Scale;
  readonly y: Scale;
  /** The right end of the plotted area; labels stand to the right of it. */
  readonly right: number;
  readonly hasLabels: boolean;
}

/** How the values of a plot are written. */
interface ValueFormat {
  readonly format: (value: number, decimals: number) => string;
  /** The factor between a value and its text: 100 for a share written as a percentage. */
  readonly factor?: number;
}

const margin = { top: 8, right: 10, bottom: 22, left: 46 };
const labelWidth = 128;
const dotRadius = "3";

/** The layout for a drawing area of this size; `include` are values that must be visible. */
function createLayout(
  series: readonly Series[],
  { width, height }: { readonly width: number; readonly height: number },
  [first, last]: PlotContent["range"],
  include: readonly number[] | undefined,
): PlotLayout {
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

function drawAxes({ x, y, height, right }: PlotLayout, format: ValueFormat): SVGElement[] {
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
  const columns = Math.max(3, Math.floor((right - margin.left) / 80));
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
const drawCheckpoints = ({ x, height }: PlotLayout, checkpoints: readonly number[]): SVGElement[] =>
  checkpoints
    .filter(it => it >= x.from && it <= x.to)
    .map(it =>
      svgElement(
        "path",
        { class: "mark", d: `M${x.at(it).toFixed(1)} ${height - margin.bottom + 1}l-3 5h6z` },
        svgElement("title", {}, `checkpoint after step ${it}`),
      ),
    );

/** A line that is averaged is drawn faintly, with its running mean on top. */
function drawSeries(series: Series, layout: PlotLayout, smoothing: number): SVGElement[] {
  const { points, colour, dash, spread } = series;
  const { x, y } = layout;
  const isSmooth = smoothing > 1;
  const elements = spread ? [drawBand(points, spread, colour, layout)] : [];
  elements.push(
    svgElement("path", {
      class: `line ${colour}${isSmooth ? " faint" : ""}`,
      d: createLinePath(points, x, y),
      "stroke-dasharray": isSmooth ? undefined : dash,
    }),
  );
  if (points.length === 1 && points[0]) elements.push(drawDot(points[0], colour, layout));
  if (isSmooth)
    elements.push(
      svgElement("path", {
        class: `line ${colour}`,
        d: createLinePath(computeRunningMean(points, smoothing), x, y),
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
function drawLabels(series: readonly Series[], { y, width, height }: PlotLayout): SVGElement[] {
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
function drawCursor(step: number, series: readonly Series[], layout: PlotLayout): SVGElement[] {
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

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A linear scale from numbers to pixels. */
interface Scale {
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
