/** The composition of the accepted tasks: one small bar chart per property. */
import type { SynthesisView, Tally } from "../../src/protocol/synthesisPage.ts";
import { element } from "../element.ts";
import { formatPercent, escapeInvisible, formatInteger } from "../text.ts";

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
