/** The key numbers of a run, each with its change since the first steps. */
import type { StepMetrics } from "../../src/protocol/runPage.ts";
import { element } from "../element.ts";
import { formatFixed, formatPercent } from "../text.ts";

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
      change: formatChange(last.loss - first.loss, 3),
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
      value: formatFixed(late.reward),
      change: hasChange ? formatChange(late.reward - early.reward, 3) : undefined,
    },
    {
      name: "success, last 5 steps",
      value: formatPercent(late.success),
      change: hasChange ? formatChange(100 * (late.success - early.success), 1) : undefined,
    },
    { name: "zero-variance groups", value: formatPercent(last.zeroVariance) },
    { name: "tokens per rollout", value: formatFixed(last.tokensPerRollout, 1) },
    { name: "rollouts per second", value: formatFixed(last.rolloutsPerSecond, 1) },
  ];
}

const formatChange = (change: number, decimals: number) =>
  `${change >= 0 ? "+" : ""}${formatFixed(change, decimals)} since the start`;

function computeMeans(steps: readonly GrpoStep[]): {
  readonly reward: number;
  readonly success: number;
} {
  const mean = (getValue: (step: GrpoStep) => number) =>
    steps.reduce((sum, it) => sum + getValue(it), 0) / Math.max(1, steps.length);
  return { reward: mean(it => it.reward.mean), success: mean(it => it.success) };
}
