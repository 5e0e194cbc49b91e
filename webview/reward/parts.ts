/**
 * The parts of a total as a table: score, weight, value, and a bar of what was earned within what
 * could be.
 */
import type { Breakdown, Part } from "../../src/protocol/rewardPage.ts";
import { element } from "../element.ts";
import { fixed } from "../text.ts";

const meanings: Readonly<Record<string, string>> = {
  validity: "calls that are known, well-formed and accepted",
  coverage: "goals reached, each after those it follows",
  efficiency: "calls beyond the budget cost",
  name: "calls whose tool a goal names",
  argument: "arguments equal to the goal's",
  success: "the world is left as the goals leave it",
};

export function createPartTable(breakdown: Breakdown): HTMLElement {
  if (breakdown.rule === "abstain")
    return element("p", { class: "quiet" }, "The abstention rule replaces the five parts.");
  const rows = [...Object.entries(breakdown.parts), ...Object.entries(breakdown.extras)];
  const most = Math.max(...rows.map(([, it]) => it.weight));
  const least = Math.min(0, ...rows.map(([, it]) => it.value));
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
    element("tbody", {}, ...rows.map(([name, part]) => row(name, part, most, least))),
    element(
      "tfoot",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "row" }, "total"),
        element("td"),
        element("td"),
        element("td", { class: "number" }, fixed(breakdown.total, 4)),
        element("td"),
      ),
    ),
  );
}

const row = (name: string, part: Part, most: number, least: number) =>
  element(
    "tr",
    {},
    element(
      "th",
      { scope: "row" },
      element("span", { class: `swatch part-${name}`, "aria-hidden": "true" }),
      name,
      element("span", { class: "quiet meaning" }, meanings[name] ?? ""),
    ),
    element("td", { class: "number" }, fixed(part.score, 4)),
    element("td", { class: "number" }, `× ${fixed(part.weight, 2)}`),
    element("td", { class: "number" }, fixed(part.value, 4)),
    element("td", { class: "bar-cell" }, bar(name, part, most, least)),
  );

/**
 * All bars share one scale: a full outline is the weight, the filling what was earned; a cost hangs
 * left of zero.
 */
function bar(name: string, { value, weight }: Part, most: number, least: number): HTMLElement {
  const span = most - least;
  const place = (from: number, to: number) =>
    `left:${((from - least) / span) * 100}%;width:${((to - from) / span) * 100}%`;
  const filling = element("span", { class: `filling part-${name}` });
  filling.style.cssText = place(Math.min(0, value), Math.max(0, value));
  const outline = element("span", { class: "outline" });
  outline.style.cssText = place(0, name === "efficiency" ? 0 : weight);
  return element(
    "span",
    { class: "bar", role: "img", "aria-label": `${fixed(value, 4)} of ${fixed(weight, 2)}` },
    outline,
    filling,
  );
}
