/**
 * Draws the dependency graph: tools in columns, lines from each tool to those that need its result.
 * The chosen tool and its neighbors are highlighted, the rest is dimmed.
 */
import type { GraphEdge, GraphView } from "../../src/protocol/graphPage.ts";
import { element, svgElement } from "../element.ts";
import { escapeInvisible } from "../text.ts";

const margin = { left: 12, top: 12, right: 12, bottom: 12 };
const rowGap = 34;
/** Space to the right of the last column, for lines within it. */
const loopSpace = 46;

/** Which kinds of edges are shown. */
export interface EdgeFilter {
  readonly explicit: boolean;
  readonly implicit: boolean;
}

interface DrawingListener {
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
  svg.style.minWidth = `${Math.min(width, Math.max(500, width * 0.7))}px`;
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

/** The size of a tool's box. */
const box = { width: 162, height: 26 };

/** The upper left corner of a box. */
interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Creates the line of the edges between two tools. It runs from side to side, or around the right
 * side if both tools are in one column. `columns` is the distance in columns, negative to the left.
 */
function createLine(edges: readonly GraphEdge[], a: Point, b: Point, columns: number): SVGElement {
  const [ay, by] = [a.y + box.height / 2, b.y + box.height / 2];
  const ax = columns < 0 ? a.x : a.x + box.width;
  const bx = columns > 0 ? b.x : b.x + box.width;
  const bend =
    columns === 0
      ? Math.min(46, 18 + Math.abs(ay - by) / 9)
      : Math.sign(columns) * Math.max(26, Math.abs(bx - ax) / 2);
  const d = `M${ax} ${ay}C${ax + bend} ${ay} ${columns === 0 ? bx + bend : bx - bend} ${by} ${bx} ${by}`;
  const kind = edges.some(it => it.kind === "explicit") ? "explicit" : "implicit";
  return svgElement("path", { class: `line ${kind} ${findResult(edges) ?? ""}`, d });
}

/** The best result of running the edges, if one was run. */
function findResult(edges: readonly GraphEdge[]): GraphEdge["verified"] {
  const results = new Set(edges.map(it => it.verified));
  return (["works", "fails", "untried"] as const).find(it => results.has(it));
}

export interface Dependency {
  /** Indices into the list of tools: `a` comes before `b`. */
  readonly a: number;
  readonly b: number;
  /** The input of `b` that `a` fills. Edges for the same input are alternatives. */
  readonly need: string;
}

interface Position {
  readonly column: number;
  readonly row: number;
}

/** The most rows in a column; a longer layer takes several columns. */
const maxRows = 18;

/**
 * Returns the position of each tool, in the order of the list.
 *
 * Own code instead of dagre, which ranks by longest path: alternatives and cycles make its drawings
 * of the twenty servers 1,050 to 4,158 px wide (these: 424 to 798), and a column no longer counts
 * calls. With these columns imposed, dagre's order has more crossings on eleven servers, fewer on
 * eight, and the page's script grows from 10 to 60 KB.
 */
export function layOut(count: number, edges: readonly Dependency[]): readonly Position[] {
  const depths = findDepths(count, edges);
  const layers = Array.from({ length: Math.max(-1, ...depths) + 1 }, (_, depth) =>
    depths.flatMap((it, tool) => (it === depth ? [tool] : [])),
  ).filter(it => it.length > 0);
  orderLayers(layers, edges);
  const height = Math.max(...layers.map(countRows));
  const positions: Position[] = [];
  let column = 0;
  for (const layer of layers) {
    const rows = countRows(layer);
    const top = (height - Math.min(rows, layer.length)) / 2;
    for (const [i, tool] of layer.entries())
      positions[tool] = { column: column + Math.floor(i / rows), row: (i % rows) + top };
    column += countColumns(layer);
  }
  return positions;
}

const countColumns = (layer: readonly number[]) => Math.ceil(layer.length / maxRows);
const countRows = (layer: readonly number[]) => Math.ceil(layer.length / countColumns(layer));

/**
 * Finds how many calls must come before each tool: one more than the depth of its hardest need. The
 * depth of a need is that of its easiest alternative.
 */
function findDepths(count: number, edges: readonly Dependency[]): readonly number[] {
  const incoming = Array.from({ length: count }, (_, tool) => edges.filter(it => it.b === tool));
  const outgoing = Array.from(
    { length: count },
    (_, tool) => edges.filter(it => it.a === tool).length,
  );
  const depths = incoming.map(it => (it.length === 0 ? 0 : Infinity));
  for (;;) {
    settleDepths(depths, incoming);
    const unsettled = depths.flatMap((it, tool) => (it === Infinity ? [tool] : []));
    if (unsettled.length === 0) return depths;
    // a cycle: the tool with the most outgoing edges comes first
    const balance = (tool: number) => outgoing[tool]! - incoming[tool]!.length;
    const first = unsettled.reduce((best, it) => (balance(it) > balance(best) ? it : best));
    depths[first] = Math.max(0, ...depths.filter(it => it !== Infinity));
  }
}

/** Sets the depth of every tool whose needs all have one. */
function settleDepths(depths: number[], incoming: readonly (readonly Dependency[])[]): void {
  for (let hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (const [tool, edges] of incoming.entries()) {
      if (depths[tool] !== Infinity) continue;
      const needs = new Map<string, number>();
      for (const { a, need } of edges)
        needs.set(need, Math.min(needs.get(need) ?? Infinity, depths[a]!));
      const depth = 1 + Math.max(...needs.values());
      if (depth === Infinity) continue;
      depths[tool] = depth;
      hasChanged = true;
    }
  }
}

const sweeps = 6;

/**
 * Orders each layer by the mean position of its neighbors in other layers, sweeping forward and
 * backward (the barycenter heuristic).
 */
function orderLayers(layers: number[][], edges: readonly Dependency[]): void {
  const neighbors = listNeighbors(edges);
  for (let sweep = 0; sweep < sweeps; sweep++) {
    // a tool's position in its layer, from 0 to 1
    const positions = new Map(
      layers.flatMap(layer => layer.map((tool, i) => [tool, (i + 0.5) / layer.length] as const)),
    );
    for (const layer of sweep % 2 === 0 ? layers : layers.toReversed()) {
      const own = new Set(layer);
      const mean = (tool: number) => {
        const others = (neighbors.get(tool) ?? []).filter(it => !own.has(it));
        return others.length
          ? others.reduce((sum, it) => sum + positions.get(it)!, 0) / others.length
          : positions.get(tool)!;
      };
      const means = new Map(layer.map(it => [it, mean(it)]));
      layer.sort((a, b) => means.get(a)! - means.get(b)! || a - b);
      for (const [i, tool] of layer.entries()) positions.set(tool, (i + 0.5) / layer.length);
    }
  }
}

function listNeighbors(edges: readonly Dependency[]): ReadonlyMap<number, readonly number[]> {
  const neighbors = new Map<number, number[]>();
  const add = (tool: number, neighbor: number) =>
    neighbors.set(tool, [...(neighbors.get(tool) ?? []), neighbor]);
  for (const { a, b } of edges) {
    add(a, b);
    add(b, a);
  }
  return neighbors;
}
