/** Sums over the attempts of a GRPO step, and the metrics of the step computed from the sums. */
import { countErrors } from "../../evaluation/row.ts";
import type { GrpoStep } from "../../run/metrics.ts";
import { listOwnCalls } from "../../trajectory/oneTurn.ts";
import { getEnd } from "../../trajectory/trajectory.ts";
import type { GroupAttempt } from "./scoredAttempt.ts";

interface StepSeconds {
  readonly sampling: number;
  readonly rollouts: number;
  readonly learning: number;
  readonly total: number;
}

/** Sums over the attempts of one replica. The caller adds them up over all replicas. */
export function sumAttempts(
  groups: readonly (readonly GroupAttempt[])[],
  {
    faults,
    flat,
    resampled,
    variants,
  }: Readonly<Record<"faults" | "flat" | "resampled" | "variants", number>>,
  seconds: StepSeconds,
) {
  const all = groups.flat();
  const withTools = all.filter(it => it.breakdown.rule === "tool");
  const abstained = all.filter(it => it.breakdown.rule === "abstain");
  const answers = all.flatMap(it => it.breakdown.extras["answer"] ?? []);
  const calls = all.flatMap(it => listOwnCalls(it.trajectory));
  const errors = countErrors(calls);
  const sum = <T>(list: readonly T[], getValue: (it: T) => number) =>
    list.reduce((total, it) => total + getValue(it), 0);
  const sumPart = (name: keyof GroupAttempt["breakdown"]["parts"]) =>
    sum(withTools, it => it.breakdown.parts[name].score);
  return {
    attempts: all.length,
    faults,
    groups: groups.length,
    resampled,
    variants,
    failed: groups.filter(group => !group.some(it => it.success)).length,
    flat,
    reward: sum(all, it => it.breakdown.total),
    squared: sum(all, it => it.breakdown.total ** 2),
    paper: sum(all, it => it.paper),
    withTools: withTools.length,
    validity: sumPart("validity"),
    coverage: sumPart("coverage"),
    efficiency: sumPart("efficiency"),
    name: sumPart("name"),
    argument: sumPart("argument"),
    answered: answers.length,
    answer: sum(answers, it => it.score),
    abstained: abstained.length,
    abstention: sum(abstained, it => it.breakdown.total),
    success: sum(all, it => Number(it.success)),
    calls: calls.length,
    budget: sum(all, it => it.breakdown.budget),
    syntax: errors.syntax,
    unknown: errors.tool,
    misfit: errors.arguments,
    refused: errors.refused,
    cut: all.filter(it => getEnd(it.trajectory).by === "limit").length,
    tokens: sum(all, it => it.logprobs.length),
    surprise: sum(all, it => -sum(it.logprobs, lp => lp)),
    sampling: seconds.sampling,
    environment: seconds.rollouts - seconds.sampling,
    learning: seconds.learning,
    total: seconds.total,
  };
}

interface LearningSums {
  readonly loss: number;
  readonly norm: number;
  readonly tokens: number;
  /** Σ k3 over the measured tokens. */
  readonly kl: number;
  readonly measured: number;
  readonly clipped: number;
  readonly learningRate: number;
  /** Optimizer steps: a minibatch without a gradient has none. */
  readonly optimizerSteps: number;
  /** Whether the counts of groups are part of the metrics. */
  readonly hasGroupCounts: boolean;
  /** How many replicas there are. */
  readonly count: number;
}

export function computeStepMetrics(
  step: number,
  sums: ReturnType<typeof sumAttempts>,
  learning: LearningSums,
): GrpoStep {
  const divide = (sum: number, n: number) => (n === 0 ? 0 : sum / n);
  const perAttempt = (sum: number) => divide(sum, sums.attempts);
  const mean = perAttempt(sums.reward);
  return {
    step,
    method: "grpo",
    reward: { mean, std: Math.sqrt(Math.max(0, perAttempt(sums.squared) - mean ** 2)) },
    paper: perAttempt(sums.paper),
    parts: {
      validity: divide(sums.validity, sums.withTools),
      coverage: divide(sums.coverage, sums.withTools),
      efficiency: divide(sums.efficiency, sums.withTools),
      name: divide(sums.name, sums.withTools),
      argument: divide(sums.argument, sums.withTools),
      ...(sums.answered > 0 ? { answer: sums.answer / sums.answered } : {}),
    },
    ...(sums.abstained > 0 ? { abstention: sums.abstention / sums.abstained } : {}),
    success: perAttempt(sums.success),
    calls: perAttempt(sums.calls),
    budget: perAttempt(sums.budget),
    errors: {
      syntax: divide(sums.syntax, sums.calls),
      tool: divide(sums.unknown, sums.calls),
      arguments: divide(sums.misfit, sums.calls),
      refused: divide(sums.refused, sums.calls),
    },
    cut: perAttempt(sums.cut),
    zeroVariance: divide(sums.flat, sums.groups),
    ...(learning.hasGroupCounts
      ? {
          groups: {
            attempted: sums.groups,
            flat: sums.flat,
            failed: sums.failed,
            resampled: sums.resampled,
            variants: sums.variants,
          },
        }
      : {}),
    attempts: sums.attempts,
    faults: sums.faults,
    tokensPerRollout: perAttempt(sums.tokens),
    rolloutsPerSecond: divide(sums.attempts, sums.total / learning.count),
    ...(learning.measured > 0 ? { kl: learning.kl / learning.measured } : {}),
    clipShare: divide(learning.clipped, learning.tokens),
    entropy: divide(sums.surprise, sums.tokens),
    loss: divide(learning.loss, learning.optimizerSteps),
    gradientNorm: divide(learning.norm, learning.optimizerSteps),
    learningRate: learning.learningRate,
    seconds: {
      environment: sums.environment / learning.count,
      sampling: sums.sampling / learning.count,
      learning: sums.learning / learning.count,
      total: sums.total / learning.count,
    },
  };
}
