/**
 * One plot as SVG: lines over steps or time, and the cursor, which all plots share. It shows the
 * values of a step and is moved by pointer or by arrow keys. Dragging zooms into a part. Does not
 * depend on what the numbers mean.
 */
import { element, svgElement } from "../element.ts";
import {
  computeRange,
  computeRunningMean,
  computeScaleTicks,
  countDecimals,
  createBandPath,
  createLinePath,
  createScale,
  findExtremes,
  spreadLabels,
  type Point,
  type Scale,
} from "./scale.ts";

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
  /** Called with the part of the horizontal axis to show; undefined: all of it. */
  readonly zoom: (range: readonly [number, number] | undefined) => void;
}

/** What the horizontal axis counts. */
export interface PlotAxis {
  /** The numbers that get a tick. */
  readonly isTick: (value: number) => boolean;
  readonly format: (value: number) => string;
}

/** What a plot draws. */
interface PlotContent {
  /** The first series is that of the run, whose steps the cursor moves over. */
  readonly series: readonly Series[];
  readonly checkpoints: readonly number[];
  readonly axis: PlotAxis;
  /** The part of the axis that is shown, the same in all plots of a page. */
  readonly range: readonly [number, number];
  /** Draws values on a logarithmic scale where all of them are above 0. */
  readonly isLogarithmic: boolean;
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

/** By how much of the shown part a key zooms in or out. */
const zoomKeys: Readonly<Record<string, number>> = { "+": 0.5, "=": 0.5, "-": 2 };

/** From so many pixels on, a press of the pointer is a drag. */
const minDrag = 6;

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
  /** Where the pointer was pressed, in pixels of the plot. */
  #dragStart: number | undefined;
  #isDragging = false;

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
    const { checkpoints, range, smoothing, axis, isLogarithmic } = content;
    const series = content.series.map(it => cutSeries(it, smoothing, range));
    const { include = [] } = this.#options;
    const layout = createLayout(series, { width, height }, { range, include, isLogarithmic });
    this.#layout = layout;
    const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    svg.append(
      ...drawAxes(layout, this.#options, axis),
      ...drawCheckpoints(layout, checkpoints, this.#steps),
      ...series.flatMap(it => drawSeries(it, layout)),
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

  get #steps(): readonly PlotPoint[] {
    return this.#content?.series[0]?.points ?? [];
  }

  /** Shows the values at the cursor, or the last ones. */
  #showValues(series: readonly Series[]): void {
    const step = this.#cursor;
    const values = series.map(it => {
      const value =
        step === undefined ? getLastValue(it) : it.points.find(point => point.step === step)?.y;
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
      `${values.join(", ")}. Arrow keys move the cursor, Enter lists the attempts of the step, ` +
      `plus and minus zoom, 0 shows all.`
    );
  }

  #addListeners(): void {
    const { openStep, moveCursor, zoom } = this.#listeners;
    const openCursor = () => this.#cursor !== undefined && openStep(this.#cursor);
    this.#body.addEventListener("pointerdown", event => {
      this.#dragStart = event.button === 0 ? event.offsetX : undefined;
      this.#isDragging = false;
    });
    this.#body.addEventListener("pointermove", event => {
      const start = this.#dragStart;
      if (start !== undefined && Math.abs(event.offsetX - start) >= minDrag)
        this.#isDragging = true;
      if (this.#isDragging) this.#drawSelection(event.offsetX);
      else moveCursor(this.#findNearestStep(event.offsetX));
    });
    this.#body.addEventListener("pointerup", event => {
      const selected = this.#isDragging && this.#findRange(event.offsetX);
      this.#dragStart = undefined;
      if (selected) zoom(selected);
    });
    this.#body.addEventListener("pointerleave", () => {
      this.#dragStart = undefined;
      this.#isDragging = false;
      moveCursor(undefined);
      this.#drawCursor();
    });
    this.#body.addEventListener("click", () => {
      // a drag ends with a click
      if (!this.#isDragging) openCursor();
      this.#isDragging = false;
    });
    this.#body.addEventListener("focusout", () => moveCursor(undefined));
    this.#body.addEventListener("keydown", event => {
      if (event.key === "Enter") openCursor();
      const factor = zoomKeys[event.key];
      if (factor !== undefined) this.#zoomAtCursor(factor);
      if (event.key === "0") zoom(undefined);
      const change = cursorKeys[event.key];
      if (change === undefined) return;
      event.preventDefault();
      const [from, to] = this.#content?.range ?? [0, 0];
      const steps = this.#steps.filter(it => it.x >= from && it.x <= to);
      const index =
        this.#cursor === undefined ? steps.length : steps.findIndex(it => it.step === this.#cursor);
      moveCursor(steps[Math.min(steps.length - 1, Math.max(0, index + change))]?.step);
    });
  }

  /** Zooms in or out around the cursor, or around the middle without one. */
  #zoomAtCursor(factor: number): void {
    if (!this.#content) return;
    const [from, to] = this.#content.range;
    const middle = this.#steps.find(it => it.step === this.#cursor)?.x ?? (from + to) / 2;
    const half = ((to - from) * factor) / 2;
    this.#listeners.zoom([middle - half, middle + half]);
  }

  /** The part of the axis between the start of the drag and a pixel. */
  #findRange(offset: number): readonly [number, number] | undefined {
    const scale = this.#layout?.x;
    if (!scale || this.#dragStart === undefined) return undefined;
    const [from, to] = [this.#dragStart, offset]
      .toSorted((a, b) => a - b)
      .map(it => scale.invert(it));
    return [from!, to!];
  }

  #drawSelection(offset: number): void {
    const { height = 0 } = this.#layout ?? {};
    const [left, right] = [this.#dragStart!, offset].toSorted((a, b) => a - b);
    this.#cursorLayer.replaceChildren(
      svgElement("rect", {
        class: "selection",
        x: String(left),
        width: String(right! - left!),
        y: String(margin.top),
        height: String(height - margin.top - margin.bottom),
      }),
    );
  }

  #findNearestStep(offset: number): number | undefined {
    const scale = this.#layout?.x;
    if (!scale) return undefined;
    const getDistance = (it: PlotPoint) => Math.abs(scale.at(it.x) - offset);
    return this.#steps.reduce<PlotPoint | undefined>(
      (nearest, it) =>
        nearest === undefined || getDistance(it) < getDistance(nearest) ? it : nearest,
      undefined,
    )?.step;
  }
}

const getLastValue = ({ points }: Series): number | undefined =>
  points.findLast(({ y }) => Number.isFinite(y))?.y;

interface PlotPoint extends Point {
  readonly step: number;
}

export interface Series {
  readonly name: string;
  /** A class that sets the colour. */
  readonly colour: string;
  /** A dash pattern, so that lines differ without colour, too. */
  readonly dash?: string;
  readonly points: readonly PlotPoint[];
  /** Half the height of a band around the line, for each point. */
  readonly spread?: readonly number[];
}

/** The part of a series that is shown. */
interface ShownSeries extends Series {
  /** The running mean, where lines are averaged. */
  readonly mean?: readonly Point[];
}

/** The shown part of a series, averaged over what comes before it, too. */
function cutSeries(
  series: Series,
  smoothing: number,
  [from, to]: PlotContent["range"],
): ShownSeries {
  const isShown = ({ x }: Point) => x >= from && x <= to;
  const { points, spread } = series;
  return {
    ...series,
    points: points.filter(isShown),
    ...(spread ? { spread: spread.filter((_, i) => isShown(points[i]!)) } : {}),
    ...(smoothing > 1 ? { mean: computeRunningMean(points, smoothing).filter(isShown) } : {}),
  };
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
  {
    range: [first, last],
    include,
    isLogarithmic,
  }: Pick<PlotContent, "range" | "isLogarithmic"> & Pick<PlotOptions, "include">,
): PlotLayout {
  const hasLabels = series.length > 1 && width > 380;
  const right = width - margin.right - (hasLabels ? labelWidth : 0);
  const values = findExtremes(series.flatMap(it => it.points.map(point => point.y)));
  const isLog = isLogarithmic && values !== undefined && values[0] > 0;
  const rows = series.flatMap(listExtremes);
  const range = isLog ? ([values[0] / 1.1, values[1] * 1.1] as const) : computeRange(rows, include);
  return {
    width,
    height,
    x: createScale([first, last > first ? last : first + 1], [margin.left, right]),
    y: createScale(range, [height - margin.bottom, margin.top], isLog),
    right,
    hasLabels,
  };
}

const listExtremes = ({ points, spread = [] }: Series) =>
  points.flatMap(({ y }, i) => (spread[i] === undefined ? [y] : [y - spread[i], y + spread[i]]));

function drawAxes(
  { x, y, height, right }: PlotLayout,
  format: ValueFormat,
  axis: PlotAxis,
): SVGElement[] {
  const rows = computeScaleTicks(y, Math.max(2, Math.floor(height / 46)));
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
  const labels = computeScaleTicks(x, columns)
    .filter(axis.isTick)
    .map(it =>
      svgElement(
        "text",
        { class: "tick", x: x.at(it).toFixed(1), y: String(height - 6), "text-anchor": "middle" },
        axis.format(it),
      ),
    );
  return [...grid, ...labels];
}

/** A small triangle below the axis for each checkpoint. */
const drawCheckpoints = (
  { x, height }: PlotLayout,
  checkpoints: readonly number[],
  points: readonly PlotPoint[],
): SVGElement[] =>
  points
    .filter(it => checkpoints.includes(it.step) && it.x >= x.from && it.x <= x.to)
    .map(it =>
      svgElement(
        "path",
        { class: "mark", d: `M${x.at(it.x).toFixed(1)} ${height - margin.bottom + 1}l-3 5h6z` },
        svgElement("title", {}, `checkpoint after step ${it.step}`),
      ),
    );

/** A line that is averaged is drawn faintly, with its running mean on top. */
function drawSeries(series: ShownSeries, layout: PlotLayout): SVGElement[] {
  const { points, colour, dash, spread, mean } = series;
  const { x, y } = layout;
  const isSmooth = mean !== undefined;
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
        d: createLinePath(mean, x, y),
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
      // nothing below the axis of a logarithmic scale can be drawn
      points.map((it, i) => ({
        x: it.x,
        y: y.isLogarithmic ? Math.max(y.from, it.y - spread[i]!) : it.y - spread[i]!,
      })),
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
  const { x, height } = layout;
  const place = series[0]?.points.find(it => it.step === step)?.x;
  if (place === undefined || place < x.from || place > x.to) return [];
  const at = x.at(place).toFixed(1);
  const line = svgElement("line", {
    class: "cursor",
    x1: at,
    x2: at,
    y1: String(margin.top),
    y2: String(height - margin.bottom),
  });
  const dots = series.flatMap(it => {
    const point = it.points.find(other => other.step === step);
    const isVisible = point && Number.isFinite(point.y) && point.x >= x.from && point.x <= x.to;
    return isVisible ? [drawDot(point, it.colour, layout)] : [];
  });
  return [line, ...dots];
}
