/**
 * The state machine as a picture, laid out by hand in the paper's five groups, so that every
 * synthesis has the same picture. A line of text below describes the state or edge under the
 * pointer.
 */
import type { TransitionCount } from "../../src/protocol/synthesisPage.ts";
import { element, svgElement } from "../element.ts";
import { escapeInvisible, formatInteger, formatPercent } from "../text.ts";

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

const size = { width: 1104, height: 566 };

interface Group {
  readonly name: string;
  readonly x: number;
  readonly width: number;
}

const groups: readonly Group[] = [
  { name: "Query", x: 8, width: 184 },
  { name: "Turn", x: 204, width: 126 },
  { name: "Tool execution", x: 342, width: 460 },
  { name: "Response", x: 814, width: 124 },
  { name: "Continuation", x: 950, width: 146 },
];

interface StatePosition {
  /** Of the center. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

const stateHeight = 42;

export const states: Readonly<Record<string, StatePosition>> = {
  query: { x: 108, y: 160, width: 108 },
  "check-query": { x: 108, y: 290, width: 108 },
  turn: { x: 267, y: 290, width: 96 },
  ask: { x: 410, y: 290, width: 104 },
  "check-calls": { x: 568, y: 290, width: 108 },
  execute: { x: 728, y: 290, width: 104 },
  success: { x: 568, y: 170, width: 104 },
  regenerate: { x: 488, y: 396, width: 104 },
  partial: { x: 642, y: 396, width: 84 },
  failure: { x: 744, y: 396, width: 84 },
  recover: { x: 568, y: 484, width: 104 },
  respond: { x: 876, y: 290, width: 100 },
  continue: { x: 1018, y: 160, width: 108 },
  finish: { x: 1018, y: 266, width: 108 },
  accept: { x: 1018, y: 370, width: 108 },
  reject: { x: 1018, y: 484, width: 108 },
};

interface Route {
  /** Absolute lines and cubic curves; the last two points give the direction of the arrow. */
  readonly path: string;
  /** Position of the count. */
  readonly label: readonly [x: number, y: number];
}

const routes: Readonly<Record<string, Route>> = {
  "query>check-query": { path: "M108 181 L108 269", label: [126, 229] },
  "check-query>query": { path: "M70 269 C44 245 44 205 70 181", label: [34, 229] },
  "check-query>turn": { path: "M162 290 L219 290", label: [190, 278] },
  "turn>ask": { path: "M315 290 L358 290", label: [336, 278] },
  "ask>check-calls": { path: "M462 290 L514 290", label: [488, 278] },
  "check-calls>execute": { path: "M622 290 L676 290", label: [649, 278] },
  "execute>success": { path: "M728 269 C728 205 690 170 620 170", label: [716, 206] },
  "success>ask": { path: "M516 170 C455 170 426 205 424 269", label: [452, 206] },
  "ask>respond": {
    path: "M394 269 C394 118 440 106 560 106 L720 106 C830 106 876 150 876 269",
    label: [740, 98],
  },
  "ask>regenerate": { path: "M426 311 C432 345 446 362 466 375", label: [456, 342] },
  "regenerate>ask": { path: "M436 396 C398 392 392 350 400 311", label: [384, 356] },
  "check-calls>regenerate": { path: "M560 311 C556 345 538 360 516 375", label: [560, 346] },
  "execute>partial": { path: "M708 311 C696 345 664 345 652 375", label: [662, 346] },
  "execute>failure": { path: "M738 311 C744 335 744 350 744 375", label: [764, 346] },
  "partial>recover": { path: "M642 417 C642 444 612 446 590 463", label: [650, 442] },
  "failure>recover": { path: "M744 417 C744 462 690 474 620 476", label: [740, 450] },
  "recover>ask": { path: "M516 484 C400 480 350 410 378 311", label: [388, 440] },
  "recover>respond": { path: "M620 492 C780 494 866 450 872 311", label: [800, 478] },
  "respond>continue": { path: "M926 284 C962 278 926 166 964 162", label: [944, 222] },
  "respond>regenerate": { path: "M848 311 C790 452 600 440 524 417", label: [806, 402] },
  "continue>query": {
    path: "M1018 139 C1018 44 990 28 900 28 L226 28 C136 28 108 44 108 139",
    label: [560, 20],
  },
  "continue>finish": { path: "M1018 181 L1018 245", label: [1040, 216] },
  "query>finish": {
    path: "M150 139 C156 62 180 50 260 50 L860 50 C930 50 938 90 938 170 C938 240 942 262 964 264",
    label: [640, 44],
  },
  "finish>accept": { path: "M1018 287 L1018 349", label: [1040, 322] },
  "finish>reject": { path: "M1062 287 C1092 330 1092 420 1062 463", label: [1080, 376] },
  "check-query>reject": {
    path: "M96 311 C92 500 110 528 220 528 L890 528 C940 528 970 522 990 505",
    label: [240, 520],
  },
  "query>reject": {
    path: "M54 166 C14 190 16 430 18 480 C20 538 60 546 160 546 L900 546 C960 546 996 530 1006 505",
    label: [240, 558],
  },
  "regenerate>reject": {
    path: "M478 417 C474 500 500 512 560 512 L880 512 C926 512 944 500 964 492",
    label: [700, 506],
  },
  "execute>reject": { path: "M776 311 C806 350 786 470 964 478", label: [812, 440] },
  "success>reject": {
    path: "M620 160 C806 156 796 250 802 330 C808 430 850 466 964 472",
    label: [796, 190],
  },
};

/**
 * The route from one state to another; a straight line if the layout has none. Undefined if a state
 * has no position.
 */
export function findRoute(from: string, to: string): Route | undefined {
  const [a, b] = [states[from], states[to]];
  if (!a || !b) return undefined;
  return (
    routes[`${from}>${to}`] ?? {
      path: `M${a.x} ${a.y} L${b.x} ${b.y}`,
      label: [(a.x + b.x) / 2, (a.y + b.y) / 2],
    }
  );
}

/** The edges of the layout; those that were not taken are shown faintly. */
export const knownEdges: readonly (readonly [from: string, to: string])[] = Object.keys(routes).map(
  it => it.split(">") as [string, string],
);

interface Arrow {
  readonly line: string;
  readonly head: string;
}

/** Splits an edge into a line and the arrow head at its end. */
export function createArrow(path: string, width: number): Arrow {
  const numbers = path.match(/-?\d+(?:\.\d+)?/g)!.map(Number);
  const [bx, by, x, y] = numbers.slice(-4) as [number, number, number, number];
  const length = Math.hypot(x - bx, y - by) || 1;
  const [dx, dy] = [(x - bx) / length, (y - by) / length];
  const long = 6 + width * 1.1;
  const wide = 3 + width * 0.75;
  const [ex, ey] = [x - dx * long, y - dy * long];
  const end = path.replace(/-?\d+(?:\.\d+)? -?\d+(?:\.\d+)?$/, `${ex.toFixed(1)} ${ey.toFixed(1)}`);
  const corner = (side: number) =>
    `${(ex - dy * wide * side).toFixed(1)} ${(ey + dx * wide * side).toFixed(1)}`;
  return { line: end, head: `M${x} ${y}L${corner(1)}L${corner(-1)}Z` };
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly n: number;
  /** The most frequent first. */
  readonly events: readonly { readonly event: string; readonly n: number }[];
  /** Share of all transitions that leave the state `from`, from 0 to 1. */
  readonly share: number;
  /** Count relative to the most frequent edge, from 0 to 1. */
  readonly weight: number;
}

export function groupTransitions(transitions: readonly TransitionCount[]): readonly Edge[] {
  const groups = new Map<string, TransitionCount[]>();
  for (const it of transitions)
    groups.set(`${it.from}>${it.to}`, [...(groups.get(`${it.from}>${it.to}`) ?? []), it]);
  const sums = [...groups.values()].map(all => ({
    from: all[0]!.from,
    to: all[0]!.to,
    n: sum(all),
    events: all.map(({ event, n }) => ({ event, n })).toSorted((a, b) => b.n - a.n),
  }));
  const max = Math.max(1, ...sums.map(it => it.n));
  return sums.map(it => ({
    ...it,
    share: it.n / countLeaving(sums, it.from),
    weight: it.n / max,
  }));
}

/** How often a state was entered; for the first state, how often it was left. */
export function countVisits(edges: readonly Edge[], state: string): number {
  const entered = sum(edges.filter(it => it.to === state));
  const left = sum(edges.filter(it => it.from === state));
  return Math.max(entered, left);
}

const countLeaving = (
  edges: readonly { readonly from: string; readonly n: number }[],
  from: string,
) => sum(edges.filter(it => it.from === from)) || 1;

const sum = (counts: readonly { readonly n: number }[]) =>
  counts.reduce((total, it) => total + it.n, 0);

/** Whether an edge is a rejection, a repair of something that went wrong, or the normal path. */
export const classifyEdge = ({
  from,
  to,
}: Pick<Edge, "from" | "to">): "reject" | "repair" | "normal" => {
  if (to === "reject") return "reject";
  const repairs = ["regenerate", "recover", "partial", "failure"];
  return repairs.includes(to) ||
    repairs.includes(from) ||
    (from === "check-query" && to === "query")
    ? "repair"
    : "normal";
};
