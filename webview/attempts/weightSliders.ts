/** A slider for the weight of each part, and what the weights do to the order of the attempts. */
import type { PartWeights } from "../../src/protocol/attemptsPage.ts";
import { element } from "../element.ts";
import { formatFixed, formatInteger, formatPercent } from "../text.ts";
import type { RewardOrder } from "./weights.ts";

export class WeightSliders {
  readonly element: HTMLElement;
  readonly #sliders = element("div", { class: "sliders" });
  readonly #order = element("p", { class: "order", role: "status" });
  readonly #reset = element("button", { class: "link", type: "button" }, "Reset");
  readonly #onChange: (weights: PartWeights | undefined) => void;
  #names = "";

  /** `onChange` receives the chosen weights, or undefined for those of the profile. */
  constructor(onChange: (weights: PartWeights | undefined) => void) {
    this.#onChange = onChange;
    this.#reset.addEventListener("click", () => {
      this.#names = "";
      onChange(undefined);
    });
    this.element = element(
      "details",
      { class: "weights" },
      element("summary", {}, "Reward Weights"),
      this.#sliders,
      this.#reset,
      this.#order,
    );
  }

  /** Shows the weights in use, those of the profile, and the order under both. */
  update(
    weights: PartWeights,
    own: PartWeights,
    orders: { readonly current: RewardOrder; readonly own: RewardOrder },
  ): void {
    const names = Object.keys(own).join(" ");
    // a slider that is being moved must stay
    if (names !== this.#names) {
      this.#names = names;
      this.#sliders.replaceChildren(
        ...Object.entries(own).map(([name, it]) => this.#createSlider(name, it, weights)),
      );
    }
    const isChanged = Object.keys(own).some(it => weights[it] !== own[it]);
    this.#reset.disabled = !isChanged;
    this.#order.textContent = describeOrders(orders, isChanged);
  }

  #createSlider(name: string, own: number, weights: PartWeights): HTMLElement {
    const value = weights[name] ?? own;
    const output = element("output", { class: "number" }, formatFixed(value, 2));
    const input = element("input", {
      type: "range",
      min: String(Math.min(0, 2 * own)),
      max: String(Math.max(1, 2 * own)),
      step: "0.05",
      "data-part": name,
    });
    input.value = String(value);
    input.addEventListener("input", () => {
      output.textContent = formatFixed(Number(input.value), 2);
      this.#onChange(this.#readWeights());
    });
    return element(
      "label",
      {},
      element(
        "span",
        {},
        element("span", { class: `swatch part-${name}`, "aria-hidden": "true" }),
        name,
      ),
      input,
      output,
    );
  }

  #readWeights(): PartWeights {
    const inputs = [...this.#sliders.querySelectorAll("input")];
    return Object.fromEntries(inputs.map(it => [it.dataset["part"]!, Number(it.value)]));
  }
}

/** Says what the reward makes of successes and failures. */
export function describeOrders(
  { current, own }: { readonly current: RewardOrder; readonly own: RewardOrder },
  isChanged: boolean,
): string {
  const describe = (format: (it: RewardOrder) => string | false) => {
    const [before, after] = [format(own), format(current)];
    return isChanged && before !== after
      ? `${after} (with the profile's weights ${before})`
      : after;
  };
  const formatMean = (mean: number | undefined) => mean !== undefined && formatFixed(mean);
  const parts = [
    current.successes > 0 &&
      `Mean reward of ${formatInteger(current.successes)} successes: ${describe(it => formatMean(it.successMean))}`,
    current.failures > 0 &&
      `Mean reward of ${formatInteger(current.failures)} failures: ${describe(it => formatMean(it.failureMean))}`,
    current.agreement !== undefined &&
      `A success has a higher reward than a failure in ${describe(it => it.agreement !== undefined && formatPercent(it.agreement))} of all pairs`,
  ].filter(it => it !== false);
  return parts.length === 0 ? "" : `${parts.join(". ")}.`;
}
