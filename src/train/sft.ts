/**
 * Supervised fine-tuning: maximizes the likelihood of the tokens that the student should write in a
 * teacher's conversation.
 */
import * as tf from "@tensorflow/tfjs-core";
import { packGroups, type PackedGroup } from "../model/packedBatch.ts";
import {
  disposeGradients,
  computeGradients,
  computeLogProbabilities,
  type Model,
} from "../model/transformer.ts";
import type { SftConfig } from "../run/config.ts";
import {
  getConversation,
  countConversations,
  tokenPart,
  type EncodedConversation,
  type Corpus,
} from "./corpus.ts";
import { createEpochSampler } from "./epochSampler.ts";
import {
  sumByName,
  type ProcessGroup,
  type MethodContext,
  type TrainingMethod,
} from "./trainingMethod.ts";
import { divideItems } from "./workShares.ts";

export function openSft(
  { group, model, optimizer }: MethodContext,
  config: SftConfig,
  corpus: Corpus,
): TrainingMethod {
  const { sft, seed, saveEvery } = config;
  const sampleIndex = createEpochSampler(corpus.trainingCount, seed);
  return {
    async step(step, progress) {
      const start = performance.now();
      const positions = Array.from(
        { length: sft.conversations },
        (_, i) => (step - 1) * sft.conversations + i,
      );
      const conversations = positions.map(it => getConversation(corpus, sampleIndex(it)));
      const own = divideItems(conversations, group.count, it => it.ids.length)[group.rank]!;
      const count = (part: number) =>
        own.reduce((sum, it) => sum + it.parts.filter(other => other === part).length, 0);
      const counts = sumByName(group, {
        taught: count(tokenPart.taught),
        given: count(tokenPart.given),
        ignored: count(tokenPart.ignored),
      });

      // the loss is the mean over all taught tokens of the step, in all replicas
      const weights = Float32Array.from(
        own.flatMap(it =>
          it.parts
            .slice(1)
            .filter(part => isTarget(part, sft.given))
            .map(part => (part === tokenPart.taught ? 1 : sft.given)),
        ),
      );
      const result = await computeGradients(
        model,
        packGroups(own.map(it => toPackedGroup(it, sft.given))),
        logprobs => tf.neg(tf.div(tf.sum(tf.mul(logprobs, tf.tensor1d(weights))), counts.taught)),
      );
      const gradients = await group.sumGradients(result.gradients);
      const learningRate = sft.learningRate * learningRateFactor(step, progress, sft);
      const { norm } = await optimizer.step(gradients, learningRate);
      disposeGradients(gradients);

      const { loss } = sumByName(group, {
        loss:
          result.logprobs.reduce((sum, it, i) => (weights[i] === 1 ? sum - it : sum), 0) /
          counts.taught,
      });
      const learning = (performance.now() - start) / 1000;
      const validation =
        step % saveEvery === 0 || progress >= 1 ? await validate(group, model, corpus) : undefined;
      const seconds = { learning, total: (performance.now() - start) / 1000 };
      const metrics = {
        step,
        method: "sft" as const,
        loss,
        gradientNorm: norm,
        learningRate,
        taught: counts.taught,
        tokens: counts.taught + counts.given + counts.ignored,
        conversations: sft.conversations,
        seconds,
      };
      return {
        metrics: validation === undefined ? metrics : { ...metrics, validation },
        groups: [],
      };
    },
    dispose: () => {},
  };
}

/** The first token of a conversation is never a target: no token before it predicts it. */
const toPackedGroup = (
  { ids, parts }: EncodedConversation,
  weightOfGiven: number,
): PackedGroup => ({
  prefix: [],
  branches: [
    { ids, mask: parts.map((part, i) => (i > 0 && isTarget(part, weightOfGiven) ? 1 : 0)) },
  ],
});

const isTarget = (part: number, weightOfGiven: number) =>
  part === tokenPart.taught || (part === tokenPart.given && weightOfGiven > 0);

/** Rises over the first steps, stays at 1, and falls to 0.05 over the last part of the run. */
export function learningRateFactor(
  step: number,
  progress: number,
  { warmUp, decay }: Pick<SftConfig["sft"], "warmUp" | "decay">,
): number {
  const rise = Math.min(1, step / Math.max(1, warmUp));
  const fall = progress > 1 - decay ? (1 - progress) / decay : 1;
  return rise * Math.max(0.05, Math.min(1, fall));
}

/**
 * The mean loss per token on the validation conversations, each replica computing its share.
 * Undefined if there are none.
 */
async function validate(
  group: ProcessGroup,
  model: Model,
  corpus: Corpus,
): Promise<number | undefined> {
  const indices = Array.from(
    { length: countConversations(corpus) - corpus.trainingCount },
    (_, i) => corpus.trainingCount + i,
  );
  if (indices.length === 0) return undefined;
  const own = indices.filter((_, i) => i % group.count === group.rank);
  let loss = 0;
  let tokens = 0;
  for (let i = 0; i < own.length; i += 16) {
    const packed = packGroups(
      own.slice(i, i + 16).map(index => toPackedGroup(getConversation(corpus, index), 0)),
    );
    for (const logprob of await computeLogProbabilities(model, packed)) loss -= logprob;
    tokens += packed.places.length;
  }
  const sums = sumByName(group, { loss, tokens });
  return sums.loss / sums.tokens;
}
