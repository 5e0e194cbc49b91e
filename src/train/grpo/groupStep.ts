/** One optimizer step on groups of scored attempts, shared by all replicas. */
import {
  disposeGradients,
  computeGradients,
  computeLogProbabilities,
  type Gradients,
  type Model,
} from "../../model/transformer/transformer.ts";
import type { GrpoConfig } from "../../run/config.ts";
import {
  packAttempts,
  splitIntoBatches,
  divideGroups,
  type TrainingGroup,
} from "../trainingGroup.ts";
import { addGradients, zeroGradients, sumByName, type MethodContext } from "../trainingMethod.ts";
import { computeLoss, measureBatch, type LossBatch, type MinibatchSize } from "./objective.ts";

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
  { group: replicas, model, chat, reference, optimizer }: GroupStepContext,
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
  const share = divideGroups(groups, replicas.count)[replicas.rank]!;
  const isAbandoned = () => canBeAbandoned && replicas.isInterrupted();
  for (const batch of splitIntoBatches(share)) {
    if (isAbandoned()) break;
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
