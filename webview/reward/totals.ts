/** The total of each profile, and success. Choosing a profile shows its parts below. */
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
  for (const it of view.breakdowns)
    group.append(createProfileCard(it, it === selected, () => choose(it.profile)));
  group.addEventListener("keydown", event => chooseByKey(event, view.breakdowns, selected, choose));
  const { value, reasons } = view.success;
  const success = element(
    "div",
    { class: `total success ${value ? "good" : "bad"}` },
    element("span", { class: "label" }, "success"),
    element("span", { class: "number" }, value ? "✓ yes" : "✗ no"),
    ...(value ? ["the final state is right, and everything asked for was shown"] : reasons).map(
      it => element("span", { class: "quiet" }, escapeInvisible(it)),
    ),
  );
  return element(
    "div",
    { class: "totals-row" },
    group,
    success,
    element("p", { class: "quiet budget" }, formatBudget(selected)),
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
  choose(all[(all.indexOf(selected) + by + all.length) % all.length]!.profile);
  document.querySelector<HTMLElement>(".total[aria-checked=true]")?.focus();
}

function formatBudget({ rule, n, budget }: Breakdown): string {
  if (rule === "abstain")
    return "The task needs no tool: the reward is 1 without a call, otherwise 0.";
  const excess = n > budget ? `: ${n - budget} over` : "";
  return `${formatCount(n, "call")} made, ${budget} in the budget${excess}.`;
}
