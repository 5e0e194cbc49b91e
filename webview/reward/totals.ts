/**
 * The totals side by side, one a profile, and success; choosing a profile shows its parts below.
 */
import type { Breakdown, RewardView } from "../../src/protocol/rewardPage.ts";
import { element } from "../element.ts";
import { counted, fixed, visible } from "../text.ts";

export function createTotals(
  view: RewardView,
  shown: Breakdown,
  choose: (profile: string) => void,
): HTMLElement {
  const group = element("div", {
    class: "totals",
    role: "radiogroup",
    "aria-label": "Reward profile",
  });
  for (const it of view.breakdowns) group.append(total(it, it === shown, () => choose(it.profile)));
  group.addEventListener("keydown", event => moveBy(event, view.breakdowns, shown, choose));
  const { value, why } = view.success;
  const success = element(
    "div",
    { class: `total success ${value ? "good" : "bad"}` },
    element("span", { class: "label" }, "success"),
    element("span", { class: "number" }, value ? "✓ yes" : "✗ no"),
    ...(value ? ["the world is left as the goals leave it"] : why).map(it =>
      element("span", { class: "quiet" }, visible(it)),
    ),
  );
  return element(
    "div",
    { class: "totals-row" },
    group,
    success,
    element("p", { class: "quiet budget" }, budgetLine(shown)),
  );
}

function total(breakdown: Breakdown, isShown: boolean, choose: () => void): HTMLElement {
  const best =
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
      "aria-checked": String(isShown),
      tabindex: isShown ? "0" : "-1",
      type: "button",
    },
    element("span", { class: "label" }, breakdown.profile),
    element("span", { class: "number" }, fixed(breakdown.total, 4)),
    element("span", { class: "quiet" }, `of ${fixed(best, 1)}`),
  );
  card.addEventListener("click", choose);
  return card;
}

/** Arrow keys choose among the profiles, as in every radio group. */
function moveBy(
  event: KeyboardEvent,
  all: readonly Breakdown[],
  shown: Breakdown,
  choose: (profile: string) => void,
): void {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  choose(all[(all.indexOf(shown) + by + all.length) % all.length]!.profile);
  document.querySelector<HTMLElement>(".total[aria-checked=true]")?.focus();
}

function budgetLine({ rule, n, budget }: Breakdown): string {
  if (rule === "abstain")
    return "Nothing here calls for a tool: making no call earns 1, any call earns 0.";
  return `${counted(n, "call")} made, ${budget} free of cost${n > budget ? `: ${n - budget} too many` : ""}.`;
}
