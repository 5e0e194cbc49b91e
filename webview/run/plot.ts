/**
 * One plot: lines over steps with round ticks, each line named and numbered at its end, and a
 * cursor that reads the values of a step, by pointer or by arrow keys. Knows nothing of what the
 * numbers mean.
 */
import { drawn, element } from "../element.ts";
import {
  bandOf,
  decimalsOf,
  linear,
  pathOf,
  rangeOf,
  runningMean,
  spread,
  ticks,
  type Point,
  type Scale,
} from "./scale.ts";

export interface Series {
  readonly name: string;
  /** A class that sets the colour. */
  readonly colour: string;
  /** Told apart without colour, too. */
  readonly dash?: string;
  readonly points: readonly Point[];
  /** Half the height of a band around the line. */
  readonly spread?: readonly number[];
}

export interface PlotLook {
  readonly title: string;
  /** What the numbers are, for a tooltip of the title. */
  readonly about: string;
  /** A value in words, with so many decimals. */
  readonly text: (value: number, decimals: number) => string;
  /** Of a value that is read; ticks have as many as they need. */
  readonly decimals: number;
  /** What a value is multiplied by to be written: 100 for a share in per cent. */
  readonly factor?: number;
  /** Values that must be within sight. */
  readonly always?: readonly number[];
  readonly isWide?: boolean;
}

const margin = { top: 8, right: 10, bottom: 22, left: 46 };
const labelWidth = 128;

export class Plot {
  readonly element: HTMLElement;
  readonly #look: PlotLook;
  readonly #choose: (step: number) => void;
  // it keeps the focus while what it holds is drawn anew
  readonly #body = element("div", { class: "plot-body", tabindex: "0", role: "img" });
  readonly #reading = element("output", { class: "reading number" });
  #series: readonly Series[] = [];
  #marks: readonly number[] = [];
  #cursor: number | undefined;

  constructor(look: PlotLook, choose: (step: number) => void) {
    this.#look = look;
    this.#choose = choose;
    const title = element(
      "figcaption",
      { title: look.about },
      element("span", {}, look.title),
      this.#reading,
    );
    this.element = element(
      "figure",
      { class: look.isWide ? "plot wide" : "plot" },
      title,
      this.#body,
    );
    new ResizeObserver(() => this.#draw()).observe(this.#body);
    this.#listen();
  }

  /** Shows these lines; `marks` are steps worth a tick of their own. */
  show(series: readonly Series[], marks: readonly number[]): void {
    this.#series = series;
    this.#marks = marks;
    this.#draw();
  }

  #draw(): void {
    const { clientWidth: width, clientHeight: height } = this.#body;
    const steps = this.#series[0]?.points ?? [];
    if (width === 0 || steps.length === 0) return;
    const labelled = this.#series.length > 1 && width > 380;
    const x = linear(
      steps[0]!.x,
      Math.max(steps.at(-1)!.x, steps[0]!.x + 1),
      margin.left,
      width - margin.right - (labelled ? labelWidth : 0),
    );
    const y = linear(
      ...rangeOf(this.#series.flatMap(valuesOf), this.#look.always),
      height - margin.bottom,
      margin.top,
    );
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    svg.append(
      ...this.#axes(x, y, width, height, labelled),
      ...this.#series.flatMap(it => lines(it, x, y)),
    );
    if (labelled) svg.append(...this.#labels(y, width, height));
    svg.append(...this.#cursorAt(x, y, height));
    this.#body.setAttribute("aria-label", this.#summary());
    this.#body.replaceChildren(svg);
    this.#read();
  }

  #axes(x: Scale, y: Scale, width: number, height: number, labelled: boolean): SVGElement[] {
    const right = width - margin.right - (labelled ? labelWidth : 0);
    const rows = ticks(y.from, y.to, Math.max(2, Math.floor(height / 46)));
    const decimals = decimalsOf(rows.map(it => it * (this.#look.factor ?? 1)));
    const across = rows.flatMap(it => [
      drawn("line", {
        class: "grid",
        x1: String(margin.left),
        x2: String(right),
        y1: y.at(it).toFixed(1),
        y2: y.at(it).toFixed(1),
      }),
      drawn(
        "text",
        {
          class: "tick",
          x: String(margin.left - 6),
          y: (y.at(it) + 3.5).toFixed(1),
          "text-anchor": "end",
        },
        this.#look.text(it, decimals),
      ),
    ]);
    const whole = ticks(x.from, x.to, Math.max(2, Math.floor((right - margin.left) / 80))).filter(
      it => Number.isInteger(it),
    );
    const along = whole.map(it =>
      drawn(
        "text",
        { class: "tick", x: x.at(it).toFixed(1), y: String(height - 6), "text-anchor": "middle" },
        String(it),
      ),
    );
    const marks = this.#marks
      .filter(it => it >= x.from && it <= x.to)
      .map(it =>
        drawn(
          "path",
          { class: "mark", d: `M${x.at(it).toFixed(1)} ${height - margin.bottom + 1}l-3 5h6z` },
          drawn("title", {}, `checkpoint after step ${it}`),
        ),
      );
    return [...across, ...along, ...marks];
  }

  #labels(y: Scale, width: number, height: number): SVGElement[] {
    const ends = this.#series.map(
      it => it.points.findLast(({ y }) => Number.isFinite(y))?.y ?? y.from,
    );
    const places = spread(
      ends.map(it => y.at(it)),
      14,
      margin.top + 6,
      height - margin.bottom - 2,
    );
    return this.#series.map((it, i) =>
      drawn(
        "g",
        { class: `label ${it.colour}` },
        drawn("line", {
          class: "line",
          x1: String(width - labelWidth),
          x2: String(width - labelWidth + 14),
          y1: places[i]!.toFixed(1),
          y2: places[i]!.toFixed(1),
          "stroke-dasharray": it.dash,
        }),
        drawn(
          "text",
          { x: String(width - labelWidth + 20), y: (places[i]! + 4).toFixed(1) },
          it.name,
        ),
      ),
    );
  }

  #cursorAt(x: Scale, y: Scale, height: number): SVGElement[] {
    if (this.#cursor === undefined) return [];
    const at = this.#cursor;
    const line = drawn("line", {
      class: "cursor",
      x1: x.at(at).toFixed(1),
      x2: x.at(at).toFixed(1),
      y1: String(margin.top),
      y2: String(height - margin.bottom),
    });
    const dots = this.#series.flatMap(it => {
      const point = it.points.find(({ x }) => x === at);
      return point && Number.isFinite(point.y)
        ? [
            drawn("circle", {
              class: `dot ${it.colour}`,
              cx: x.at(at).toFixed(1),
              cy: y.at(point.y).toFixed(1),
              r: "3",
            }),
          ]
        : [];
    });
    return [line, ...dots];
  }

  /** The values at the cursor, or the last ones. */
  #read(): void {
    const at = this.#cursor;
    const values = this.#series.map(it => {
      const point =
        at === undefined
          ? it.points.findLast(({ y }) => Number.isFinite(y))
          : it.points.find(({ x }) => x === at);
      const value =
        point && Number.isFinite(point.y) ? this.#look.text(point.y, this.#look.decimals) : "–";
      const prefix =
        this.#series.length > 1
          ? element("span", { class: `key ${it.colour}` }, `${it.name} `)
          : undefined;
      return element("span", { class: "value" }, prefix, value);
    });
    this.#reading.replaceChildren(
      ...(at === undefined ? [] : [element("span", { class: "value quiet" }, `step ${at}`)]),
      ...values,
    );
  }

  #summary(): string {
    const ends = this.#series.map(
      it =>
        `${it.name} ${this.#look.text(it.points.findLast(({ y }) => Number.isFinite(y))?.y ?? Number.NaN, this.#look.decimals)}`,
    );
    return `${this.#look.title} over ${this.#series[0]?.points.length ?? 0} steps, at last ${ends.join(", ")}. Arrow keys read each step, Enter opens its attempts.`;
  }

  #listen(): void {
    this.#body.addEventListener("pointermove", event => this.#moveTo(this.#nearest(event.offsetX)));
    this.#body.addEventListener("pointerleave", () => this.#moveTo(undefined));
    this.#body.addEventListener(
      "click",
      () => this.#cursor !== undefined && this.#choose(this.#cursor),
    );
    this.#body.addEventListener("focusout", () => this.#moveTo(undefined));
    this.#body.addEventListener("keydown", event => {
      if (event.key === "Enter" && this.#cursor !== undefined) this.#choose(this.#cursor);
      const by = {
        ArrowLeft: -1,
        ArrowRight: 1,
        PageUp: -10,
        PageDown: 10,
        Home: -Infinity,
        End: Infinity,
      }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      const steps = this.#series[0]?.points ?? [];
      const from =
        this.#cursor === undefined ? steps.length : steps.findIndex(it => it.x === this.#cursor);
      this.#moveTo(steps[Math.min(steps.length - 1, Math.max(0, from + by))]?.x);
    });
  }

  #nearest(offset: number): number | undefined {
    const steps = this.#series[0]?.points ?? [];
    const width = this.#body.clientWidth;
    const labelled = this.#series.length > 1 && width > 380;
    if (steps.length === 0) return undefined;
    const share =
      (offset - margin.left) / (width - margin.left - margin.right - (labelled ? labelWidth : 0));
    const [first, last] = [steps[0]!.x, Math.max(steps.at(-1)!.x, steps[0]!.x + 1)];
    const wanted = first + share * (last - first);
    return steps.reduce(
      (best, it) => (Math.abs(it.x - wanted) < Math.abs(best - wanted) ? it.x : best),
      first,
    );
  }

  #moveTo(step: number | undefined): void {
    if (step === this.#cursor) return;
    this.#cursor = step;
    this.#draw();
  }
}

const valuesOf = ({ points, spread = [] }: Series) =>
  points.flatMap(({ y }, i) => (spread[i] === undefined ? [y] : [y - spread[i], y + spread[i]]));

/** A short line as it is; a long one faint, with its running mean upon it. */
function lines({ points, colour, dash, spread }: Series, x: Scale, y: Scale): SVGElement[] {
  const window = Math.round(points.length / 30);
  const isLong = window > 1;
  const band = spread
    ? [
        drawn("path", {
          class: `band ${colour}`,
          d: bandOf(
            points.map((it, i) => ({ x: it.x, y: it.y - spread[i]! })),
            points.map((it, i) => ({ x: it.x, y: it.y + spread[i]! })),
            x,
            y,
          ),
        }),
      ]
    : [];
  const raw = drawn("path", {
    class: `line ${colour}${isLong ? " faint" : ""}`,
    d: pathOf(points, x, y),
    "stroke-dasharray": isLong ? undefined : dash,
  });
  const lone =
    points.length === 1 && points[0]
      ? [
          drawn("circle", {
            class: `dot ${colour}`,
            cx: x.at(points[0].x).toFixed(1),
            cy: y.at(points[0].y).toFixed(1),
            r: "3",
          }),
        ]
      : [];
  return [
    ...band,
    raw,
    ...lone,
    ...(isLong
      ? [
          drawn("path", {
            class: `line ${colour}`,
            d: pathOf(runningMean(points, window), x, y),
            "stroke-dasharray": dash,
          }),
        ]
      : []),
  ];
}
