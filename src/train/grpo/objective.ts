/**
 * The loss of GRPO on a batch of attempts, for any combination of ratio, normalization and clip
 * range. One entry per token that the student sampled:
 *
 *   ρ_t = exp(lp_t − lp_old_t), or for the whole attempt exp(mean (lp − lp_old))              (2)
 *   L = Σ w_t (−min(ρ_t A_t, clip(ρ_t, 1 − low, 1 + high) A_t) + β k3_t)                      (3)
 *   k3 = exp(lp_ref − lp) − (lp_ref − lp) − 1                                                 (4)
 *
 * With n tokens in the minibatch and m attempts, w is 1/n (`tokens`), 1/(m · the attempt's tokens)
 * (`attempts`), or 1/(m · the most tokens of an attempt) (`constant`).
 */
import * as tf from "@tensorflow/tfjs-core";
import type { GrpoSettings } from "../../run/config.ts";

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
export interface MinibatchSize {
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
