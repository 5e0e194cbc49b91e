/**
 * The totals of a reward: one per profile, with success; the parts that they are the sum of; and
 * the total after each call. Choosing a profile shows everything under it.
 */
import type { Breakdown, Part, RewardView } from "../../src/protocol/rewardPage.ts";
import { element } from "../element.ts";
import { createCallLink } from "./evidence.ts";
import { escapeInvisible, formatChange, formatCount, formatFixed, formatReward } from "../text.ts";

export function createTotals(
  view: RewardView,
  selected: Breakdown,
  choose: (profile: string) => void,
): HTMLElement {
  const group = element("div", {
    class: "totals",
    role: "radiogroup",
    "aria-label": "Reward profile",
  });
  const names = view.profiles.map(it => it.name);
  const shown = view.breakdowns.toSorted(
    (a, b) => names.indexOf(a.profile) - names.indexOf(b.profile),
  );
  for (const it of shown)
    group.append(createProfileCard(it, it === selected, () => choose(it.profile)));
  group.addEventListener("keydown", event => chooseByKey(event, shown, selected, choose));
  return element(
    "div",
    { class: "totals-row" },
    group,
    createSuccessCard(view.success),
    element("p", { class: "quiet budget" }, formatBudget(selected)),
    view.note !== undefined && element("p", { class: "quiet budget" }, `${view.note}.`),
    createProfileList(view, choose),
  );
}

function createSuccessCard(success: RewardView["success"]): HTMLElement {
  const label = element("span", { class: "label" }, "success");
  if (!success)
    return element(
      "div",
      { class: "total success" },
      label,
      element("span", { class: "quiet" }, "decided at the end"),
    );
  const { value, reasons } = success;
  return element(
    "div",
    { class: `total success ${value ? "good" : "bad"}` },
    label,
    element("span", { class: "number" }, value ? "✓ yes" : "✗ no"),
    ...(value
      ? ["the final state is right, and everything asked for was shown and told"]
      : reasons
    ).map(it => element("span", { class: "quiet" }, escapeInvisible(it))),
  );
}

/** All profiles as a list, of which the cards show only some. */
function createProfileList(view: RewardView, choose: (profile: string) => void): HTMLElement {
  const options = view.profiles.map(({ name, summary }) =>
    element("option", { value: name, title: summary, selected: name === view.profile }, name),
  );
  const list = element("select", { id: "profile" }, ...options);
  list.addEventListener("change", () => choose(list.value));
  const summary = view.profiles.find(it => it.name === view.profile)?.summary;
  return element(
    "div",
    { class: "profile" },
    element("label", { for: "profile" }, "Profile on screen"),
    list,
    element("span", {}, summary),
  );
}

function createProfileCard(
  breakdown: Breakdown,
  isSelected: boolean,
  choose: () => void,
): HTMLElement {
  const maximum =
    breakdown.rule === "abstain"
      ? 1
      : Object.values({ ...breakdown.parts, ...breakdown.extras }).reduce(
          (sum, it) => sum + it.weight,
          0,
        ) - breakdown.parts.efficiency.weight;
  const card = element(
    "button",
    {
      class: "total",
      id: `card-${breakdown.profile}`,
      role: "radio",
      "aria-checked": String(isSelected),
      tabindex: isSelected ? "0" : "-1",
      type: "button",
    },
    element("span", { class: "label" }, breakdown.profile),
    element("span", { class: "number" }, formatReward(breakdown.total)),
    element("span", { class: "quiet" }, `of ${formatFixed(maximum, 1)}`),
  );
  card.addEventListener("click", choose);
  return card;
}

/** Arrow keys choose a profile, as in every radio group. */
function chooseByKey(
  event: KeyboardEvent,
  all: readonly Breakdown[],
  selected: Breakdown,
  choose: (profile: string) => void,
): void {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const { profile } = all[(all.indexOf(selected) + by + all.length) % all.length]!;
  // the page is drawn again once everything is shown under it, and keeps the focus
  document.getElementById(`card-${profile}`)?.focus();
  choose(profile);
}

function formatBudget({ rule, total, n, budget }: Breakdown): string {
  if (rule === "abstain")
    return n > 0 && total > 0
      ? "The task needs no tool: the reward is 1 without a call, and each look-up costs 0.05."
      : "The task needs no tool: the reward is 1 without a call, otherwise 0.";
  const excess = n > budget ? `: ${n - budget} over` : "";
  return `${formatCount(n, "call")} made, ${budget} in the budget${excess}.`;
}

const partDescriptions: Readonly<Record<string, string>> = {
  validity: "known tool, valid arguments, accepted by the server",
  coverage: "goals reached in a valid order",
  efficiency: "penalty for calls over the budget",
  name: "calls to tools that the goals use",
  argument: "arguments equal to those of the goal",
  answer: "what was asked for told as it is, and nothing false",
  success: "the final state is right, and everything asked for was shown and told",
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
        element("td", { class: "number" }, formatReward(breakdown.total)),
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
    element("td", { class: "number" }, formatReward(part.score)),
    element("td", { class: "number" }, `× ${formatFixed(part.weight, 2)}`),
    element("td", { class: "number" }, formatReward(part.value)),
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
      "aria-label": `${formatReward(value)} of ${formatFixed(weight, 2)}`,
    },
    outline,
    filling,
  );
}

export function createCallRewards(
  { calls, totals, changes, prefix }: RewardView,
  reveal: (call: number) => void,
): HTMLElement {
  const scale = { min: Math.min(0, ...totals), max: Math.max(...totals, 0.01) };
  const rows = totals.map((total, index) => {
    const call = calls[index - 1];
    const label = call
      ? createCallLink(call.name, () => reveal(index - 1), `total-${index}`)
      : index === 0
        ? "start"
        : "end";
    const isReached = prefix === undefined || index <= prefix.index;
    const change = index === 0 ? undefined : changes[index];
    return element(
      "tr",
      {
        class: isReached ? undefined : "ahead",
        "aria-current": index === prefix?.index ? "step" : undefined,
      },
      element("td", { class: "ordinal" }, call ? String(index) : ""),
      element("th", { scope: "row" }, label),
      ...createValues(isReached ? total : undefined, isReached ? change : undefined),
      element("td", { class: "bar-cell" }, isReached && createTotalBar(total, scale)),
    );
  });
  const head = element(
    "tr",
    {},
    ...["", "After", "Reward", "Change", ""].map((it, i) =>
      it === ""
        ? element("td")
        : element("th", { scope: "col", class: i > 1 ? "number" : undefined }, it),
    ),
  );
  return element(
    "table",
    { class: "call-rewards" },
    element("thead", {}, head),
    element("tbody", {}, ...rows),
  );
}

function createValues(total: number | undefined, change: number | undefined): HTMLElement[] {
  const kind = !change ? "quiet" : change > 0 ? "good" : "bad";
  return [
    element("td", { class: "number" }, total === undefined ? "" : formatReward(total)),
    element("td", { class: `number ${kind}` }, change === undefined ? "" : formatChange(change, 3)),
  ];
}

/** The bar of a total from zero; a negative one extends to the left. The number is beside it. */
function createTotalBar(total: number, { min, max }: { min: number; max: number }): HTMLElement {
  const share = (value: number) => ((value - min) / (max - min)) * 100;
  const filling = element("span", { class: total < 0 ? "filling negative" : "filling" });
  const [left, right] = [share(Math.min(0, total)), share(Math.max(0, total))];
  filling.style.cssText = `left:${left}%;width:${right - left}%`;
  return element("span", { class: "bar", "aria-hidden": "true" }, filling);
}
