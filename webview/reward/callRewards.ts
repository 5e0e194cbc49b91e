/** The reward before the first call, after each call and at the end; the debugger's row is marked. */
import type { RewardView } from "../../src/protocol/rewardPage.ts";
import { element } from "../element.ts";
import { breakName, formatChange, formatFixed } from "../text.ts";

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
      element("td", { class: "bar-cell" }, isReached && createBar(total, scale)),
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

function createCallLink(name: string, open: () => void, id: string): HTMLElement {
  const attributes = { class: "link", type: "button", title: "Show in the transcript", id };
  const link = element("button", attributes, ...breakName(name || "(not parsed)"));
  link.addEventListener("click", open);
  return link;
}

function createValues(total: number | undefined, change: number | undefined): HTMLElement[] {
  const kind = !change ? "quiet" : change > 0 ? "good" : "bad";
  return [
    element("td", { class: "number" }, total === undefined ? "" : formatFixed(total, 4)),
    element("td", { class: `number ${kind}` }, change === undefined ? "" : formatChange(change, 4)),
  ];
}

/** The bar of a total from zero; a negative one extends to the left. The number is beside it. */
function createBar(total: number, { min, max }: { min: number; max: number }): HTMLElement {
  const share = (value: number) => ((value - min) / (max - min)) * 100;
  const filling = element("span", { class: total < 0 ? "filling negative" : "filling" });
  const [left, right] = [share(Math.min(0, total)), share(Math.max(0, total))];
  filling.style.cssText = `left:${left}%;width:${right - left}%`;
  return element("span", { class: "bar", "aria-hidden": "true" }, filling);
}
