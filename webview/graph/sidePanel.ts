/**
 * The panel beside the dependency graph: what a tool needs and which tools need its result, or a
 * legend if no tool is chosen.
 */
import type { GraphEdge, GraphView } from "../../src/protocol/graphPage.ts";
import { createLink, element } from "../element.ts";
import { formatCount, formatFixed, escapeInvisible } from "../text.ts";
import { getShortName, type EdgeFilter } from "./drawing.ts";

/** Renders the panel for a tool; for undefined, the legend. */
export function renderSide(
  view: GraphView,
  tool: number | undefined,
  filter: EdgeFilter,
  choose: (tool: number) => void,
): HTMLElement[] {
  if (tool === undefined) return renderLegend(view);
  const { name, effect, summary } = view.tools[tool]!;
  const edges = view.edges.filter(it => filter[it.kind]);
  const needs = edges.filter(it => it.b === tool);
  const gives = edges.filter(it => it.a === tool);
  return [
    element("h1", {}, escapeInvisible(name)),
    element(
      "p",
      { class: "quiet" },
      `${escapeInvisible(summary)} ${effect === "read" ? "Reads." : "Writes."}`,
    ),
    element("h2", {}, `Needs · ${formatCount(new Set(needs.map(it => it.a)).size, "tool")}`),
    needs.length
      ? renderNeeds(view, needs, choose)
      : element("p", { class: "quiet" }, "It can be called first."),
    element("h2", {}, `Needed by · ${formatCount(new Set(gives.map(it => it.b)).size, "tool")}`),
    gives.length
      ? element("ul", {}, ...gives.map(it => renderEdge(view, it, it.b, choose)))
      : element("p", { class: "quiet" }, "No other tool needs its result."),
  ];
}

/** Lists the needs by argument: the edges under one heading are alternatives. */
function renderNeeds(
  view: GraphView,
  needs: readonly GraphEdge[],
  choose: (tool: number) => void,
): HTMLElement {
  const inputs = [...new Set(needs.map(it => it.via?.input))];
  return element(
    "div",
    {},
    ...inputs.flatMap(input => [
      element("h3", {}, input === undefined ? "must have run before" : escapeInvisible(input)),
      element(
        "ul",
        {},
        ...needs
          .filter(it => it.via?.input === input)
          .map(it => renderEdge(view, it, it.a, choose)),
      ),
    ]),
  );
}

function renderEdge(
  view: GraphView,
  edge: GraphEdge,
  other: number,
  choose: (tool: number) => void,
): HTMLElement {
  const link = createLink(
    () => choose(other),
    {},
    getShortName(view.tools[other]!.name, view.server),
  );
  return element(
    "li",
    {},
    link,
    renderVerdict(edge),
    element("span", { class: "quiet flow" }, formatFlow(edge)),
  );
}

const verdicts = {
  works: ["good", "✓ works"],
  fails: ["bad", "✗ fails"],
  untried: ["quiet", "not tried"],
} as const;

const renderVerdict = ({ verified }: GraphEdge) =>
  verified
    ? element("span", { class: `verdict ${verdicts[verified][0]}` }, verdicts[verified][1])
    : undefined;

/**
 * Formats the value that flows along an edge, its confidence if below one, and why it is not used.
 */
export function formatFlow({ kind, via, confidence, why }: GraphEdge): string {
  const flow = via
    ? `${escapeInvisible(via.output)} → ${escapeInvisible(via.input)}`
    : kind === "implicit"
      ? "implicit: must have run before"
      : "";
  const confidenceText = confidence < 1 ? ` (${formatFixed(confidence, 1)})` : "";
  return [`${flow}${confidenceText}`, why === undefined ? "" : escapeInvisible(why)]
    .filter(it => it !== "")
    .join(" · ");
}

function renderLegend({ server, tools, edges }: GraphView): HTMLElement[] {
  const paragraph = (text: string) => element("p", { class: "quiet" }, text);
  const reads = tools.filter(it => it.effect === "read").length;
  const explicit = edges.filter(it => it.kind === "explicit").length;
  const works = edges.filter(it => it.verified === "works").length;
  const fails = edges.filter(it => it.verified === "fails").length;
  const toolCounts = `${formatCount(tools.length, "tool")} (${reads} read, ${tools.length - reads} write)`;
  const edgeCounts = `${formatCount(edges.length, "edge")} (${explicit} explicit, ${edges.length - explicit} implicit)`;
  return [
    element("h1", {}, escapeInvisible(server)),
    paragraph(`${toolCounts}, ${edgeCounts}.`),
    ...(works + fails > 0
      ? [
          paragraph(
            `${works + fails} edges were run on live sessions: ${works} work, ${fails} fail.`,
          ),
        ]
      : []),
    paragraph(
      "A tool's column is the number of calls that must come before it. Choose a tool to see what it needs and which tools need its result. A number in brackets is a confidence below one.",
    ),
    renderKey(fails > 0),
  ];
}

const renderKey = (hasFailed: boolean) =>
  element(
    "dl",
    { class: "key" },
    ...(
      [
        ["sign read", "a tool that reads"],
        ["sign write", "a tool that writes"],
        ["stroke explicit", "explicit: a result contains the value of an argument"],
        ["stroke implicit", "implicit: the first tool must have run before"],
        ...(hasFailed ? ([["stroke fails", "failed on a live session"]] as const) : []),
      ] as const
    ).flatMap(([sign, text]) => [
      element("dt", {}, element("i", { class: sign })),
      element("dd", {}, text),
    ]),
  );
