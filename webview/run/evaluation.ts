/** What the student did on held-out tasks before and after the training, as a table. */
import type { ComputedWith, Estimate, RunEvaluation } from "../../src/protocol/runPage.ts";
import { element } from "../element.ts";
import {
  escapeInvisible,
  formatChange,
  formatCount,
  formatDateTime,
  formatFixed,
  getFileName,
} from "../text.ts";

/** No elements if the run was not evaluated. */
export function createEvaluation(evaluation: RunEvaluation | undefined): readonly HTMLElement[] {
  if (!evaluation) return [];
  const { count, before, after, change, profile, tasks, evaluatedAt, computedWith } = evaluation;
  return [
    element("h2", {}, "Held-Out Tasks"),
    element(
      "table",
      { class: "evaluation" },
      element(
        "thead",
        {},
        createRow("th", [
          formatCount(count, "task"),
          before.step === 0 ? "start" : `step ${before.step}`,
          `step ${after.step}`,
          "change",
          "verdict",
        ]),
      ),
      element(
        "tbody",
        {},
        createMetricRow("success", [before.success, after.success, change.success], percent),
        createMetricRow(`reward, ${profile}`, [before.reward, after.reward, change.reward], reward),
      ),
    ),
    element(
      "p",
      { class: "quiet" },
      "Evaluated ",
      evaluatedAt !== undefined &&
        element("time", { datetime: evaluatedAt }, `${formatDateTime(evaluatedAt)} `),
      `on the held-out tasks of ${escapeInvisible(getFileName(tasks))}. `,
      "Each task is attempted once with greedy decoding. The brackets contain 95% intervals over the sets of tools that the tasks need.",
      computedWith && ` ${describeBackend(computedWith)}`,
    ),
  ];
}

/** The same words as `formatComputedWith` in src/run, which pages cannot load. */
const describeBackend = ({ backend, device, notes }: ComputedWith): string =>
  escapeInvisible(`Computed with ${[`${backend}, ${device}`, ...notes].join("; ")}.`);

interface Format {
  readonly value: (mean: number) => string;
  readonly change: (mean: number) => string;
}

const percent: Format = {
  value: it => `${formatFixed(100 * it, 1)}%`,
  change: it => formatChange(100 * it, 1),
};
const reward: Format = { value: it => formatFixed(it), change: it => formatChange(it, 3) };

function createMetricRow(
  name: string,
  [before, after, change]: readonly [Estimate, Estimate, Estimate],
  format: Format,
): HTMLElement {
  return createRow("td", [
    name,
    formatEstimate(before, format.value),
    formatEstimate(after, format.value),
    formatEstimate(change, format.change),
    describeTrend(change),
  ]);
}

const formatEstimate = ({ mean, low, high }: Estimate, format: Format["value"]): HTMLElement =>
  element(
    "span",
    {},
    `${format(mean)} `,
    low !== undefined &&
      high !== undefined &&
      element("span", { class: "interval" }, `(${format(low)} to ${format(high)})`),
  );

/** The same words as `getTrend` in src/run, which pages cannot load. */
function describeTrend({ low = 0, high = 0 }: Estimate): HTMLElement {
  if (low > 0) return element("span", { class: "good" }, "higher");
  if (high < 0) return element("span", { class: "bad" }, "lower");
  return element("span", {}, "no difference can be told");
}

const createRow = (tag: "td" | "th", cells: readonly (string | HTMLElement)[]): HTMLElement =>
  element("tr", {}, ...cells.map(it => element(tag, {}, it)));
