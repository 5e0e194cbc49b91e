/**
 * What stands beside the graph: what a tool needs and gives, edge by edge; with no tool chosen, how
 * to read the picture.
 */
import type { GraphEdge, GraphView } from "../../src/protocol/graphPage.ts";
import { element } from "../element.ts";
import { formatCount, formatFixed, visible } from "../text.ts";
import { shortName, type EdgeFilter } from "./drawing.ts";

export function renderSide(
  view: GraphView,
  tool: number | undefined,
  shown: EdgeFilter,
  choose: (tool: number) => void,
): HTMLElement[] {
  if (tool === undefined) return renderLegend(view);
  const { name, effect, summary } = view.tools[tool]!;
  const own = view.edges.filter(it => shown[it.kind]);
  const needs = own.filter(it => it.b === tool);
  const gives = own.filter(it => it.a === tool);
  return [
    element("h1", {}, visible(name)),
    element(
      "p",
      { class: "quiet" },
      `${visible(summary)} ${effect === "read" ? "Reads." : "Writes."}`,
    ),
    element("h2", {}, `Needs, from ${formatCount(new Set(needs.map(it => it.a)).size, "tool")}`),
    needs.length
      ? renderNeeds(view, needs, choose)
      : element("p", { class: "quiet" }, "Nothing: it can be called first."),
    element("h2", {}, `Gives, to ${formatCount(new Set(gives.map(it => it.b)).size, "tool")}`),
    gives.length
      ? element("ul", {}, ...gives.map(it => renderEdge(view, it, it.b, choose)))
      : element("p", { class: "quiet" }, "Nothing that another tool needs."),
  ];
}

/** By argument: what stands under one heading are alternatives. */
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
      element("h3", {}, input === undefined ? "to have run before" : visible(input)),
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
  const link = element(
    "button",
    { type: "button", class: "link" },
    shortName(view.tools[other]!.name, view.server),
  );
  link.addEventListener("click", () => choose(other));
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

/** What flows, with its confidence where that is below one, and what speaks against it. */
export function formatFlow({ kind, via, confidence, why }: GraphEdge): string {
  const flow = via
    ? `${visible(via.output)} → ${visible(via.input)}`
    : kind === "implicit"
      ? "implicit: must have run before"
      : "";
  const sure = confidence < 1 ? ` (${formatFixed(confidence, 1)})` : "";
  return [`${flow}${sure}`, why === undefined ? "" : visible(why)]
    .filter(it => it !== "")
    .join(" · ");
}

function renderLegend({ server, tools, edges }: GraphView): HTMLElement[] {
  const reads = tools.filter(it => it.effect === "read").length;
  const explicit = edges.filter(it => it.kind === "explicit").length;
  const tried = edges.filter(it => it.verified === "works" || it.verified === "fails");
  return [
    element("h1", {}, visible(server)),
    element(
      "p",
      { class: "quiet" },
      `${formatCount(tools.length, "tool")}, ${reads} that read and ${tools.length - reads} that write; ${formatCount(edges.length, "edge")}, ${explicit} explicit and ${edges.length - explicit} implicit.`,
    ),
    ...(tried.length
      ? [
          element(
            "p",
            { class: "quiet" },
            `${tried.length} were run on live sessions: ${tried.filter(it => it.verified === "works").length} work, ${tried.filter(it => it.verified === "fails").length} fail.`,
          ),
        ]
      : []),
    element(
      "p",
      { class: "quiet" },
      "Each column needs what stands to its left: how far right a tool is says how many calls must come before it. Choose a tool to see what it needs and gives; a number in brackets is the confidence where it is below one.",
    ),
    element(
      "dl",
      { class: "key" },
      element("dt", {}, element("i", { class: "sign read" })),
      element("dd", {}, "a tool that reads"),
      element("dt", {}, element("i", { class: "sign write" })),
      element("dd", {}, "a tool that writes"),
      element("dt", {}, element("i", { class: "stroke explicit" })),
      element("dd", {}, "explicit: a result holds what an argument takes"),
      element("dt", {}, element("i", { class: "stroke implicit" })),
      element("dd", {}, "implicit: it must have run before"),
    ),
  ];
}
