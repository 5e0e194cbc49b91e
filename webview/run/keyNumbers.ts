/**
 * The results of a run: its key numbers, each with its change since the first steps, what the
 * student did on held-out tasks before and after the training, and the settings.
 */
import type {
  ComputedWith,
  Estimate,
  RunConfig,
  RunEvaluation,
  RunView,
  StepMetrics,
} from "../../src/protocol/runPage.ts";
import { element } from "../element.ts";
import {
  escapeInvisible,
  formatChange,
  formatCount,
  formatDateTime,
  formatFixed,
  formatPercent,
  formatReward,
  formatScientific,
  getFileName,
} from "../text.ts";

type GrpoStep = Extract<StepMetrics, { method: "grpo" }>;
type SftStep = Extract<StepMetrics, { method: "sft" }>;

interface KeyNumber {
  readonly name: string;
  readonly value: string;
  readonly change?: string | undefined;
}

export function createKeyNumbers(steps: readonly StepMetrics[]): HTMLElement {
  const numbers =
    steps.at(-1)?.method === "sft"
      ? listSftNumbers(steps.filter(it => it.method === "sft"))
      : listGrpoNumbers(steps.filter(it => it.method === "grpo"));
  return element("dl", { class: "key-numbers" }, ...numbers.map(createKeyNumber));
}

const createKeyNumber = ({ name, value, change }: KeyNumber) =>
  element(
    "div",
    {},
    element("dt", {}, name),
    element(
      "dd",
      {},
      element("span", { class: "big" }, value),
      change !== undefined && element("span", { class: "quiet change" }, change),
    ),
  );

function listSftNumbers(steps: readonly SftStep[]): readonly KeyNumber[] {
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last) return [];
  const tokens = steps.reduce((sum, it) => sum + it.tokens, 0);
  return [
    {
      name: "loss",
      value: formatFixed(last.loss),
      change: formatSinceStart(last.loss - first.loss, 3),
    },
    { name: "tokens read", value: String(tokens) },
  ];
}

function listGrpoNumbers(steps: readonly GrpoStep[]): readonly KeyNumber[] {
  const last = steps.at(-1);
  if (!last) return [];
  const early = computeMeans(steps.slice(0, 5));
  const late = computeMeans(steps.slice(-5));
  // with fewer steps the two windows overlap, and their difference means little
  const hasChange = steps.length >= 10;
  return [
    {
      name: "reward, last 5 steps",
      value: formatReward(late.reward),
      change: hasChange ? formatSinceStart(late.reward - early.reward, 3) : undefined,
    },
    {
      name: "success, last 5 steps",
      value: formatPercent(late.success),
      change: hasChange ? formatSinceStart(100 * (late.success - early.success), 1) : undefined,
    },
    { name: "zero-variance groups", value: formatPercent(last.zeroVariance) },
    { name: "tokens per rollout", value: formatFixed(last.tokensPerRollout, 1) },
    { name: "rollouts per second", value: formatFixed(last.rolloutsPerSecond, 1) },
  ];
}

const formatSinceStart = (change: number, decimals: number) =>
  `${change >= 0 ? "+" : ""}${formatFixed(change, decimals)} since the start`;

function computeMeans(steps: readonly GrpoStep[]): {
  readonly reward: number;
  readonly success: number;
} {
  const mean = (getValue: (step: GrpoStep) => number) =>
    steps.reduce((sum, it) => sum + getValue(it), 0) / Math.max(1, steps.length);
  return { reward: mean(it => it.reward.mean), success: mean(it => it.success) };
}

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
const reward: Format = { value: it => formatReward(it), change: it => formatChange(it, 3) };

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

export const createSettings = ({ config, checkpoints }: RunView): HTMLElement =>
  element(
    "dl",
    { class: "settings" },
    ...[
      ...formatSettings(config),
      // another training framework keeps its own
      ...(config.engine
        ? []
        : [
            [
              "checkpoints",
              checkpoints.length ? formatCount(checkpoints.length, "checkpoint") : "none",
            ] as const,
          ]),
    ].flatMap(([name, value]) => [
      element("dt", {}, name),
      element("dd", {}, escapeInvisible(value)),
    ]),
  );

/** The settings that the page shows, as pairs of name and value. */
export function formatSettings(config: RunConfig): readonly (readonly [string, string])[] {
  const { method, tasks, from, profile, engine, backend, trainedWith, workers, seed } = config;
  const settings = config.method === "grpo" ? config.grpo : config.sft;
  const ofMethod: readonly (readonly [string, string])[] =
    config.method === "grpo"
      ? [
          [
            "attempts per step",
            `${config.grpo.prompts} ${config.grpo.prompts === 1 ? "task" : "tasks"} × ${config.grpo.group}`,
          ],
          ["KL weight", String(config.grpo.kl)],
        ]
      : [["conversations per step", String(config.sft.conversations)]];
  return [
    ["method", method],
    ...(engine && from !== undefined ? [["model", from] as const] : []),
    ["tasks", getFileName(tasks)],
    ...(trainedWith?.aboutTasks?.map(it => ["about the tasks", it] as const) ?? []),
    ["reward", profile],
    ...ofMethod,
    ["learning rate", formatScientific(settings.learningRate)],
    ...(engine
      ? ([["framework", engine === "trl" ? "TRL" : "verl"]] as const)
      : ([
          ["backend", trainedWith ? `${trainedWith.backend}, ${trainedWith.device}` : backend],
          ...(trainedWith?.notes.map(note => ["about the backend", note] as const) ?? []),
          ["workers", String(workers)],
        ] as const)),
    ["seed", String(seed)],
  ];
}
