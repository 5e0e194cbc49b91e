/**
 * The state machine as a picture: states in their groups, edges as wide as their share, counts upon
 * them. What is pointed at is read out below.
 */
import type { TransitionCount } from "../../src/protocol/synthesisPage.ts";
import { drawn, element } from "../element.ts";
import { percent, visible, whole } from "../text.ts";
import { groupTransitions, classifyEdge, countVisits, type Edge } from "./edges.ts";
import { createArrow, knownEdges, groups, findRoute, size, stateHeight, states } from "./layout.ts";

/** `choose` is told of an edge into rejection that was chosen, by the state it leaves. */
export function createStateMachine(
  transitions: readonly TransitionCount[],
  choose: (from: string) => void,
): HTMLElement {
  const edges = groupTransitions(transitions);
  const reading = element("output", { class: "reading quiet" }, hint);
  const read = (words: string | undefined) => reading.replaceChildren(words ?? hint);
  const svg = drawn("svg", {
    viewBox: `0 0 ${size.width} ${size.height}`,
    role: "group",
    "aria-label": "State machine of the synthesis; the table below says the same",
  });
  const known = new Set(edges.map(it => `${it.from}>${it.to}`));
  const unused = knownEdges
    .filter(([from, to]) => !known.has(`${from}>${to}`))
    .map(([from, to]) => drawn("path", { class: "edge unused", d: findRoute(from, to)!.path }));
  // the widest lie lowest, so that thin ones are seen to cross them
  const shown = edges.toSorted((a, b) => b.n - a.n);
  svg.append(
    ...groups.map(drawGroup),
    ...unused,
    ...shown.flatMap(it => drawEdge(it, read, choose)),
    ...Object.keys(states).map(it => drawState(it, edges, svg, read)),
    ...shown.flatMap(drawEdgeLabel),
    ...groups.map(drawGroupHeading),
  );
  return element(
    "figure",
    { class: "machine" },
    element("div", { class: "drawing" }, svg),
    element("figcaption", {}, reading),
  );
}

const hint =
  "Point at a state or an edge to read its counts; an edge into reject lists what was turned down there.";

function drawGroup({ x, width }: (typeof groups)[number]): SVGElement {
  return drawn("rect", {
    class: "band",
    x: String(x),
    y: "64",
    width: String(width),
    height: "470",
    rx: "8",
  });
}

const drawGroupHeading = ({ name, x, width }: (typeof groups)[number]): SVGElement =>
  drawn(
    "text",
    { class: "heading", x: String(x + width / 2), y: "86", "text-anchor": "middle" },
    name,
  );

const getLineWidth = ({ weight }: Edge) => 1.3 + 7.7 * weight;

function drawEdge(
  it: Edge,
  read: (words: string | undefined) => void,
  choose: (from: string) => void,
): SVGElement[] {
  const route = findRoute(it.from, it.to);
  if (!route) return [];
  const { line, head } = createArrow(route.path, getLineWidth(it));
  const kind = classifyEdge(it);
  const words = describeEdge(it);
  const button =
    kind === "reject"
      ? { tabindex: "0", role: "button", "aria-label": `List what was turned down here: ${words}` }
      : {};
  const group = drawn(
    "g",
    { class: `edge ${kind}`, "data-from": it.from, "data-to": it.to, ...button },
    drawn("path", { class: "reach", d: route.path }),
    drawn("path", { class: "line", d: line, "stroke-width": getLineWidth(it).toFixed(1) }),
    drawn("path", { class: "head", d: head }),
  );
  onHover(
    group,
    () => read(words),
    () => read(undefined),
  );
  if (kind === "reject") {
    group.addEventListener("click", () => choose(it.from));
    group.addEventListener(
      "keydown",
      event =>
        (event.key === "Enter" || event.key === " ") && (event.preventDefault(), choose(it.from)),
    );
  }
  return [group];
}

function drawEdgeLabel(it: Edge): SVGElement[] {
  const route = findRoute(it.from, it.to);
  return route
    ? [
        drawn(
          "text",
          {
            class: `count ${classifyEdge(it)}`,
            x: String(route.label[0]),
            y: String(route.label[1]),
            "text-anchor": "middle",
          },
          whole(it.n),
        ),
      ]
    : [];
}

function drawState(
  name: string,
  edges: readonly Edge[],
  svg: SVGElement,
  read: (words: string | undefined) => void,
): SVGElement {
  const { x, y, width } = states[name]!;
  const visits = countVisits(edges, name);
  const group = drawn(
    "g",
    {
      class: `state ${name === "reject" ? "reject" : name === "accept" ? "accept" : ""}${visits === 0 ? " unused" : ""}`,
    },
    drawn("rect", {
      x: String(x - width / 2),
      y: String(y - stateHeight / 2),
      width: String(width),
      height: String(stateHeight),
      rx: "7",
    }),
    drawn("text", { class: "name", x: String(x), y: String(y - 3), "text-anchor": "middle" }, name),
    drawn(
      "text",
      { class: "visits", x: String(x), y: String(y + 13), "text-anchor": "middle" },
      whole(visits),
    ),
  );
  const light = (on: boolean) => {
    svg.classList.toggle("chosen", on);
    for (const it of svg.querySelectorAll(`g.edge[data-from="${name}"], g.edge[data-to="${name}"]`))
      it.classList.toggle("lit", on);
  };
  const out = edges.filter(it => it.from === name).toSorted((a, b) => b.n - a.n);
  const words = `${name}: ${whole(visits)} times${out.length ? `, then ${out.map(it => `${it.to} ${percent(it.share)}`).join(", ")}` : ""}`;
  onHover(
    group,
    () => (light(true), read(words)),
    () => (light(false), read(undefined)),
  );
  return group;
}

function onHover(of: SVGElement, enter: () => void, leave: () => void): void {
  for (const it of ["pointerenter", "focus"]) of.addEventListener(it, enter);
  for (const it of ["pointerleave", "blur"]) of.addEventListener(it, leave);
}

function describeEdge({ from, to, n, events, share }: Edge): string {
  const by =
    events.length === 1
      ? visible(events[0]!.event)
      : events
          .slice(0, 6)
          .map(it => `${visible(it.event)} ${whole(it.n)}`)
          .join(", ");
  return `${from} → ${to}: ${whole(n)} times, ${percent(share)} of what leaves ${from} (${by}${events.length > 6 ? ", …" : ""})`;
}

/** The same as a table, for whoever cannot see the picture or wants each event. */
export function createTransitionTable(transitions: readonly TransitionCount[]): HTMLElement {
  const edges = groupTransitions(transitions);
  const rows = edges.flatMap(it =>
    it.events.map(({ event, n }) => [
      it.from,
      visible(event),
      it.to,
      whole(n),
      percent((n / it.n) * it.share),
    ]),
  );
  const order = Object.keys(states);
  rows.sort((a, b) => order.indexOf(a[0]!) - order.indexOf(b[0]!));
  const head = element(
    "tr",
    {},
    ...["From", "On", "To", "Times", "Of what leaves"].map((it, i) =>
      element("th", { scope: "col", class: i > 2 ? "number" : undefined }, it),
    ),
  );
  const body = rows.map(row =>
    element(
      "tr",
      {},
      ...row.map((it, i) => element("td", { class: i > 2 ? "number" : undefined }, it)),
    ),
  );
  return element(
    "details",
    { class: "all" },
    element("summary", {}, "All transitions as a table"),
    element(
      "table",
      { class: "transitions" },
      element("thead", {}, head),
      element("tbody", {}, ...body),
    ),
  );
}
