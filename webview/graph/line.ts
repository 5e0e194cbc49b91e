/** The lines of the dependency graph. */
import type { GraphEdge } from "../../src/protocol/graphPage.ts";
import { svgElement } from "../element.ts";

/** The size of a tool's box. */
export const box = { width: 162, height: 26 };

/** The upper left corner of a box. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Creates the line of the edges between two tools. It runs from side to side, or around the right
 * side if both tools are in one column. `columns` is the distance in columns, negative to the left.
 */
export function createLine(
  edges: readonly GraphEdge[],
  a: Point,
  b: Point,
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
  const kind = edges.some(it => it.kind === "explicit") ? "explicit" : "implicit";
  return svgElement("path", { class: `line ${kind} ${findResult(edges) ?? ""}`, d });
}

/** The best result of running the edges, if one was run. */
function findResult(edges: readonly GraphEdge[]): GraphEdge["verified"] {
  const results = new Set(edges.map(it => it.verified));
  return (["works", "fails", "untried"] as const).find(it => results.has(it));
}
