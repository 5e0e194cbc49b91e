/** One optimizer step on groups of scored attempts, shared by all replicas. */
import * as tf from "@tensorflow/tfjs-core";
import { packGroups, type PackedBatch } from "../model/packedBatch.ts";
import {
  disposeGradients,
  computeGradients,
  computeLogProbabilities,
  getTrainable,
  type Gradients,
  type Model,
} from "../model/transformer.ts";
import type { GrpoConfig } from "../run/config.ts";
import { listTokenAdvantages } from "./advantages.ts";
import { computeLoss, measureBatch, type LossBatch, type MinibatchSize } from "./objective.ts";
import type { ScoredAttempt } from "./scoredAttempt.ts";
import { sumByName, type MethodContext } from "./trainingMethod.ts";

export interface GroupStepContext extends MethodContext {
  /**
   * The weights at the start of the run: the reference of the KL term. Not used if its weight is 0.
   */
  readonly reference: Model | undefined;
}

/** Takes one optimizer step on groups of all replicas. The result is the same in every replica. */
export async function trainOnGroups(
  { group: replicas, model, chat, reference, optimizer }: GroupStepContext,
  groups: readonly (readonly ScoredAttempt[])[],
  grpo: GrpoConfig["grpo"],
  learningRate: number,
  measured: ReadonlySet<readonly ScoredAttempt[]>,
) {
  const attempts = groups.flat().filter(it => it.logprobs.length > 0);
  const counts = sumByName(replicas, {
    tokens: attempts.reduce((sum, it) => sum + it.logprobs.length, 0),
    attempts: attempts.length,
  });
  const size: MinibatchSize = { ...counts, longest: chat.limits.sampled };
  const { tokens } = size;
  if (tokens === 0) return { loss: 0, norm: 0, tokens: 0, kl: 0, measured: 0, clipped: 0 };

  const own = { loss: 0, kl: 0, measured: 0, clipped: 0 };
  let ownGradients: Gradients | undefined;
  for (const batch of splitIntoBatches(groups)) {
    const result = await backward(model, reference, batch, { grpo, size, measured });
    for (const key of ["loss", "kl", "measured", "clipped"] as const) own[key] += result[key];
    ownGradients = ownGradients ? addGradients(ownGradients, result.gradients) : result.gradients;
  }
  const gradients = await replicas.sumGradients(ownGradients ?? zeroGradients(model));
  const { norm } = await optimizer.step(gradients, learningRate);
  disposeGradients(gradients);
  return { norm, tokens, ...sumByName(replicas, own) };
}

/**
 * The KL term is measured on one group of this many, another one at each step, and weighted as much
 * more: its mean is that of all groups, and the reference model computes only a part of them.
 */
export const measuredEvery = 4;

/**
 * Tokens in one backward pass: its memory grows with them, and WebAssembly memory never shrinks.
 */
const tokensPerBatch = 2_000;

/** Batches of about `tokensPerBatch` tokens. Groups without a sampled token are left out. */
export function splitIntoBatches(
  groups: readonly (readonly ScoredAttempt[])[],
): (readonly ScoredAttempt[])[][] {
  const batches: (readonly ScoredAttempt[])[][] = [];
  let room = 0;
  for (const group of groups) {
    if (group.every(it => it.logprobs.length === 0)) continue;
    const size = group.reduce((sum, it) => sum + it.branch.ids.length, group[0]!.opening.length);
    if (size > room) {
      batches.push([]);
      room = tokensPerBatch;
    }
    batches.at(-1)!.push(group);
    room -= size;
  }
  return batches;
}

function addGradients(sum: Gradients, more: Gradients): Gradients {
  const added = new Map([...sum].map(([name, it]) => [name, tf.add(it, more.get(name)!)]));
  disposeGradients(sum);
  disposeGradients(more);
  return added;
}

interface BackwardOptions {
  readonly grpo: GrpoConfig["grpo"];
  /** The size of the minibatch, over all replicas. */
  readonly size: MinibatchSize;
  /** The groups on which the KL term is measured. */
  readonly measured: ReadonlySet<readonly ScoredAttempt[]>;
}

async function backward(
  model: Model,
  reference: Model | undefined,
  groups: readonly (readonly ScoredAttempt[])[],
  { grpo, size, measured }: BackwardOptions,
) {
  const { temperature } = grpo;
  const attempts = groups.flat().filter(it => it.logprobs.length > 0);
  const batch: LossBatch = {
    lengths: attempts.map(it => it.logprobs.length),
    advantages: Float32Array.from(attempts.flatMap(listTokenAdvantages)), // (M)
    oldLogprobs: Float32Array.from(attempts.flatMap(it => it.logprobs)), // (M)
  };
  const measuredGroups = groups.filter(it => measured.has(it));
  if (reference && grpo.kl > 0 && measuredGroups.length > 0)
    batch.reference = {
      tokens: listMeasuredTokens(groups, measured), // (K)
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
  for (const [i, it] of attempts.entries()) it.clipped.push(...clipped[i]!);
  return {
    loss,
    kl,
    measured: batch.reference?.logprobs.length ?? 0,
    clipped: clipped.flat().length,
    gradients,
  };
}

/** The prompt of a group is computed once, and its attempts branch off it. */
export const packAttempts = (groups: readonly (readonly ScoredAttempt[])[]): PackedBatch =>
  packGroups(
    groups.map(group => ({
      prefix: group[0]!.opening,
      branches: group.filter(it => it.logprobs.length > 0).map(it => it.branch),
    })),
  );

/** The indices of the sampled tokens of measured groups among those of all groups. */
function listMeasuredTokens(
  groups: readonly (readonly ScoredAttempt[])[],
  measured: ReadonlySet<readonly ScoredAttempt[]>,
): number[] {
  const indices: number[] = [];
  let at = 0;
  for (const group of groups)
    for (const { logprobs } of group)
      for (let i = 0; i < logprobs.length; i++, at++) if (measured.has(group)) indices.push(at);
  return indices;
}

/** The gradients of a replica that has no informative group. */
const zeroGradients = (model: Model): Gradients =>
  new Map([...getTrainable(model)].map(([name, it]) => [name, tf.zeros(it.shape)]));
