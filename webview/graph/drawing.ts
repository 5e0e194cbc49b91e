/**
 * Draws the dependency graph: tools in columns, lines from each tool to those that need its result.
 * The chosen tool and its neighbors are highlighted, the rest is dimmed.
 */
import type { GraphEdge, GraphView } from "../../src/protocol/graphPage.ts";
import { element, svgElement } from "../element.ts";
import { escapeInvisible } from "../text.ts";
import { layOut, type Position } from "./layout.ts";
import { box, createLine, type Point } from "./line.ts";

const margin = { left: 12, top: 12, right: 12, bottom: 12 };
const rowGap = 34;
/** Space to the right of the last column, for lines within it. */
const loopSpace = 46;

/** Which kinds of edges are shown. */
export interface EdgeFilter {
  readonly explicit: boolean;
  readonly implicit: boolean;
}

export interface DrawingListener {
  /** The person chose a tool, or none. */
  choose(tool: number | undefined): void;
  /** The pointer or the focus is on a tool, or on none. */
  point(tool: number | undefined): void;
}

/** All edges between two tools, drawn as one line. */
interface Line {
  readonly a: number;
  readonly b: number;
  readonly edges: readonly GraphEdge[];
  readonly path: SVGElement;
}

export class GraphDrawing {
  readonly element = element("div", { class: "drawing" });
  readonly #view: GraphView;
  readonly #listener: DrawingListener;
  readonly #tools: readonly SVGElement[];
  readonly #lines: readonly Line[];

  constructor(view: GraphView, listener: DrawingListener) {
    this.#view = view;
    this.#listener = listener;
    const positions = layOut(
      view.tools.length,
      view.edges.map(({ a, b, via }) => ({ a, b, need: via?.input ?? `after ${a}` })),
    );
    const columns = 1 + Math.max(0, ...positions.map(it => it.column));
    const rows = 1 + Math.max(0, ...positions.map(it => it.row));
    const columnGap = columns > 3 ? 50 : 100;
    const getPoint = ({ column, row }: Position) => ({
      x: margin.left + column * (box.width + columnGap),
      y: margin.top + row * rowGap,
    });
    this.#tools = view.tools.map((_, i) => this.#createTool(i, getPoint(positions[i]!)));
    this.#lines = groupByPair(view.edges).map(edges => {
      const { a, b } = edges[0]!;
      const [from, to] = [positions[a]!, positions[b]!];
      const path = createLine(edges, getPoint(from), getPoint(to), to.column - from.column);
      return { a, b, edges, path };
    });
    const innerWidth = columns * box.width + (columns - 1) * columnGap;
    const svg = createCanvas(view, {
      width: margin.left + innerWidth + loopSpace + margin.right,
      height: margin.top + (rows - 1) * rowGap + box.height + margin.bottom,
    });
    svg.append(...this.#lines.map(it => it.path), ...this.#tools);
    svg.addEventListener("click", event => event.target === svg && listener.choose(undefined));
    this.element.append(svg);
    this.element.classList.toggle("dense", this.#lines.length > 120);
  }

  /** Highlights a tool and its neighbors, among the shown edges and the tools that match. */
  highlight(
    tool: number | undefined,
    filter: EdgeFilter,
    matches: (tool: number) => boolean,
  ): void {
    const neighbors = new Set<number>();
    for (const { a, b, edges, path } of this.#lines) {
      const isShown = edges.some(it => filter[it.kind]);
      const isLit = isShown && tool !== undefined && (a === tool || b === tool);
      const isDim = tool === undefined ? !(matches(a) || matches(b)) : !isLit;
      path.classList.toggle("hidden", !isShown);
      path.classList.toggle("needed", isLit && b === tool);
      path.classList.toggle("given", isLit && a === tool);
      path.classList.toggle("dim", isDim);
      if (isLit) {
        neighbors.add(a).add(b);
        path.setAttribute("marker-end", "url(#head)");
        // above the other lines
        path.parentNode!.insertBefore(path, this.#tools[0]!);
      } else path.removeAttribute("marker-end");
    }
    for (const [i, it] of this.#tools.entries()) {
      it.classList.toggle("chosen", i === tool);
      it.classList.toggle(
        "dim",
        tool === undefined ? !matches(i) : !neighbors.has(i) && i !== tool,
      );
      it.setAttribute("aria-pressed", String(i === tool));
    }
  }

  #createTool(i: number, { x, y }: Point): SVGElement {
    const { name, effect, summary } = this.#view.tools[i]!;
    const label = getShortName(name, this.#view.server);
    const group = svgElement(
      "g",
      {
        class: `tool ${effect}`,
        tabindex: "0",
        role: "button",
        "aria-label": `${label}, ${effect === "read" ? "reads" : "writes"}`,
      },
      svgElement("title", {}, `${escapeInvisible(name)}: ${escapeInvisible(summary)}`),
      svgElement("rect", {
        x: String(x),
        y: String(y),
        width: String(box.width),
        height: String(box.height),
        rx: "6",
      }),
      createEffectSign(effect, x, y + box.height / 2),
      svgElement(
        "text",
        { x: String(x + 26), y: String(y + box.height / 2 + 4) },
        label.length > 19 ? `${label.slice(0, 18)}…` : label,
      ),
    );
    group.addEventListener("click", () => this.#listener.choose(i));
    group.addEventListener("keydown", event => {
      if (event.key === "Enter" || event.key === " ") this.#listener.choose(i);
      else if (event.key === "Escape") this.#listener.choose(undefined);
      else return;
      event.preventDefault();
    });
    for (const it of ["pointerenter", "focus"])
      group.addEventListener(it, () => this.#listener.point(i));
    for (const it of ["pointerleave", "blur"])
      group.addEventListener(it, () => this.#listener.point(undefined));
    return group;
  }
}

/** Reading and writing differ in shape as well as in color. */
const createEffectSign = (effect: "read" | "write", x: number, middle: number) =>
  effect === "read"
    ? svgElement("circle", { class: "sign", cx: String(x + 14), cy: String(middle), r: "4" })
    : svgElement("rect", {
        class: "sign",
        x: String(x + 10),
        y: String(middle - 4),
        width: "8",
        height: "8",
        rx: "1",
      });

function createCanvas(
  { server }: GraphView,
  { width, height }: { readonly width: number; readonly height: number },
): SVGElement {
  const arrowHead = svgElement(
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
  );
  const svg = svgElement(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": `Dependency graph of ${server}; the table below has the same content`,
    },
    svgElement("defs", {}, arrowHead),
  );
  // shrinks a little to fit, but stays readable
  svg.style.width = `${width}px`;
  svg.style.minWidth = `${Math.min(width, Math.max(520, width * 0.76))}px`;
  return svg;
}

/** Removes the name of the server, which is shown above the drawing, from the name of a tool. */
export const getShortName = (tool: string, server: string): string =>
  escapeInvisible(tool.startsWith(`${server}_`) ? tool.slice(server.length + 1) : tool);

/** Groups the edges by the pair of tools that they connect. */
function groupByPair(edges: readonly GraphEdge[]): readonly (readonly GraphEdge[])[] {
  const pairs = new Map<string, GraphEdge[]>();
  for (const it of edges)
    pairs.set(`${it.a} ${it.b}`, [...(pairs.get(`${it.a} ${it.b}`) ?? []), it]);
  return [...pairs.values()];
}
