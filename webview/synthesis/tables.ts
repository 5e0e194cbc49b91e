/**
 * The composition of the accepted tasks, and tables of the transitions and of how far held-out
 * tasks are from the training tasks.
 */
import type { SynthesisView, Tally, TransitionCount } from "../../src/protocol/synthesisPage.ts";
import { element } from "../element.ts";
import { escapeInvisible, formatInteger, formatPercent } from "../text.ts";
import { groupTransitions, states } from "./stateMachine.ts";

/** Further values are combined into one row, `others`. */
const maxBars = 20;

export function createComposition({
  composition: properties,
  accepted,
}: SynthesisView): HTMLElement {
  return element(
    "div",
    { class: "sorts" },
    ...properties
      .filter(it => it.counts.length > 0)
      .map(({ name, counts }) => createBarTable(name, counts, accepted)),
  );
}

function createBarTable(name: string, counts: Tally, accepted: number): HTMLElement {
  const bars =
    counts.length > maxBars
      ? [
          ...counts.slice(0, maxBars - 1),
          [
            `${counts.length - maxBars + 1} others`,
            counts.slice(maxBars - 1).reduce((sum, [, n]) => sum + n, 0),
          ] as const,
        ]
      : counts;
  const max = Math.max(1, ...bars.map(([, n]) => n));
  const rows = bars.map(([value, n]) => {
    const filling = element("span", { class: "filling" });
    filling.style.width = `${((n / max) * 100).toFixed(1)}%`;
    return element(
      "tr",
      { title: `${value}: ${formatInteger(n)}, ${formatPercent(n / Math.max(1, accepted))}` },
      element("th", { scope: "row" }, escapeInvisible(value)),
      element("td", { class: "number" }, formatInteger(n)),
      element(
        "td",
        { class: "bar-cell", "aria-hidden": "true" },
        element("span", { class: "bar" }, filling),
      ),
    );
  });
  return element(
    "table",
    { class: "sort" },
    element("caption", {}, escapeInvisible(name)),
    element("tbody", {}, ...rows),
  );
}

/** Measures as a list of names and values. */
export function createList(measures: readonly (readonly [string, string])[]): HTMLElement {
  return element(
    "dl",
    { class: "settings" },
    ...measures.flatMap(([name, value]) => [
      element("dt", {}, escapeInvisible(name)),
      element("dd", { class: "number" }, escapeInvisible(value)),
    ]),
  );
}

export const createDistanceTable = ({ distances }: SynthesisView): HTMLElement =>
  element(
    "table",
    { class: "transitions" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "split"),
        ...distances.headings.map(({ text, description }) =>
          element("th", { scope: "col", class: "number", title: description }, text),
        ),
      ),
    ),
    element(
      "tbody",
      {},
      ...distances.rows.map(({ split, cells }) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, escapeInvisible(split)),
          ...cells.map(it => element("td", { class: "number" }, escapeInvisible(it))),
        ),
      ),
    ),
  );

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
