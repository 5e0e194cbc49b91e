/**
 * One optimizer step on groups of scored attempts, shared by all replicas, and its loss: that of
 * GRPO on a batch of attempts, for any combination of ratio, normalization and clip range. One
 * entry per token that the student sampled:
 *
 *   ρ_t = exp(lp_t − lp_old_t), or for the whole attempt exp(mean (lp − lp_old))              (2)
 *   L = Σ w_t (−min(ρ_t A_t, clip(ρ_t, 1 − low, 1 + high) A_t) + β k3_t)                      (3)
 *   k3 = exp(lp_ref − lp) − (lp_ref − lp) − 1                                                 (4)
 *
 * With n tokens in the minibatch and m attempts, w is 1/n (`tokens`), 1/(m · the attempt's tokens)
 * (`attempts`), or 1/(m · the most tokens of an attempt) (`constant`).
 */
import * as tf from "@tensorflow/tfjs-core";
import {
  disposeGradients,
  computeGradients,
  computeLogProbabilities,
  type Gradients,
  type Model,
} from "../../model/transformer/transformer.ts";
import type { GrpoSettings, GrpoConfig } from "../../run/config.ts";
import {
  packAttempts,
  splitIntoBatches,
  divideGroups,
  type TrainingGroup,
} from "../trainingGroup.ts";
import { addGradients, zeroGradients, sumByName, type MethodContext } from "../trainingMethod.ts";

type LossSettings = Pick<GrpoSettings, "ratio" | "normalization" | "clip" | "kl">;

/** The sampled tokens of attempts, in order: M tokens of S attempts. */
export interface LossBatch {
  /** (S) the tokens of each attempt, at least one. */
  readonly lengths: readonly number[];
  /** (M) */
  readonly advantages: Float32Array;
  /** (M) lp_old */
  readonly oldLogprobs: Float32Array;
  /** lp_ref of some tokens; without it there is no KL term. */
  reference?: ReferenceTokens;
}

/** Tokens on which the KL term is measured. */
interface ReferenceTokens {
  /** (K) indices of sampled tokens */
  readonly tokens: readonly number[];
  /** (K) lp_ref */
  readonly logprobs: Float32Array;
  /** By how much the term is scaled, because they stand for others too. */
  readonly scale: number;
}

/** The size of a minibatch, of which a batch may be a part. */
interface MinibatchSize {
  readonly tokens: number;
  readonly attempts: number;
  /** The most tokens that an attempt may have. */
  readonly longest: number;
}

/** Equation (3), differentiable in the log-probabilities (M). */
export function computeLoss(
  lp: tf.Tensor1D,
  { lengths, advantages, oldLogprobs, reference }: LossBatch,
  settings: LossSettings,
  size: MinibatchSize,
): tf.Scalar {
  const { low, high } = settings.clip;
  const a = tf.tensor1d(advantages);
  const logRatio: tf.Tensor1D = tf.sub(lp, tf.tensor1d(oldLogprobs));
  const ratio = tf.exp(
    settings.ratio === "sequence" ? averageAttempts(logRatio, lengths) : logRatio,
  );
  const gains = tf.minimum(tf.mul(ratio, a), tf.mul(tf.clipByValue(ratio, 1 - low, 1 + high), a));
  const { weights, divisor } = getWeights(lengths, settings, size);
  const gain = tf.sum(weights ? tf.mul(gains, weights) : gains);
  if (!reference) return tf.div(tf.neg(gain), divisor);
  const tokens = tf.tensor1d([...reference.tokens], "int32");
  const difference = tf.sub(tf.tensor1d(reference.logprobs), tf.gather(lp, tokens));
  const k3 = tf.sub(tf.sub(tf.exp(difference), difference), 1); // equation (4)
  const kl = tf.sum(weights ? tf.mul(k3, tf.gather(weights, tokens)) : k3);
  return tf.div(tf.sub(tf.mul(kl, settings.kl * reference.scale), gain), divisor);
}

/** The weights of the tokens, (M), all 1 if absent, and what their sum is divided by. */
function getWeights(
  lengths: readonly number[],
  { normalization }: LossSettings,
  { tokens, attempts, longest }: MinibatchSize,
): { weights?: tf.Tensor1D; divisor: number } {
  switch (normalization) {
    case "tokens":
      return { divisor: tokens };
    case "constant":
      return { divisor: attempts * longest };
    case "attempts":
      return {
        weights: tf.tensor1d(lengths.flatMap(n => Array.from<number>({ length: n }).fill(1 / n))),
        divisor: attempts,
      };
  }
}

/** Replaces each value by the mean over its attempt, (M). */
function averageAttempts(values: tf.Tensor1D, lengths: readonly number[]): tf.Tensor1D {
  const attempts: tf.Tensor1D[] = tf.split(values, [...lengths]);
  return tf.concat(
    attempts.map((it, i) => tf.mul(tf.ones<tf.Rank.R1>([lengths[i]!]), tf.mean(it))),
  );
}

/** Σ k3 over the measured tokens, and for each attempt the indices of its clipped tokens. */
export function measureBatch(
  logprobs: Float32Array,
  { lengths, advantages, oldLogprobs, reference }: LossBatch,
  { ratio: level, clip }: LossSettings,
): { readonly kl: number; readonly clipped: readonly (readonly number[])[] } {
  let kl = 0;
  reference?.logprobs.forEach((it, i) => {
    const difference = it - logprobs[reference.tokens[i]!]!;
    kl += Math.exp(difference) - difference - 1;
  });
  let start = 0;
  const clipped = lengths.map(length => {
    const tokens = Array.from({ length }, (_, i) => start + i);
    start += length;
    const getLogRatio = (t: number) => logprobs[t]! - oldLogprobs[t]!;
    const mean = tokens.reduce((sum, t) => sum + getLogRatio(t), 0) / length;
    return tokens.flatMap((t, i) => {
      const ratio = Math.exp(level === "sequence" ? mean : getLogRatio(t));
      return (advantages[t]! > 0 ? ratio > 1 + clip.high : ratio < 1 - clip.low) ? [i] : [];
    });
  });
  return { kl, clipped };
}

export interface GroupStepContext extends MethodContext {
  /**
   * The weights at the start of the run: the reference of the KL term. Not used if its weight is 0.
   */
  readonly reference: Model | undefined;
}

/** The sampled tokens of an attempt whose importance ratio was clipped. */
export interface ClippedTokens {
  /** The numbers of the group and the attempt. */
  readonly group: number;
  readonly attempt: number;
  /** Their indices among the sampled tokens. */
  readonly tokens: readonly number[];
}

/**
 * Takes one optimizer step on groups, the same ones in every replica, which share the work. The
 * sums are the same in every replica; the clipped tokens are those of its own share. If it can be
 * abandoned and replicas are interrupted, the result is undefined and the weights are as before.
 */
export async function trainOnGroups(
  { group: replicas, model, chat, reference, optimizer, report }: GroupStepContext,
  groups: readonly TrainingGroup[],
  grpo: GrpoConfig["grpo"],
  learningRate: number,
  canBeAbandoned: boolean,
) {
  const attempts = groups.flatMap(it => it.attempts);
  const tokens = attempts.reduce((sum, it) => sum + it.logprobs.length, 0);
  const size: MinibatchSize = {
    tokens,
    attempts: attempts.length,
    longest: chat.limits.sampled,
  };
  const clippedTokens: ClippedTokens[] = [];
  const own = { loss: 0, kl: 0, measured: 0, clipped: 0 };
  if (tokens === 0) return { ...own, norm: 0, tokens, clippedTokens };

  let ownGradients: Gradients | undefined;
  let done = 0;
  const share = divideGroups(groups, replicas.count)[replicas.rank]!;
  const isAbandoned = () => canBeAbandoned && replicas.isInterrupted();
  for (const batch of splitIntoBatches(share)) {
    if (isAbandoned()) break;
    report?.({ doing: "learning", done, total: countAttempts(share) });
    done += countAttempts(batch);
    const result = await backward(model, reference, batch, { grpo, size });
    for (const key of ["loss", "kl", "measured", "clipped"] as const) own[key] += result[key];
    clippedTokens.push(...result.clippedTokens);
    ownGradients = ownGradients ? addGradients(ownGradients, result.gradients) : result.gradients;
  }
  if (canBeAbandoned && replicas.anyOf(isAbandoned())) {
    if (ownGradients) disposeGradients(ownGradients);
    return undefined;
  }
  const gradients = await replicas.sumGradients(ownGradients ?? zeroGradients(model));
  const { norm } = await optimizer.step(gradients, learningRate);
  disposeGradients(gradients);
  return { norm, tokens, clippedTokens, ...sumByName(replicas, own) };
}

const countAttempts = (groups: readonly TrainingGroup[]): number =>
  groups.reduce((sum, it) => sum + it.attempts.length, 0);

/**
 * The KL term is measured on one group of this many, another one at each step, and weighted as much
 * more: its mean is that of all groups, and the reference model computes only a part of them.
 */
export const measuredEvery = 4;

interface BackwardOptions {
  readonly grpo: GrpoConfig["grpo"];
  /** The size of the minibatch, over all replicas. */
  readonly size: MinibatchSize;
}

async function backward(
  model: Model,
  reference: Model | undefined,
  groups: readonly TrainingGroup[],
  { grpo, size }: BackwardOptions,
) {
  const { temperature } = grpo;
  const attempts = groups.flatMap(it => it.attempts);
  const batch: LossBatch = {
    lengths: attempts.map(it => it.logprobs.length),
    advantages: Float32Array.from(attempts.flatMap(it => it.advantages)), // (M)
    oldLogprobs: Float32Array.from(attempts.flatMap(it => it.logprobs)), // (M)
  };
  const measuredGroups = groups.filter(it => it.isMeasured);
  if (reference && grpo.kl > 0 && measuredGroups.length > 0)
    batch.reference = {
      tokens: listMeasuredTokens(groups), // (K)
      logprobs: await computeLogProbabilities(reference, packAttempts(measuredGroups), temperature), // (K)
      scale: measuredEvery,
    };
  const { loss, logprobs, gradients } = await computeGradients(
    model,
    packAttempts(groups),
    lp => computeLoss(lp, batch, grpo, size),
    temperature,
  );
  const { kl, clipped } = measureBatch(logprobs, batch, grpo);
  const places = groups.flatMap(({ number: group, attempts: all }) =>
    all.map(({ number: attempt }) => ({ group, attempt })),
  );
  return {
    loss,
    kl,
    measured: batch.reference?.logprobs.length ?? 0,
    clipped: clipped.flat().length,
    clippedTokens: places.flatMap((it, i) =>
      clipped[i]!.length > 0 ? [{ ...it, tokens: clipped[i]! }] : [],
    ),
    gradients,
  };
}

/** The indices of the sampled tokens of measured groups among those of all groups. */
function listMeasuredTokens(groups: readonly TrainingGroup[]): number[] {
  const indices: number[] = [];
  let at = 0;
  for (const { attempts, isMeasured } of groups)
    for (const { logprobs } of attempts)
      for (let i = 0; i < logprobs.length; i++, at++) if (isMeasured) indices.push(at);
  return indices;
}
