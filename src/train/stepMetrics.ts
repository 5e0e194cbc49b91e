/**
 * Adds up a step's attempts over all replicas and turns the sums into the step's metrics. Knows no
 * tensors.
 */
import { countErrors } from "../evaluation/row.ts";
import { listCalls, getEnd } from "../trajectory/trajectory.ts";
import type { GrpoStep } from "../run/metrics.ts";
import type { ScoredAttempt } from "./scoredAttempt.ts";

interface StepSeconds {
  readonly sampling: number;
  readonly rollouts: number;
  readonly learning: number;
  readonly total: number;
}

/** Sums over a replica's own attempts, which add up over replicas. */
export function sumAttempts(
  groups: readonly (readonly ScoredAttempt[])[],
  faults: number,
  seconds: StepSeconds,
) {
  const all = groups.flat();
  const tasked = all.filter(it => it.breakdown.rule === "tool");
  const abstained = all.filter(it => it.breakdown.rule === "abstain");
  const calls = all.flatMap(it => listCalls(it.trajectory));
  const errors = countErrors(calls);
  const over = <T>(list: readonly T[], of: (it: T) => number) =>
    list.reduce((sum, it) => sum + of(it), 0);
  const part = (name: keyof ScoredAttempt["breakdown"]["parts"]) =>
    over(tasked, it => it.breakdown.parts[name].score);
  return {
    attempts: all.length,
    faults,
    groups: groups.length,
    flat: groups.filter(group => group.every(it => it.advantage === 0)).length,
    reward: over(all, it => it.breakdown.total),
    squared: over(all, it => it.breakdown.total ** 2),
    paper: over(all, it => it.paper),
    tasked: tasked.length,
    validity: part("validity"),
    coverage: part("coverage"),
    efficiency: part("efficiency"),
    name: part("name"),
    argument: part("argument"),
    abstained: abstained.length,
    abstention: over(abstained, it => it.breakdown.total),
    success: over(all, it => Number(it.success)),
    calls: calls.length,
    budget: over(all, it => it.breakdown.budget),
    syntax: errors.syntax,
    unknown: errors.tool,
    misfit: errors.arguments,
    refused: errors.refused,
    cut: all.filter(it => getEnd(it.trajectory).by === "limit").length,
    tokens: over(all, it => it.logprobs.length),
    surprise: over(all, it => -over(it.logprobs, lp => lp)),
    sampling: seconds.sampling,
    environment: seconds.rollouts - seconds.sampling,
    learning: seconds.learning,
    total: seconds.total,
    rollouts: seconds.rollouts,
  };
}

interface LearningSums {
  readonly loss: number;
  readonly norm: number;
  readonly tokens: number;
  readonly kl: number;
  readonly clipped: number;
  readonly learningRate: number;
  readonly minibatches: number;
  /** Replicas. */
  readonly count: number;
}

export function computeStepMetrics(
  step: number,
  sums: ReturnType<typeof sumAttempts>,
  learned: LearningSums,
): GrpoStep {
  const per = (sum: number, n: number) => (n === 0 ? 0 : sum / n);
  const mean = per(sums.reward, sums.attempts);
  const of = (sum: number) => per(sum, sums.attempts);
  return {
    step,
    method: "grpo",
    reward: { mean, std: Math.sqrt(Math.max(0, of(sums.squared) - mean ** 2)) },
    paper: of(sums.paper),
    parts: {
      validity: per(sums.validity, sums.tasked),
      coverage: per(sums.coverage, sums.tasked),
      efficiency: per(sums.efficiency, sums.tasked),
      name: per(sums.name, sums.tasked),
      argument: per(sums.argument, sums.tasked),
    },
    ...(sums.abstained > 0 ? { abstention: sums.abstention / sums.abstained } : {}),
    success: of(sums.success),
    calls: of(sums.calls),
    budget: of(sums.budget),
    errors: {
      syntax: per(sums.syntax, sums.calls),
      tool: per(sums.unknown, sums.calls),
      arguments: per(sums.misfit, sums.calls),
      refused: per(sums.refused, sums.calls),
    },
    cut: of(sums.cut),
    zeroVariance: per(sums.flat, sums.groups),
    attempts: sums.attempts,
    faults: sums.faults,
    tokensPerRollout: of(sums.tokens),
    rolloutsPerSecond: per(sums.attempts, sums.rollouts / learned.count),
    kl: per(learned.kl, learned.tokens),
    clipShare: per(learned.clipped, learned.tokens),
    entropy: per(sums.surprise, sums.tokens),
    loss: learned.loss / learned.minibatches,
    gradientNorm: learned.norm / learned.minibatches,
    learningRate: learned.learningRate,
    seconds: {
      environment: sums.environment / learned.count,
      sampling: sums.sampling / learned.count,
      learning: sums.learning / learned.count,
      total: sums.total / learned.count,
    },
  };
}
