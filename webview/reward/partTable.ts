/** The parts of a reward as a table: score, weight, value, and a bar of value against weight. */
import type { Breakdown, Part } from "../../src/protocol/rewardPage.ts";
import { element } from "../element.ts";
import { formatFixed } from "../text.ts";

const partDescriptions: Readonly<Record<string, string>> = {
  validity: "known tool, valid arguments, accepted by the server",
  coverage: "goals reached in a valid order",
  efficiency: "penalty for calls over the budget",
  name: "calls to tools that the goals use",
  argument: "arguments equal to those of the goal",
  success: "the final state is right, and everything asked for was shown",
};

export function createPartTable(breakdown: Breakdown): HTMLElement {
  if (breakdown.rule === "abstain")
    return element("p", { class: "quiet" }, "The abstention rule replaces the five parts.");
  const rows = [...Object.entries(breakdown.parts), ...Object.entries(breakdown.extras)];
  const max = Math.max(...rows.map(([, it]) => it.weight));
  const min = Math.min(0, ...rows.map(([, it]) => it.value));
  const head = element(
    "tr",
    {},
    ...["Part", "Score", "Weight", "Value", "Earned"].map((it, i) =>
      element("th", { scope: "col", class: i > 0 && i < 4 ? "number" : undefined }, it),
    ),
  );
  return element(
    "table",
    { class: "parts" },
    element("thead", {}, head),
    element("tbody", {}, ...rows.map(([name, part]) => createRow(name, part, max, min))),
    element(
      "tfoot",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "row" }, "total"),
        element("td"),
        element("td"),
        element("td", { class: "number" }, formatFixed(breakdown.total, 4)),
        element("td"),
      ),
    ),
  );
}

const createRow = (name: string, part: Part, max: number, min: number) =>
  element(
    "tr",
    {},
    element(
      "th",
      { scope: "row" },
      element("span", { class: `swatch part-${name}`, "aria-hidden": "true" }),
      name,
      element("span", { class: "quiet meaning" }, partDescriptions[name] ?? ""),
    ),
    element("td", { class: "number" }, formatFixed(part.score, 4)),
    element("td", { class: "number" }, `× ${formatFixed(part.weight, 2)}`),
    element("td", { class: "number" }, formatFixed(part.value, 4)),
    element(
      "td",
      { class: "bar-cell" },
      // 0 is the best score of a penalty
      name === "efficiency" && part.score === 0
        ? element("span", { class: "quiet" }, "no penalty")
        : createBar(name, part, max, min),
    ),
  );

/**
 * All bars share one scale: the outline is the weight, the filling the value. A penalty extends to
 * the left of zero.
 */
function createBar(name: string, { value, weight }: Part, max: number, min: number): HTMLElement {
  const span = max - min;
  const place = (from: number, to: number) =>
    `left:${((from - min) / span) * 100}%;width:${((to - from) / span) * 100}%`;
  const filling = element("span", { class: `filling part-${name}` });
  filling.style.cssText = place(Math.min(0, value), Math.max(0, value));
  const outline = element("span", { class: "outline" });
  outline.style.cssText = place(0, name === "efficiency" ? 0 : weight);
  return element(
    "span",
    {
      class: "bar",
      role: "img",
      "aria-label": `${formatFixed(value, 4)} of ${formatFixed(weight, 2)}`,
    },
    outline,
    filling,
  );
}
