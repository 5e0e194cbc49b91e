/**
 * Which plots a run has, and which of its numbers each shows: one set for training on attempts, one
 * for supervised training.
 */
import type { StepMetrics } from "../../src/protocol/runPage.ts";
import { fixed } from "../text.ts";
import { Plot, type PlotLook, type Series } from "./plot.ts";

type Grpo = Extract<StepMetrics, { method: "grpo" }>;
type Sft = Extract<StepMetrics, { method: "sft" }>;

interface Line<Step> {
  readonly name: string;
  readonly colour: string;
  readonly dash?: string;
  readonly value: (step: Step) => number | undefined;
  readonly spread?: (step: Step) => number;
}

interface Spec<Step> extends PlotLook {
  readonly lines: readonly Line<Step>[];
}

const share = {
  text: (value: number, decimals: number) => `${fixed(value * 100, decimals)} %`,
  decimals: 1,
  factor: 100,
};
const number = (decimals: number) => ({ text: fixed, decimals });

const part = (name: keyof Grpo["parts"], dash?: string): Line<Grpo> => ({
  name,
  colour: `part-${name}`,
  ...(dash ? { dash } : {}),
  value: it => it.parts[name],
});

const grpo: readonly Spec<Grpo>[] = [
  {
    title: "Reward",
    about:
      "Mean total of a step's attempts under the profile the run trains on, with one standard deviation, and the paper's own total",
    ...number(3),
    isWide: true,
    lines: [
      {
        name: "trained on",
        colour: "tone-1",
        value: it => it.reward.mean,
        spread: it => it.reward.std,
      },
      { name: "paper", colour: "tone-2", dash: "5 3", value: it => it.paper },
    ],
  },
  {
    title: "Parts",
    about: "Mean score of each part before its weight, over tasks with goals",
    ...number(3),
    always: [0, 1],
    isWide: true,
    lines: [
      part("validity"),
      part("coverage", "7 3"),
      part("efficiency", "2 3"),
      part("name", "9 3 2 3"),
      part("argument", "4 2"),
    ],
  },
  {
    title: "Success",
    about:
      "Share of attempts that leave the world as the goals do and look up what the goals look up",
    ...share,
    always: [0],
    lines: [{ name: "success", colour: "tone-3", value: it => it.success }],
  },
  {
    title: "Errors",
    about:
      "Shares of all calls: not parsed, no such tool, arguments that do not fit, refused by the server",
    ...share,
    decimals: 0,
    always: [0],
    lines: [
      { name: "refused", colour: "part-coverage", value: it => it.errors.refused },
      { name: "arguments", colour: "part-argument", dash: "4 2", value: it => it.errors.arguments },
      { name: "tool", colour: "part-efficiency", dash: "2 3", value: it => it.errors.tool },
      { name: "syntax", colour: "part-name", dash: "9 3 2 3", value: it => it.errors.syntax },
    ],
  },
  {
    title: "Zero-variance groups",
    about: "Share of groups whose attempts all earned the same: they give no gradient",
    ...share,
    always: [0],
    lines: [{ name: "share", colour: "tone-4", value: it => it.zeroVariance }],
  },
  {
    title: "KL to the start",
    about: "k3 estimate against the weights the run began with, mean a token",
    ...number(4),
    always: [0],
    lines: [{ name: "KL", colour: "tone-1", value: it => it.kl }],
  },
  {
    title: "Entropy",
    about: "Mean a sampled token, in nats",
    ...number(2),
    always: [0],
    lines: [{ name: "entropy", colour: "tone-2", value: it => it.entropy }],
  },
  {
    title: "Calls an attempt",
    about: "Calls made, and the budget that costs nothing",
    ...number(2),
    always: [0],
    lines: [
      { name: "made", colour: "tone-1", value: it => it.calls },
      { name: "budget", colour: "tone-4", dash: "5 3", value: it => it.budget },
    ],
  },
  {
    title: "Rollouts a second",
    about: "Attempts made in a second of sampling and running",
    ...number(1),
    always: [0],
    lines: [{ name: "rollouts", colour: "tone-3", value: it => it.rolloutsPerSecond }],
  },
];

const sft: readonly Spec<Sft>[] = [
  {
    title: "Loss",
    about: "Mean a token that carries the loss, and on conversations kept apart",
    ...number(3),
    isWide: true,
    lines: [
      { name: "training", colour: "tone-1", value: it => it.loss },
      { name: "validation", colour: "tone-2", dash: "5 3", value: it => it.validation },
    ],
  },
  {
    title: "Gradient norm",
    about: "Before clipping",
    ...number(2),
    always: [0],
    lines: [{ name: "norm", colour: "tone-3", value: it => it.gradientNorm }],
  },
  {
    title: "Learning rate",
    about: "Of the step",
    text: value => value.toExponential(1),
    decimals: 1,
    always: [0],
    lines: [{ name: "rate", colour: "tone-4", value: it => it.learningRate }],
  },
];

/** The plots of a method, and how to feed them. */
export function plotsFor(
  method: StepMetrics["method"],
  choose: (step: number) => void,
): {
  readonly elements: readonly HTMLElement[];
  show(steps: readonly StepMetrics[], marks: readonly number[]): void;
} {
  const specs = (method === "grpo" ? grpo : sft) as readonly Spec<StepMetrics>[];
  const plots = specs.map(spec => ({ spec, plot: new Plot(spec, choose) }));
  return {
    elements: plots.map(it => it.plot.element),
    show(steps, marks) {
      for (const { spec, plot } of plots)
        plot.show(
          spec.lines.map(it => seriesOf(it, steps)),
          marks,
        );
    },
  };
}

const seriesOf = (
  { name, colour, dash, value, spread }: Line<StepMetrics>,
  steps: readonly StepMetrics[],
): Series => ({
  name,
  colour,
  ...(dash ? { dash } : {}),
  points: steps.map(it => ({ x: it.step, y: value(it) ?? Number.NaN })),
  ...(spread ? { spread: steps.map(spread) } : {}),
});
