/**
 * The advantages of a step's attempts, from their rewards:
 *
 *   A_i = (R_i − mean R) / (std R + 1e-6), over the group                                     (1)
 *
 * or with another scale; and, if credit is given per call, of the tokens of their calls.
 */
import type { ChatLimits } from "../../model/chatFormat.ts";
import type { CallEvidence } from "../../reward/breakdown.ts";
import type { GrpoSettings } from "../../run/config.ts";
import { shuffleIndices, sumByName, type ProcessGroup } from "../trainingMethod.ts";
import type { GroupAttempt } from "./scoredAttempt.ts";

type AdvantageSettings = Pick<
  GrpoSettings,
  "advantages" | "advantageScale" | "overlong" | "failedGroups" | "credit"
>;

type Group = readonly GroupAttempt[];

/** How many tokens an attempt may have. */
type SampledLimit = Pick<ChatLimits, "sampled">;

/** Deviations below this are rounding. */
const smallest = 1e-6;

/** Sets the advantages of the attempts of this replica. Every replica must call it. */
export function assignAdvantages(
  groups: readonly Group[],
  settings: AdvantageSettings,
  replicas: ProcessGroup,
  { seed, step, limits }: { seed: number; step: number; limits: SampledLimit },
): void {
  const rewards = groups.map(group =>
    group.map(it => computeReward(it, settings.overlong, limits)),
  );
  const batchDeviation =
    settings.advantageScale === "batch-std" ? computeBatchDeviation(rewards.flat(), replicas) : 0;
  for (const [g, group] of groups.entries()) {
    const { mean, deviation } = describeRewards(rewards[g]!);
    const divisors = {
      "group-std": deviation + smallest,
      "batch-std": batchDeviation + smallest,
      none: 1,
    };
    const divisor = divisors[settings.advantageScale];
    const weight = group.some(it => it.success) ? 1 : settings.failedGroups;
    for (const [i, attempt] of group.entries())
      attempt.advantage = deviation < smallest ? 0 : (weight * (rewards[g]![i]! - mean)) / divisor;
    if (settings.credit === "call" && deviation >= smallest) assignCallCredits(group, weight);
  }
  if (settings.advantages === "shuffled")
    shuffleAdvantages(groups.flat(), seed, step, replicas.rank);
}

/** Whether attempts at a task differ in reward. */
export function hasVariance(
  group: Group,
  { overlong }: Pick<AdvantageSettings, "overlong">,
  limits: SampledLimit,
): boolean {
  const { deviation } = describeRewards(group.map(it => computeReward(it, overlong, limits)));
  return deviation >= smallest;
}

/** Whether attempts at a task give a gradient: they must differ in reward, and count. */
export const givesGradient = (
  group: Group,
  settings: AdvantageSettings,
  limits: SampledLimit,
): boolean =>
  hasVariance(group, settings, limits) &&
  (settings.failedGroups > 0 || group.some(it => it.success));

/** The reward, less a punishment that grows over the last tokens before the limit to 1. */
const computeReward = (
  { breakdown, logprobs }: GroupAttempt,
  overlong: number,
  { sampled }: SampledLimit,
): number =>
  overlong === 0
    ? breakdown.total
    : breakdown.total -
      Math.min(1, Math.max(0, (logprobs.length - (sampled - overlong)) / overlong));

/** The standard deviation of all rewards of the step. */
function computeBatchDeviation(rewards: readonly number[], replicas: ProcessGroup): number {
  const total = (values: readonly number[]) => values.reduce((sum, it) => sum + it, 0);
  const { n, sum } = sumByName(replicas, { n: rewards.length, sum: total(rewards) });
  const mean = sum / n;
  const { squares } = sumByName(replicas, {
    squares: total(rewards.map(it => (it - mean) ** 2)),
  });
  return Math.sqrt(squares / n);
}

function describeRewards(rewards: readonly number[]) {
  const mean = rewards.reduce((sum, it) => sum + it, 0) / rewards.length;
  const deviation = Math.sqrt(
    rewards.reduce((sum, it) => sum + (it - mean) ** 2, 0) / rewards.length,
  );
  return { mean, deviation };
}

/** Sets the credit of each call: how much better it is than the mean call of its group. */
function assignCallCredits(group: Group, weight: number): void {
  const scores = group.map(it => it.breakdown.calls.map(scoreCall));
  const all = group.flatMap((it, i) =>
    scores[i]!.filter((_, call) => !it.breakdown.calls[call]!.given),
  );
  const mean = all.reduce((sum, it) => sum + it, 0) / all.length;
  for (const [i, attempt] of group.entries())
    attempt.credits = scores[i]!.map((it, call) =>
      attempt.breakdown.calls[call]!.given ? 0 : weight * (it - mean),
    );
}

/**
 * How good a call is by itself, from 0 to 1: half for its validity and half for serving a goal. A
 * call over the budget is worth 0.
 */
const scoreCall = ({ validity, serves, overBudget }: CallEvidence): number =>
  overBudget ? 0 : (validity + (serves ? 1 : 0)) / 2;

/** The advantages of the attempt's sampled tokens: its own, and the credit of the token's call. */
export const listTokenAdvantages = ({
  advantage,
  credits,
  logprobs,
  callOfToken,
}: GroupAttempt): number[] => logprobs.map((_, i) => advantage + (credits?.[callOfToken[i]!] ?? 0));

/** The control experiment: the same advantages, assigned to attempts at random. */
function shuffleAdvantages(attempts: readonly GroupAttempt[], ...keys: readonly number[]): void {
  const advantages = attempts.map(it => it.advantage);
  for (const [i, from] of shuffleIndices(attempts.length, ...keys).entries())
    attempts[i]!.advantage = advantages[from]!;
}
