/**
 * The dependency graph page of a server: the drawing, a panel about the chosen tool, a filter, and
 * all edges as a table.
 */
import type { GraphPage, GraphView } from "../../src/protocol/graphPage.ts";
import { openChannel } from "../channel.ts";
import { element } from "../element.ts";
import { visible } from "../text.ts";
import { GraphDrawing, shortName } from "./drawing.ts";
import { formatFlow, renderSide } from "./sidePanel.ts";

const channel = openChannel<GraphPage>();
const page = document.getElementById("page")!;

channel.on("changed", renderPage);
channel
  .request("load", null)
  .then(renderPage, (error: Error) =>
    page.replaceChildren(element("p", { class: "empty", role: "alert" }, `${error.message}.`)),
  );

function renderPage(view: GraphView): void {
  channel.saveState({ server: view.server });
  const side = element("aside", { "aria-live": "polite" });
  const filter = element("input", {
    type: "search",
    class: "filter",
    placeholder: "Filter tools",
    "aria-label": "Filter tools by name",
  });
  const [explicit, implicit] = [createCheckbox("explicit"), createCheckbox("implicit")];
  const matches = (tool: number) =>
    view.tools[tool]!.name.includes(filter.value.trim().toLowerCase());
  let chosen: number | undefined;
  let pointed: number | undefined;
  /** The tool that the side panel shows; null before it is first rendered. */
  let rendered: number | undefined | null = null;
  const update = ({ isSideStale = false } = {}) => {
    const edgeFilter = { explicit: explicit.box.checked, implicit: implicit.box.checked };
    const tool = chosen ?? pointed;
    drawing.highlight(tool, edgeFilter, matches);
    if (rendered === tool && !isSideStale) return;
    rendered = tool;
    side.replaceChildren(...renderSide(view, tool, edgeFilter, choose));
  };
  const choose = (tool: number | undefined) => {
    chosen = tool;
    pointed = undefined;
    update();
  };
  const drawing = new GraphDrawing(view, {
    choose(tool) {
      chosen = tool === chosen ? undefined : tool;
      update();
    },
    point(tool) {
      pointed = tool;
      update();
    },
  });
  filter.addEventListener("input", () => update());
  for (const it of [explicit, implicit])
    it.box.addEventListener("change", () => update({ isSideStale: true }));
  page.setAttribute("aria-busy", "false");
  page.replaceChildren(
    element("div", { class: "bar" }, filter, explicit.label, implicit.label),
    element("div", { class: "sides" }, drawing.element, side),
    renderTable(view),
  );
  update();
}

function createCheckbox(kind: "explicit" | "implicit") {
  const box = element("input", { type: "checkbox", checked: true });
  return { box, label: element("label", { class: "check" }, box, ` ${kind}`) };
}

function renderTable({ tools, edges, server }: GraphView): HTMLElement {
  const rows = edges.map(it => [
    shortName(tools[it.a]!.name, server),
    shortName(tools[it.b]!.name, server),
    it.kind,
    formatFlow(it),
    it.verified ?? "",
  ]);
  const hasResults = edges.some(it => it.verified);
  const names = ["Tool", "Comes before", "Kind", "Value passed", ...(hasResults ? ["Result"] : [])];
  const head = element("tr", {}, ...names.map(it => element("th", { scope: "col" }, it)));
  const body = rows.map(row =>
    element("tr", {}, ...row.slice(0, names.length).map(it => element("td", {}, visible(it)))),
  );
  return element(
    "details",
    { class: "all" },
    element("summary", {}, "All edges as a table"),
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
  );
}
