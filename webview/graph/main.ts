/**
 * The page of a server's dependency graph: its picture, what the chosen tool needs and gives, a
 * filter, and all edges as a table. Draws what it is told.
 */
import type { GraphPage, GraphView } from "../../src/protocol/graphPage.ts";
import { element } from "../element.ts";
import { openChannel } from "../channel.ts";
import { visible } from "../text.ts";
import { GraphDrawing, shortName } from "./drawing.ts";
import { formatFlow, renderSide } from "./sidePanel.ts";

const channel = openChannel<GraphPage>();
const page = document.getElementById("page")!;

channel.on("changed", renderPage);
channel
  .request("load", null)
  .then(renderPage, (refused: Error) =>
    page.replaceChildren(element("p", { class: "empty", role: "alert" }, `${refused.message}.`)),
  );

function renderPage(view: GraphView): void {
  // the editor finds the server again by this after a reload
  channel.saveState({ server: view.server });
  const side = element("aside", { "aria-live": "polite" });
  const filter = element("input", {
    type: "search",
    class: "filter",
    placeholder: "Filter tools",
    "aria-label": "Filter tools by name",
  });
  const [explicit, implicit] = [createCheckbox("explicit"), createCheckbox("implicit")];
  let chosen: number | undefined;
  let pointed: number | undefined;
  const matches = (tool: number) =>
    view.tools[tool]!.name.includes(filter.value.trim().toLowerCase());
  const picture = new GraphDrawing(
    view,
    tool => {
      chosen = tool === chosen ? undefined : tool;
      show();
    },
    tool => {
      pointed = tool;
      show();
    },
  );
  const choose = (tool: number) => {
    chosen = tool;
    pointed = undefined;
    show();
  };
  let beside: number | undefined | null = null;
  const show = (anew = false) => {
    const shown = { explicit: explicit.box.checked, implicit: implicit.box.checked };
    const tool = chosen ?? pointed;
    picture.highlight(tool, shown, matches);
    if (beside === tool && !anew) return;
    beside = tool;
    side.replaceChildren(...renderSide(view, tool, shown, choose));
  };
  filter.addEventListener("input", () => show());
  for (const it of [explicit, implicit]) it.box.addEventListener("change", () => show(true));
  page.setAttribute("aria-busy", "false");
  page.replaceChildren(
    element("div", { class: "bar" }, filter, explicit.label, implicit.label),
    element("div", { class: "sides" }, picture.element, side),
    renderTable(view),
  );
  show(true);
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
  const isTried = edges.some(it => it.verified);
  const names = ["Tool", "Before", "Kind", "What flows", ...(isTried ? ["Run"] : [])];
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
