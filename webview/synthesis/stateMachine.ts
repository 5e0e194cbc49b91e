/**
 * The state machine as a picture: states in their groups, and edges whose width shows their counts.
 * A line of text below the picture describes the state or edge under the pointer.
 */
import type { TransitionCount } from "../../src/protocol/synthesisPage.ts";
import { svgElement, element } from "../element.ts";
import { formatPercent, escapeInvisible, formatInteger } from "../text.ts";
import { classifyEdge, countVisits, groupTransitions, type Edge } from "./edges.ts";
import { createArrow, findRoute, groups, knownEdges, size, stateHeight, states } from "./layout.ts";

/** `selectRejected` is called with the state that a chosen edge into rejection leaves. */
export function createStateMachine(
  transitions: readonly TransitionCount[],
  selectRejected: (from: string) => void,
): HTMLElement {
  const edges = groupTransitions(transitions);
  const description = element("output", { class: "reading quiet" }, hint);
  const describe = (text: string | undefined) => description.replaceChildren(text ?? hint);
  const svg = svgElement("svg", {
    viewBox: `0 0 ${size.width} ${size.height}`,
    role: "group",
    "aria-label": "State machine of the synthesis; the table below has the same content",
  });
  // the widest come first, so that thin ones stay visible where they cross
  const sorted = edges.toSorted((a, b) => b.n - a.n);
  svg.append(
    ...groups.map(drawGroup),
    ...drawUnusedEdges(edges),
    ...sorted.flatMap(it => drawEdge(it, describe, selectRejected)),
    ...Object.keys(states).map(it => drawState(it, edges, svg, describe)),
    ...sorted.flatMap(drawEdgeLabel),
    ...groups.map(drawGroupHeading),
  );
  return element(
    "figure",
    { class: "machine" },
    element("div", { class: "drawing" }, svg),
    element("figcaption", {}, description),
  );
}

const hint =
  "Point at a state or an edge to see its counts; click an edge into reject to list its attempts.";

type Describe = (text: string | undefined) => void;
type Group = (typeof groups)[number];

const drawGroup = ({ x, width }: Group): SVGElement =>
  svgElement("rect", {
    class: "band",
    x: String(x),
    y: "64",
    width: String(width),
    height: "470",
    rx: "8",
  });

const drawGroupHeading = ({ name, x, width }: Group): SVGElement =>
  svgElement(
    "text",
    { class: "heading", x: String(x + width / 2), y: "86", "text-anchor": "middle" },
    name,
  );

function drawUnusedEdges(edges: readonly Edge[]): SVGElement[] {
  const used = new Set(edges.map(it => `${it.from}>${it.to}`));
  return knownEdges
    .filter(([from, to]) => !used.has(`${from}>${to}`))
    .map(([from, to]) =>
      svgElement("path", { class: "edge unused", d: findRoute(from, to)!.path }),
    );
}

const getLineWidth = ({ weight }: Edge) => 1.3 + 7.7 * weight;

function drawEdge(
  edge: Edge,
  describe: Describe,
  selectRejected: (from: string) => void,
): SVGElement[] {
  const route = findRoute(edge.from, edge.to);
  if (!route) return [];
  const width = getLineWidth(edge);
  const { line, head } = createArrow(route.path, width);
  const kind = classifyEdge(edge);
  const text = describeEdge(edge);
  const button =
    kind === "reject"
      ? { tabindex: "0", role: "button", "aria-label": `List the attempts rejected here: ${text}` }
      : {};
  const group = svgElement(
    "g",
    { class: `edge ${kind}`, "data-from": edge.from, "data-to": edge.to, ...button },
    svgElement("path", { class: "reach", d: route.path }),
    svgElement("path", { class: "line", d: line, "stroke-width": width.toFixed(1) }),
    svgElement("path", { class: "head", d: head }),
  );
  onHover(
    group,
    () => describe(text),
    () => describe(undefined),
  );
  if (kind === "reject") onActivate(group, () => selectRejected(edge.from));
  return [group];
}

function drawEdgeLabel(edge: Edge): SVGElement[] {
  const route = findRoute(edge.from, edge.to);
  if (!route) return [];
  const [x, y] = route.label;
  const attributes = { x: String(x), y: String(y), "text-anchor": "middle" };
  return [
    svgElement(
      "text",
      { class: `count ${classifyEdge(edge)}`, ...attributes },
      formatInteger(edge.n),
    ),
  ];
}

function drawState(
  name: string,
  edges: readonly Edge[],
  svg: SVGElement,
  describe: Describe,
): SVGElement {
  const { x, y, width } = states[name]!;
  const visits = countVisits(edges, name);
  const kind = name === "reject" || name === "accept" ? name : "";
  const group = svgElement(
    "g",
    { class: `state ${kind}${visits === 0 ? " unused" : ""}` },
    svgElement("rect", {
      x: String(x - width / 2),
      y: String(y - stateHeight / 2),
      width: String(width),
      height: String(stateHeight),
      rx: "7",
    }),
    svgElement(
      "text",
      { class: "name", x: String(x), y: String(y - 3), "text-anchor": "middle" },
      name,
    ),
    svgElement(
      "text",
      { class: "visits", x: String(x), y: String(y + 13), "text-anchor": "middle" },
      formatInteger(visits),
    ),
  );
  const text = describeState(name, visits, edges);
  onHover(
    group,
    () => (highlightEdges(svg, name, true), describe(text)),
    () => (highlightEdges(svg, name, false), describe(undefined)),
  );
  return group;
}

/** Highlights the edges of a state, and fades the others. */
function highlightEdges(svg: SVGElement, state: string, isOn: boolean): void {
  svg.classList.toggle("chosen", isOn);
  const edges = svg.querySelectorAll(`g.edge[data-from="${state}"], g.edge[data-to="${state}"]`);
  for (const it of edges) it.classList.toggle("lit", isOn);
}

function onHover(target: SVGElement, enter: () => void, leave: () => void): void {
  for (const it of ["pointerenter", "focus"]) target.addEventListener(it, enter);
  for (const it of ["pointerleave", "blur"]) target.addEventListener(it, leave);
}

function onActivate(target: SVGElement, action: () => void): void {
  target.addEventListener("click", action);
  target.addEventListener("keydown", event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    action();
  });
}

function describeState(name: string, visits: number, edges: readonly Edge[]): string {
  const next = edges
    .filter(it => it.from === name)
    .toSorted((a, b) => b.n - a.n)
    .map(it => `${it.to} ${formatPercent(it.share)}`);
  return `${name}: ${formatInteger(visits)} times${next.length ? `, then ${next.join(", ")}` : ""}`;
}

const maxEvents = 6;

function describeEdge({ from, to, n, events, share }: Edge): string {
  const counts =
    events.length === 1
      ? escapeInvisible(events[0]!.event)
      : events
          .slice(0, maxEvents)
          .map(it => `${escapeInvisible(it.event)} ${formatInteger(it.n)}`)
          .join(", ");
  const more = events.length > maxEvents ? ", …" : "";
  const exits = `${formatPercent(share)} of exits from ${from}`;
  return `${from} → ${to}: ${formatInteger(n)} times, ${exits} (${counts}${more})`;
}
