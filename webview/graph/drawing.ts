/**
 * The dependency graph as a picture: tools in columns, lines from what gives to what needs. What is
 * chosen stands out, the rest is dimmed.
 */
import type { GraphEdge, GraphView } from "../../src/protocol/graphPage.ts";
import { svgElement, element } from "../element.ts";
import { visible } from "../text.ts";
import { layOut, type Position } from "./layout.ts";

const box = { width: 162, height: 26 };
const margin = { left: 12, top: 12, right: 12, bottom: 12 };
const rowGap = 34;

export interface EdgeFilter {
  readonly explicit: boolean;
  readonly implicit: boolean;
}

export class GraphDrawing {
  readonly element = element("div", { class: "drawing" });
  readonly #view: GraphView;
  readonly #choose: (tool: number | undefined) => void;
  readonly #point: (tool: number | undefined) => void;
  readonly #tools: readonly SVGElement[];
  readonly #lines: readonly {
    readonly a: number;
    readonly b: number;
    readonly of: readonly GraphEdge[];
    readonly path: SVGElement;
  }[];

  constructor(
    view: GraphView,
    choose: (tool: number | undefined) => void,
    point: (tool: number | undefined) => void,
  ) {
    this.#view = view;
    this.#choose = choose;
    this.#point = point;
    const spots = layOut(
      view.tools.length,
      view.edges.map(({ a, b, via }) => ({ a, b, need: via?.input ?? `after ${a}` })),
    );
    const columns = 1 + Math.max(0, ...spots.map(it => it.column));
    const rows = 1 + Math.max(0, ...spots.map(it => it.row));
    const columnGap = columns > 3 ? 50 : 100;
    const width = margin.left + columns * box.width + (columns - 1) * columnGap + 46 + margin.right;
    const height = margin.top + (rows - 1) * rowGap + box.height + margin.bottom;
    const at = ({ column, row }: Position) => ({
      x: margin.left + column * (box.width + columnGap),
      y: margin.top + row * rowGap,
    });
    this.#tools = view.tools.map((_, i) => this.#createTool(i, at(spots[i]!)));
    this.#lines = groupByPair(view.edges).map(of => {
      const { a, b } = of[0]!;
      return {
        a,
        b,
        of,
        path: createLine(of, at(spots[a]!), at(spots[b]!), spots[b]!.column - spots[a]!.column),
      };
    });
    const svg = svgElement("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": `Dependency graph of ${view.server}; the table below says the same`,
    });
    // it shrinks a little to fit, and no further than can be read
    svg.style.width = `${width}px`;
    svg.style.minWidth = `${Math.min(width, Math.max(520, width * 0.76))}px`;
    svg.append(
      svgElement(
        "defs",
        {},
        svgElement(
          "marker",
          {
            id: "head",
            viewBox: "0 0 8 8",
            refX: "7",
            refY: "4",
            markerWidth: "7",
            markerHeight: "7",
            orient: "auto-start-reverse",
            markerUnits: "userSpaceOnUse",
          },
          svgElement("path", { d: "M0 0L8 4L0 8Z", fill: "context-stroke" }),
        ),
      ),
    );
    svg.append(...this.#lines.map(it => it.path), ...this.#tools);
    svg.addEventListener("click", event => event.target === svg && this.#choose(undefined));
    this.element.append(svg);
    this.element.classList.toggle("dense", this.#lines.length > 120);
  }

  /**
   * Lights a tool with all it is tied to, among the edges that are shown and the tools that match.
   */
  highlight(
    tool: number | undefined,
    { explicit, implicit }: EdgeFilter,
    matches: (tool: number) => boolean,
  ): void {
    const isShown = (of: readonly GraphEdge[]) =>
      of.some(it => (it.kind === "explicit" ? explicit : implicit));
    const tied = new Set<number>();
    for (const { a, b, of, path } of this.#lines) {
      const lit = tool !== undefined && (a === tool || b === tool) && isShown(of);
      if (lit) tied.add(a).add(b);
      path.classList.toggle("hidden", !isShown(of));
      path.classList.toggle("needed", lit && b === tool);
      path.classList.toggle("given", lit && a === tool);
      if (lit) path.setAttribute("marker-end", "url(#head)");
      else path.removeAttribute("marker-end");
      path.classList.toggle(
        "dim",
        (tool !== undefined && !lit) || (tool === undefined && !(matches(a) || matches(b))),
      );
      // what is lit lies above the rest
      if (lit) path.parentNode!.insertBefore(path, this.#tools[0]!);
    }
    for (const [i, it] of this.#tools.entries()) {
      it.classList.toggle("chosen", i === tool);
      it.classList.toggle("dim", tool !== undefined ? i !== tool && !tied.has(i) : !matches(i));
      it.setAttribute("aria-pressed", String(i === tool));
    }
  }

  #createTool(i: number, { x, y }: { readonly x: number; readonly y: number }): SVGElement {
    const { name, effect, summary } = this.#view.tools[i]!;
    const own = shortName(name, this.#view.server);
    const group = svgElement(
      "g",
      {
        class: `tool ${effect}`,
        tabindex: "0",
        role: "button",
        "aria-label": `${own}, ${effect === "read" ? "reads" : "writes"}`,
      },
      svgElement("title", {}, `${visible(name)}: ${visible(summary)}`),
      svgElement("rect", {
        x: String(x),
        y: String(y),
        width: String(box.width),
        height: String(box.height),
        rx: "6",
      }),
      // reading and writing are told apart by shape, too
      effect === "read"
        ? svgElement("circle", {
            class: "sign",
            cx: String(x + 14),
            cy: String(y + box.height / 2),
            r: "4",
          })
        : svgElement("rect", {
            class: "sign",
            x: String(x + 10),
            y: String(y + box.height / 2 - 4),
            width: "8",
            height: "8",
            rx: "1",
          }),
      svgElement(
        "text",
        { x: String(x + 26), y: String(y + box.height / 2 + 4) },
        own.length > 19 ? `${own.slice(0, 18)}…` : own,
      ),
    );
    group.addEventListener("click", () => this.#choose(i));
    group.addEventListener("keydown", event => {
      if (event.key === "Enter" || event.key === " ") this.#choose(i);
      else if (event.key === "Escape") this.#choose(undefined);
      else return;
      event.preventDefault();
    });
    for (const it of ["pointerenter", "focus"]) group.addEventListener(it, () => this.#point(i));
    for (const it of ["pointerleave", "blur"])
      group.addEventListener(it, () => this.#point(undefined));
    return group;
  }
}

/** Without the server's name in front, which stands above. */
export const shortName = (tool: string, server: string): string =>
  visible(tool.startsWith(`${server}_`) ? tool.slice(server.length + 1) : tool);

/** All edges between two tools are one line. */
function groupByPair(edges: readonly GraphEdge[]): readonly (readonly GraphEdge[])[] {
  const pairs = new Map<string, GraphEdge[]>();
  for (const it of edges)
    pairs.set(`${it.a} ${it.b}`, [...(pairs.get(`${it.a} ${it.b}`) ?? []), it]);
  return [...pairs.values()];
}

/** From side to side, and within a column around the right side. */
function createLine(
  of: readonly GraphEdge[],
  a: { readonly x: number; readonly y: number },
  b: { readonly x: number; readonly y: number },
  columns: number,
): SVGElement {
  const [ay, by] = [a.y + box.height / 2, b.y + box.height / 2];
  const ax = columns < 0 ? a.x : a.x + box.width;
  const bx = columns > 0 ? b.x : b.x + box.width;
  const bend =
    columns === 0
      ? Math.min(46, 18 + Math.abs(ay - by) / 9)
      : Math.sign(columns) * Math.max(26, Math.abs(bx - ax) / 2);
  const d = `M${ax} ${ay}C${ax + bend} ${ay} ${columns === 0 ? bx + bend : bx - bend} ${by} ${bx} ${by}`;
  const marks = of.map(it => it.verified).filter(it => it !== undefined);
  const verified = marks.includes("works")
    ? "works"
    : marks.includes("fails")
      ? "fails"
      : marks.length
        ? "untried"
        : "";
  return svgElement("path", {
    class: `line ${of.some(it => it.kind === "explicit") ? "explicit" : "implicit"} ${verified}`,
    d,
  });
}
