/**
 * One plot: lines over steps, and a cursor that shows the values of a step and is moved by pointer
 * or by arrow keys. Does not depend on what the numbers mean.
 */
import { svgElement, element } from "../element.ts";
import {
  createLayout,
  drawAxes,
  drawCheckpoints,
  drawCursor,
  drawLabels,
  drawSeries,
  type PlotLayout,
  type Series,
  type ValueFormat,
} from "./plotDrawing.ts";

export interface PlotOptions extends ValueFormat {
  readonly title: string;
  /** Explains the numbers, in the tooltip of the title. */
  readonly description: string;
  /** Decimals of a value at the cursor; ticks have as many as they need. */
  readonly decimals: number;
  /** Values that must be visible. */
  readonly include?: readonly number[];
  readonly isWide?: boolean;
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
  readonly #openStep: (step: number) => void;
  // keeps the focus while its content is drawn again
  readonly #body = element("div", { class: "plot-body", tabindex: "0", role: "img" });
  readonly #values = element("output", { class: "reading number" });
  #series: readonly Series[] = [];
  #svg: SVGElement | undefined;
  #checkpoints: readonly number[] = [];
  #cursor: number | undefined;
  #layout: PlotLayout | undefined;

  /** `openStep` is called with the step that is clicked. */
  constructor(options: PlotOptions, openStep: (step: number) => void) {
    this.#options = options;
    this.#openStep = openStep;
    const { title, description, isWide } = options;
    this.element = element(
      "figure",
      { class: isWide ? "plot wide" : "plot" },
      element("figcaption", { title: description }, element("span", {}, title), this.#values),
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

  /** The first series is that of the run, whose steps the cursor moves over. */
  update(series: readonly Series[], checkpoints: readonly number[]): void {
    this.#series = series;
    this.#checkpoints = checkpoints;
    this.#draw();
  }

  #draw(): void {
    const { clientWidth: width, clientHeight: height } = this.#body;
    if (width === 0 || this.#steps.length === 0) return;
    const layout = createLayout(this.#series, { width, height }, this.#options.include);
    this.#layout = layout;
    const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    svg.append(
      ...drawAxes(layout, this.#options),
      ...drawCheckpoints(layout, this.#checkpoints),
      ...this.#series.flatMap(it => drawSeries(it, layout)),
    );
    if (layout.hasLabels) svg.append(...drawLabels(this.#series, layout));
    if (this.#cursor !== undefined) svg.append(...drawCursor(this.#cursor, this.#series, layout));
    this.#body.setAttribute("aria-label", this.#createSummary());
    this.#body.replaceChildren(svg);
    this.#svg = svg;
    this.#showValues();
  }

  get #steps(): readonly { readonly x: number }[] {
    return this.#series[0]?.points ?? [];
  }

  /** Shows the values at the cursor, or the last ones. */
  #showValues(): void {
    const step = this.#cursor;
    const values = this.#series.map(it => {
      const value =
        step === undefined ? getLastValue(it) : it.points.find(({ x }) => x === step)?.y;
      const prefix =
        this.#series.length > 1
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

  #createSummary(): string {
    const values = this.#series.map(it => `${it.name} ${this.#formatValue(getLastValue(it))}`);
    const count = this.#steps.length === 1 ? "1 step" : `${this.#steps.length} steps`;
    return (
      `${this.#options.title} over ${count}; last values: ` +
      `${values.join(", ")}. Arrow keys move the cursor, Enter lists the attempts of the step.`
    );
  }

  #addListeners(): void {
    const openCursor = () => this.#cursor !== undefined && this.#openStep(this.#cursor);
    this.#body.addEventListener("pointermove", event =>
      this.#moveCursor(this.#findNearestStep(event.offsetX)),
    );
    this.#body.addEventListener("pointerleave", () => this.#moveCursor(undefined));
    this.#body.addEventListener("click", openCursor);
    this.#body.addEventListener("focusout", () => this.#moveCursor(undefined));
    this.#body.addEventListener("keydown", event => {
      if (event.key === "Enter") openCursor();
      const change = cursorKeys[event.key];
      if (change === undefined) return;
      event.preventDefault();
      const steps = this.#steps;
      const from =
        this.#cursor === undefined ? steps.length : steps.findIndex(it => it.x === this.#cursor);
      this.#moveCursor(steps[Math.min(steps.length - 1, Math.max(0, from + change))]?.x);
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

  #moveCursor(step: number | undefined): void {
    if (step === this.#cursor) return;
    this.#cursor = step;
    this.#draw();
  }
}

const getLastValue = ({ points }: Series): number | undefined =>
  points.findLast(({ y }) => Number.isFinite(y))?.y;
