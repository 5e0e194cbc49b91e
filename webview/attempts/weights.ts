/** The total of each row under other weights, and a slider for the weight of each part. */
import type { AttemptRow, PartWeights } from "../../src/protocol/attemptsPage.ts";
import { element } from "../element.ts";
import { formatFixed, formatInteger, formatPercent, formatReward } from "../text.ts";

/**
 * The total under some weights; undefined for an attempt without a reward. The abstention rule has
 * no parts, so its total does not depend on weights.
 */
export function computeTotal(
  { total, scores }: Pick<AttemptRow, "total" | "scores">,
  weights: PartWeights,
  hasFloor: boolean,
): number | undefined {
  const parts = Object.entries(scores);
  if (total === undefined || parts.length === 0) return total;
  const sum = parts.reduce((all, [name, score]) => all + score * (weights[name] ?? 0), 0);
  return hasFloor ? Math.max(0, sum) : sum;
}

/** How a reward orders attempts. */
interface RewardOrder {
  readonly successes: number;
  readonly failures: number;
  /** Mean totals; undefined if there is no such attempt. */
  readonly successMean: number | undefined;
  readonly failureMean: number | undefined;
  /**
   * The share of the pairs of a success and a failure in which the success has the higher total; an
   * equal total counts half. Undefined if there is no such pair.
   */
  readonly agreement: number | undefined;
}

/** `totals` has the total of each row. */
export function describeOrder(
  rows: readonly Pick<AttemptRow, "success">[],
  totals: readonly (number | undefined)[],
): RewardOrder {
  const own: number[] = [];
  const others: number[] = [];
  for (const [i, total] of totals.entries())
    if (total !== undefined) (rows[i]!.success ? own : others).push(total);
  return {
    successes: own.length,
    failures: others.length,
    successMean: computeMean(own),
    failureMean: computeMean(others),
    agreement: computeAgreement(own, others),
  };
}

const computeMean = (values: readonly number[]) =>
  values.length === 0 ? undefined : values.reduce((sum, it) => sum + it, 0) / values.length;

/** Differences of totals that come from rounding alone. */
const tolerance = 1e-5;

function computeAgreement(
  successes: readonly number[],
  failures: readonly number[],
): number | undefined {
  if (successes.length === 0 || failures.length === 0) return undefined;
  const sorted = Float64Array.from(failures).sort();
  let sum = 0;
  for (const it of successes)
    sum += (countBelow(sorted, it - tolerance) + countBelow(sorted, it + tolerance)) / 2;
  return sum / (successes.length * failures.length);
}

/** How many of the sorted values are smaller. */
function countBelow(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

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
  const formatMean = (mean: number | undefined) => mean !== undefined && formatReward(mean);
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
