/** The transitions of the state machine as a table, for screen readers and for single events. */
import type { TransitionCount } from "../../src/protocol/synthesisPage.ts";
import { element } from "../element.ts";
import { formatPercent, escapeInvisible, formatInteger } from "../text.ts";
import { groupTransitions } from "./edges.ts";
import { states } from "./layout.ts";

export function createTransitionTable(transitions: readonly TransitionCount[]): HTMLDetailsElement {
  const header = element(
    "tr",
    {},
    ...["From", "On", "To", "Times", "Share of exits"].map((it, i) =>
      element("th", { scope: "col", class: i > 2 ? "number" : undefined }, it),
    ),
  );
  const rows = listRows(transitions).map(row =>
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
      element("thead", {}, header),
      element("tbody", {}, ...rows),
    ),
  );
}

/** One row per event, in the order of the states. */
function listRows(transitions: readonly TransitionCount[]): readonly string[][] {
  const order = Object.keys(states);
  return groupTransitions(transitions)
    .toSorted((a, b) => order.indexOf(a.from) - order.indexOf(b.from))
    .flatMap(edge =>
      edge.events.map(({ event, n }) => [
        edge.from,
        escapeInvisible(event),
        edge.to,
        formatInteger(n),
        formatPercent((n / edge.n) * edge.share),
      ]),
    );
}
