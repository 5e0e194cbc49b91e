/**
 * Supervised fine-tuning: maximizes the likelihood of the tokens that the student should write in a
 * teacher's conversation.
 */
import * as tf from "@tensorflow/tfjs-core";
import { packGroups, type PackedGroup } from "../../model/transformer/packedBatch.ts";
import {
  disposeGradients,
  computeGradients,
  computeLogProbabilities,
  type Gradients,
} from "../../model/transformer/transformer.ts";
import type { SftConfig } from "../../run/config.ts";
import { tokensPerBatch, divideItems } from "../trainingGroup.ts";
import {
  createEpochSampler,
  addGradients,
  zeroGradients,
  sumByName,
  type MethodContext,
  type TrainingMethod,
} from "../trainingMethod.ts";
import {
  getConversation,
  countConversations,
  tokenPart,
  type EncodedConversation,
  type Corpus,
} from "./corpus.ts";

export function openSft(context: MethodContext, config: SftConfig, corpus: Corpus): TrainingMethod {
  const { group, optimizer, report } = context;
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

      const computed = await computeStep(context, own, {
        given: sft.given,
        taught: counts.taught,
        onDone: done => report?.({ doing: "conversations", done, total: own.length }),
      });
      if (!computed) return undefined;
      const { lossSum, ownGradients } = computed;
      const gradients = await group.sumGradients(ownGradients);
      const learningRate = sft.learningRate * learningRateFactor(step, progress, sft);
      const needsValidation = step % saveEvery === 0 || progress >= 1;
      const canUndo = needsValidation && optimizer.canRemember;
      if (canUndo) optimizer.remember();
      const { norm } = await optimizer.step(gradients, learningRate);
      disposeGradients(gradients);

      const { loss } = sumByName(group, { loss: lossSum / counts.taught });
      const learning = (performance.now() - start) / 1000;
      const validation = needsValidation ? await validate(context, corpus, canUndo) : undefined;
      if (validation === "abandoned") {
        optimizer.undo();
        return undefined;
      }
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

interface StepOptions {
  /** The weight of given tokens. */
  readonly given: number;
  /** The taught tokens of the step, in all replicas. */
  readonly taught: number;
  /** Is told how many conversations are done, before each batch. */
  readonly onDone: (done: number) => void;
}

/**
 * The gradients of conversations, in batches, and Σ −log p over the tokens that are taught. The
 * loss is the mean over all taught tokens of the step, in all replicas. Undefined in every replica
 * if they are interrupted.
 */
async function computeStep(
  { group, model }: MethodContext,
  conversations: readonly EncodedConversation[],
  { given, taught, onDone }: StepOptions,
): Promise<{ readonly lossSum: number; readonly ownGradients: Gradients } | undefined> {
  let lossSum = 0;
  let sum: Gradients | undefined;
  let done = 0;
  for (const batch of splitConversations(conversations)) {
    if (group.isInterrupted()) break;
    onDone(done);
    done += batch.length;
    const targets = batch.flatMap(it => it.parts.slice(1).filter(part => isTarget(part, given)));
    const isTaught = targets.map(part => part === tokenPart.taught);
    const weights = Float32Array.from(isTaught, it => (it ? 1 : given));
    const { logprobs, gradients } = await computeGradients(
      model,
      packGroups(batch.map(it => toPackedGroup(it, given))),
      lp => tf.neg(tf.div(tf.sum(tf.mul(lp, tf.tensor1d(weights))), taught)),
    );
    lossSum -= logprobs.reduce((total, it, i) => (isTaught[i] ? total + it : total), 0);
    sum = sum ? addGradients(sum, gradients) : gradients;
  }
  if (group.anyOf(group.isInterrupted())) {
    if (sum) disposeGradients(sum);
    return undefined;
  }
  return { lossSum, ownGradients: sum ?? zeroGradients(model) };
}

/** Batches of about `tokensPerBatch` tokens, in their order. */
function splitConversations(
  conversations: readonly EncodedConversation[],
): (readonly EncodedConversation[])[] {
  const batches: EncodedConversation[][] = [];
  let room = 0;
  for (const it of conversations) {
    if (batches.length === 0 || it.ids.length > room) {
      batches.push([]);
      room = tokensPerBatch;
    }
    batches.at(-1)!.push(it);
    room -= it.ids.length;
  }
  return batches;
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

/**
 * Rises over the first steps, or the first tenth of a run that is shorter than ten times as many,
 * stays at 1, and falls to 0.05 over the last part.
 */
export function learningRateFactor(
  step: number,
  progress: number,
  { warmUp, decay }: Pick<SftConfig["sft"], "warmUp" | "decay">,
): number {
  const rise = Math.min(1, Math.max(step / Math.max(1, warmUp), 10 * progress));
  const fall = progress > 1 - decay ? (1 - progress) / decay : 1;
  return rise * Math.max(0.05, Math.min(1, fall));
}

/**
 * The mean loss per token on the validation conversations, each replica computing its share.
 * Undefined if there are none.
 */
async function validate(
  { group, model, report }: MethodContext,
  corpus: Corpus,
  canBeAbandoned: boolean,
): Promise<number | "abandoned" | undefined> {
  const indices = Array.from(
    { length: countConversations(corpus) - corpus.trainingCount },
    (_, i) => corpus.trainingCount + i,
  );
  if (indices.length === 0) return undefined;
  const own = indices.filter((_, i) => i % group.count === group.rank);
  let loss = 0;
  let tokens = 0;
  let done = 0;
  const isAbandoned = () => canBeAbandoned && group.isInterrupted();
  for (const batch of splitConversations(own.map(it => getConversation(corpus, it)))) {
    if (isAbandoned()) break;
    report?.({ doing: "validation", done, total: own.length });
    done += batch.length;
    const packed = packGroups(batch.map(it => toPackedGroup(it, 0)));
    for (const logprob of await computeLogProbabilities(model, packed)) loss -= logprob;
    tokens += packed.places.length;
  }
  if (canBeAbandoned && group.anyOf(isAbandoned())) return "abandoned";
  const sums = sumByName(group, { loss, tokens });
  return sums.loss / sums.tokens;
}
