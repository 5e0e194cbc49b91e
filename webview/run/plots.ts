/** The plots of a run and the metrics that each shows, for GRPO and for supervised training. */
import type { OtherRun, RunConfig, StepMetrics } from "../../src/protocol/runPage.ts";
import { escapeInvisible, formatFixed, formatScientific } from "../text.ts";
import { type DrawnPlot, Plot, type PlotAxis, type PlotOptions, type Series } from "./plot.ts";

type GrpoStep = Extract<StepMetrics, { method: "grpo" }>;
type SftStep = Extract<StepMetrics, { method: "sft" }>;

interface LineDefinition<Step> {
  readonly name: string;
  readonly colour: string;
  readonly dash?: string;
  readonly getValue: (step: Step) => number | undefined;
  readonly getSpread?: (step: Step) => number;
}

interface PlotDefinition<Step> extends PlotOptions {
  readonly lines: readonly LineDefinition<Step>[];
}

const share = {
  format: (value: number, decimals: number) => `${formatFixed(value * 100, decimals)}%`,
  decimals: 1,
  factor: 100,
};
const number = (decimals: number) => ({ format: formatFixed, decimals });

const part = (name: keyof GrpoStep["parts"], dash?: string): LineDefinition<GrpoStep> => ({
  name,
  colour: `part-${name}`,
  ...(dash ? { dash } : {}),
  getValue: it => it.parts[name],
});

/** Named after the profile: a legend such as "trained on 1.534" reads like a fact about the run. */
const createTrainedReward = (profile: string): LineDefinition<GrpoStep> => ({
  name: profile,
  colour: "tone-1",
  getValue: it => it.reward.mean,
  getSpread: it => it.reward.std,
});

const paperReward: LineDefinition<GrpoStep> = {
  name: "paper",
  colour: "tone-2",
  dash: "5 3",
  getValue: it => it.paper,
};

const gradientNorm: PlotDefinition<GrpoStep | SftStep> = {
  title: "Gradient norm",
  description: "Before clipping, mean over the step's minibatches",
  ...number(2),
  include: [0],
  lines: [{ name: "norm", colour: "tone-3", getValue: it => it.gradientNorm }],
};

const learningRate: PlotDefinition<GrpoStep | SftStep> = {
  title: "Learning rate",
  description: "At the step",
  format: formatScientific,
  decimals: 1,
  include: [0],
  lines: [{ name: "rate", colour: "tone-4", getValue: it => it.learningRate }],
};

/** A run that is trained on the paper's profile has one reward. */
const createGrpoPlots = (profile: string): readonly PlotDefinition<GrpoStep>[] => [
  {
    title: "Reward",
    description: `Mean total of a step's attempts under ${profile}, the profile that the run is trained on${profile === "paper" ? "" : ", and under the paper's profile"}`,
    note: "band: one standard deviation of the attempts",
    ...number(3),
    isWide: true,
    lines: [createTrainedReward(profile), ...(profile === "paper" ? [] : [paperReward])],
  },
  {
    title: "Parts",
    description:
      "Mean score of each part before weighting, over tasks with goals, and of the answer where something was to be told",
    ...number(3),
    include: [0, 1],
    isWide: true,
    lines: [
      part("validity"),
      part("coverage", "7 3"),
      part("efficiency", "2 3"),
      part("name", "9 3 2 3"),
      part("argument", "4 2"),
      part("answer", "1 2"),
    ],
  },
  {
    title: "Success",
    description:
      "Share of attempts that reach the same state as the goals, look up what the goals look up, and tell it",
    ...share,
    include: [0],
    lines: [{ name: "success", colour: "tone-3", getValue: it => it.success }],
  },
  {
    title: "Errors",
    description:
      "Shares of all calls: not parsed, unknown tool, invalid arguments, refused by the server",
    ...share,
    decimals: 0,
    include: [0],
    lines: [
      { name: "refused", colour: "part-coverage", getValue: it => it.errors.refused },
      {
        name: "arguments",
        colour: "part-argument",
        dash: "4 2",
        getValue: it => it.errors.arguments,
      },
      { name: "tool", colour: "part-efficiency", dash: "2 3", getValue: it => it.errors.tool },
      { name: "syntax", colour: "part-name", dash: "9 3 2 3", getValue: it => it.errors.syntax },
    ],
  },
  {
    title: "Zero-variance groups",
    description: "Share of groups whose attempts all have the same reward, which gives no gradient",
    ...share,
    include: [0],
    lines: [{ name: "share", colour: "tone-4", getValue: it => it.zeroVariance }],
  },
  {
    title: "KL to the start",
    description: "k3 estimate against the initial weights, mean per token",
    ...number(4),
    include: [0],
    lines: [{ name: "KL", colour: "tone-1", getValue: it => it.kl }],
  },
  {
    title: "Entropy",
    description: "Mean per sampled token, in nats",
    ...number(2),
    include: [0],
    lines: [{ name: "entropy", colour: "tone-2", getValue: it => it.entropy }],
  },
  {
    title: "Calls per attempt",
    description: "Calls made, and the budget of calls without cost",
    ...number(2),
    include: [0],
    lines: [
      { name: "made", colour: "tone-1", getValue: it => it.calls },
      { name: "budget", colour: "tone-4", dash: "5 3", getValue: it => it.budget },
    ],
  },
  {
    title: "Rollouts per second",
    description: "Attempts divided by the whole time of a step, learning included",
    ...number(1),
    include: [0],
    lines: [{ name: "rollouts", colour: "tone-3", getValue: it => it.rolloutsPerSecond }],
  },
  {
    title: "Loss",
    description: "The objective that the optimizer minimizes, with its KL term",
    ...number(4),
    lines: [{ name: "loss", colour: "tone-1", getValue: it => it.loss }],
  },
  gradientNorm,
  {
    title: "Clipped tokens",
    description: "Share of the tokens whose ratio was clipped, so that they had no gradient",
    ...share,
    include: [0],
    lines: [{ name: "share", colour: "tone-2", getValue: it => it.clipShare }],
  },
  learningRate,
  {
    title: "Seconds per step",
    description: "The whole step, and its phases: calling servers, sampling tokens, learning",
    ...number(1),
    include: [0],
    lines: [
      { name: "whole step", colour: "tone-1", getValue: it => it.seconds.total },
      { name: "servers", colour: "tone-2", dash: "5 3", getValue: it => it.seconds.environment },
      { name: "sampling", colour: "tone-3", dash: "2 3", getValue: it => it.seconds.sampling },
      { name: "learning", colour: "tone-4", dash: "9 3 2 3", getValue: it => it.seconds.learning },
    ],
  },
];

const sft: readonly PlotDefinition<SftStep>[] = [
  {
    title: "Loss",
    description:
      "Mean per token that carries the loss, on training and on validation conversations",
    ...number(3),
    isWide: true,
    lines: [
      { name: "training", colour: "tone-1", getValue: it => it.loss },
      { name: "validation", colour: "tone-2", dash: "5 3", getValue: it => it.validation },
    ],
  },
  gradientNorm,
  learningRate,
];

/** Over how many steps lines are averaged; `auto`: a thirtieth of the steps. */
export type Smoothing = "auto" | number;

/** What the horizontal axis of all plots counts. */
export type AxisName = "steps" | "time";

interface PlotsContent {
  readonly steps: readonly StepMetrics[];
  readonly checkpoints: readonly number[];
  /** Runs to draw beside this one. */
  readonly others: readonly OtherRun[];
  readonly smoothing: Smoothing;
  readonly axis: AxisName;
  readonly isLogarithmic: boolean;
}

/** An axis with the place of each step on it. */
interface Axis extends PlotAxis {
  readonly place: (steps: readonly StepMetrics[]) => readonly number[];
}

const stepAxis: Axis = {
  isTick: Number.isInteger,
  format: String,
  place: steps => steps.map(it => it.step),
};

const units = [
  { name: "h", seconds: 3600 },
  { name: "min", seconds: 60 },
  { name: "s", seconds: 1 },
];

/** The time that training has taken at the end of each step, without pauses. */
function createTimeAxis(runs: readonly (readonly StepMetrics[])[]): Axis {
  const longest = Math.max(
    ...runs.map(it => it.reduce((sum, step) => sum + step.seconds.total, 0)),
  );
  const { name, seconds } = units.find(it => longest >= 2 * it.seconds) ?? units.at(-1)!;
  return {
    isTick: () => true,
    format: it => `${it} ${name}`,
    place: steps => {
      let sum = 0;
      return steps.map(it => (sum += it.seconds.total) / seconds);
    },
  };
}

interface PlotEvents {
  /** Called with a step that is clicked. */
  readonly openStep: (step: number) => void;
  /** Called when a part of the axis is shown, or all of it again. */
  readonly zoomed: (isPart: boolean) => void;
}

/** The plots of a run, with one cursor and one horizontal axis. */
export function createPlots(
  { method, profile }: Pick<RunConfig, "method" | "profile">,
  { openStep, zoomed }: PlotEvents,
): {
  readonly elements: readonly HTMLElement[];
  update(content: PlotsContent): void;
  /** Shows all steps again. */
  showAll(): void;
  /** The plots as they are drawn. */
  listDrawn(): readonly DrawnPlot[];
} {
  const definitions = (
    method === "grpo" ? createGrpoPlots(profile) : sft
  ) as readonly PlotDefinition<StepMetrics>[];
  const moveCursor = (step: number | undefined) => {
    for (const { plot } of plots) plot.setCursor(step);
  };
  let content: PlotsContent | undefined;
  let zoomedRange: readonly [number, number] | undefined;
  let fullRange: readonly [number, number] = [0, 1];
  const zoom = (range: readonly [number, number] | undefined) => {
    const [first, last] = fullRange;
    const [from, to] = range ? [Math.max(first, range[0]), Math.min(last, range[1])] : fullRange;
    const isPart = from > first || to < last;
    // a part without a step shows nothing
    if (to <= from || (isPart && !hasStep(from, to))) return;
    zoomedRange = isPart ? [from, to] : undefined;
    draw();
    zoomed(isPart);
  };
  const hasStep = (from: number, to: number) =>
    content !== undefined &&
    chooseAxis(content)
      .place(content.steps)
      .some(it => it >= from && it <= to);
  const plots = definitions.map(it => ({
    lines: it.lines,
    plot: new Plot(it, { openStep, moveCursor, zoom }),
  }));
  const draw = () => {
    if (!content) return;
    const { steps, checkpoints, others, smoothing, isLogarithmic } = content;
    const axis = chooseAxis(content);
    fullRange = findRange([steps, ...others.map(it => it.steps)], axis);
    const window = smoothing === "auto" ? Math.round(steps.length / 30) : smoothing;
    for (const { lines, plot } of plots) {
      const measured = lines.filter((it, i) => i === 0 || isMeasured(it, steps));
      plot.update({
        series: [
          ...measured.map(it => createSeries(it, steps, axis)),
          ...(lines.length <= maxComparedLines ? createOtherSeries(lines[0]!, others, axis) : []),
        ],
        checkpoints,
        axis,
        range: zoomedRange ?? fullRange,
        smoothing: window,
        isLogarithmic,
      });
    }
  };
  return {
    elements: plots.map(it => it.plot.element),
    update(changed) {
      if (changed.axis !== content?.axis && zoomedRange) {
        zoomedRange = undefined;
        zoomed(false);
      }
      content = changed;
      draw();
    },
    showAll: () => zoom(undefined),
    listDrawn: () => plots.flatMap(({ plot }) => plot.drawn ?? []),
  };
}

const chooseAxis = ({ axis, steps, others }: PlotsContent): Axis =>
  axis === "steps" ? stepAxis : createTimeAxis([steps, ...others.map(it => it.steps)]);

/** The places of the first and the last step of any run. */
function findRange(
  runs: readonly (readonly StepMetrics[])[],
  axis: Axis,
): readonly [number, number] {
  const places = runs.map(axis.place);
  return [
    Math.min(...places.map(it => it[0] ?? Infinity)),
    Math.max(...places.map(it => it.at(-1) ?? 0)),
  ];
}

const isMeasured = ({ getValue }: LineDefinition<StepMetrics>, steps: readonly StepMetrics[]) =>
  steps.some(it => getValue(it) !== undefined);

/** A plot with more lines than this would become unreadable with those of other runs. */
const maxComparedLines = 2;

/** The first line of a plot, for each of the other runs. */
const createOtherSeries = (
  line: LineDefinition<StepMetrics>,
  others: readonly OtherRun[],
  axis: Axis,
): Series[] =>
  others.map(({ run, steps }, i) => ({
    ...createSeries(
      { name: escapeInvisible(run), colour: "", getValue: line.getValue },
      steps,
      axis,
    ),
    ...otherStyles[i % otherStyles.length]!,
  }));

const otherStyles = [
  { colour: "other-1", dash: "1 3" },
  { colour: "other-2", dash: "6 2" },
  { colour: "other-3", dash: "8 2 1 2" },
  { colour: "other-4", dash: "3 3" },
];

function createSeries(
  { name, colour, dash, getValue, getSpread }: LineDefinition<StepMetrics>,
  steps: readonly StepMetrics[],
  axis: Axis,
): Series {
  const places = axis.place(steps);
  return {
    name,
    colour,
    ...(dash ? { dash } : {}),
    points: steps.map((it, i) => ({
      step: it.step,
      x: places[i]!,
      y: getValue(it) ?? Number.NaN,
    })),
    ...(getSpread ? { spread: steps.map(getSpread) } : {}),
  };
}
