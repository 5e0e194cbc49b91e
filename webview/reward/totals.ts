/** The total of each profile, and success. Choosing a profile shows everything under it. */
import type { Breakdown, RewardView } from "../../src/protocol/rewardPage.ts";
import { element } from "../element.ts";
import { formatCount, formatFixed, escapeInvisible } from "../text.ts";

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
    ...(value ? ["the final state is right, and everything asked for was shown"] : reasons).map(
      it => element("span", { class: "quiet" }, escapeInvisible(it)),
    ),
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
    element("span", { class: "number" }, formatFixed(breakdown.total, 4)),
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

function formatBudget({ rule, n, budget }: Breakdown): string {
  if (rule === "abstain")
    return "The task needs no tool: the reward is 1 without a call, otherwise 0.";
  const excess = n > budget ? `: ${n - budget} over` : "";
  return `${formatCount(n, "call")} made, ${budget} in the budget${excess}.`;
}
