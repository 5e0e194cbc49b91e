/**
 * The dependency graph page of a server: the drawing, a panel about the chosen tool, a filter, and
 * all edges as a table.
 */
import type { GraphPage, GraphView } from "../../src/protocol/graphPage.ts";
import { loadView, openChannel } from "../channel.ts";
import { element } from "../element.ts";
import { escapeInvisible } from "../text.ts";
import { GraphDrawing, getShortName, type EdgeFilter } from "./drawing.ts";
import { formatFlow, renderSide } from "./sidePanel.ts";

const channel = openChannel<GraphPage>();
const page = document.getElementById("page")!;

channel.on("changed", renderPage);
loadView(channel, renderPage);

function renderPage(view: GraphView): void {
  channel.saveState({ server: view.server });
  const side = element("aside", { "aria-live": "polite" });
  const filters = createFilters();
  const matches = (tool: number) => view.tools[tool]!.name.includes(filters.getText());
  let selectedTool: number | undefined;
  let hoveredTool: number | undefined;
  /** The tool that the side panel shows; null before it is first rendered. */
  let renderedTool: number | undefined | null = null;
  const update = ({ isSideStale = false } = {}) => {
    const edgeFilter = filters.getEdgeFilter();
    const tool = selectedTool ?? hoveredTool;
    drawing.highlight(tool, edgeFilter, matches);
    if (renderedTool === tool && !isSideStale) return;
    renderedTool = tool;
    side.replaceChildren(...renderSide(view, tool, edgeFilter, select));
  };
  const select = (tool: number | undefined) => {
    selectedTool = tool;
    hoveredTool = undefined;
    update();
  };
  const drawing = new GraphDrawing(view, {
    choose(tool) {
      selectedTool = tool === selectedTool ? undefined : tool;
      update();
    },
    point(tool) {
      hoveredTool = tool;
      update();
    },
  });
  filters.textInput.addEventListener("input", () => update());
  for (const it of filters.checkboxes)
    it.addEventListener("change", () => update({ isSideStale: true }));
  page.setAttribute("aria-busy", "false");
  page.replaceChildren(
    filters.element,
    element("div", { class: "sides" }, drawing.element, side),
    renderTable(view),
  );
  update();
}

/**
 * Creates the bar above the drawing: a filter of tools by name, and a checkbox per kind of edge.
 */
function createFilters() {
  const textInput = element("input", {
    type: "search",
    class: "filter",
    placeholder: "Filter tools",
    "aria-label": "Filter tools by name",
  });
  const [explicit, implicit] = [createCheckbox("explicit"), createCheckbox("implicit")];
  return {
    element: element("div", { class: "bar" }, textInput, explicit.label, implicit.label),
    textInput,
    checkboxes: [explicit.box, implicit.box],
    getText: () => textInput.value.trim().toLowerCase(),
    getEdgeFilter: (): EdgeFilter => ({
      explicit: explicit.box.checked,
      implicit: implicit.box.checked,
    }),
  };
}

function createCheckbox(kind: "explicit" | "implicit") {
  const box = element("input", { type: "checkbox", checked: true });
  return { box, label: element("label", { class: "check" }, box, ` ${kind}`) };
}

function renderTable({ tools, edges, server }: GraphView): HTMLElement {
  const rows = edges.map(it => [
    getShortName(tools[it.a]!.name, server),
    getShortName(tools[it.b]!.name, server),
    it.kind,
    formatFlow(it),
    it.verified ?? "",
  ]);
  const hasResults = edges.some(it => it.verified);
  const names = ["Tool", "Comes before", "Kind", "Value passed", ...(hasResults ? ["Result"] : [])];
  const head = element("tr", {}, ...names.map(it => element("th", { scope: "col" }, it)));
  const body = rows.map(row =>
    element(
      "tr",
      {},
      ...row.slice(0, names.length).map(it => element("td", {}, escapeInvisible(it))),
    ),
  );
  return element(
    "details",
    { class: "all" },
    element("summary", {}, "All edges as a table"),
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
  );
}
