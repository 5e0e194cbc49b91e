/**
 * Gradients of large models in little memory (activation checkpointing, Chen et al., 2016): the
 * forward pass keeps only the input of each block, and the backward pass computes each block again.
 * Logits are computed for a part of the targets at a time, because a vocabulary is often larger
 * than everything else in a row.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { AttentionLayout } from "../compute/attentionLayout.ts";
import {
  applyBlock,
  attendWithin,
  computeOutput,
  embedTokens,
  getOutputName,
  predictTargets,
  type ModelWeights,
  type Predictions,
} from "./forward.ts";
import type { PackedBatch } from "./packedBatch.ts";
import type { Architecture } from "./architecture.ts";

/** What is computed of a batch, and where. */
export interface BackwardPass {
  readonly packed: PackedBatch;
  readonly layout: AttentionLayout;
  readonly temperature: number;
  /** The parameters whose gradients are wanted, by name. */
  readonly trainable: ReadonlyMap<string, tf.Variable>;
}

/** A batch whose activations take more bytes than this is computed by block. */
export const activationLimit = 2 ** 30;

/**
 * The adapters of a layer keep what they add and the sum besides what the layer computes: measured
 * with SmolLM2-135M and adapters of all layers, 5.4 MB a token instead of 1.5 MB.
 */
const adapterFactor = 3.75;

/** The bytes that the activations of all blocks take at once. */
export function countActivationBytes(
  { width, layers, heads, kvHeads, headWidth, hidden, vocabulary }: Architecture,
  { tokens, targets, isAdapted }: { tokens: number; targets: number; isAdapted: boolean },
): number {
  const row = 5 * width + (4 * heads + 4 * kvHeads) * headWidth + 4 * hidden;
  const factor = isAdapted ? adapterFactor : 1;
  return 4 * (tokens * layers * row * factor + 3 * targets * vocabulary);
}

/** Whether the activations of all blocks would take too much memory at once. */
export const needsRecomputation = (
  { architecture, adapters }: ModelWeights,
  { ids, targets }: Pick<PackedBatch, "ids" | "targets">,
): boolean =>
  countActivationBytes(architecture, {
    tokens: ids.length,
    targets: targets.length,
    isAdapted: adapters !== undefined,
  }) > activationLimit;

/** About this many logits are in memory at once. */
export const logitsPerPart = 2 ** 23;

/** The log-probability of each prediction, (T), from the residual stream after the last block. */
export function predictInParts(
  model: ModelWeights,
  hidden: tf.Tensor2D,
  predictions: Predictions,
  temperature: number,
): tf.Tensor1D {
  return tf.tidy(() =>
    tf.concat1d(
      splitRows(model, hidden).map(([start, length]) =>
        tf.tidy(() =>
          predictTargets(
            computeOutput(model, tf.slice(hidden, [start, 0], [length, -1])),
            slicePredictions(predictions, start, length),
            temperature,
          ),
        ),
      ),
    ),
  );
}

/** The residual stream after the last block in the rows, (T, width), without a gradient. */
export function forwardByBlock(
  model: ModelWeights,
  { ids, rows }: PackedBatch,
  layout: AttentionLayout,
): tf.Tensor2D {
  let x = embedTokens(model, ids);
  const attend = attendWithin(layout);
  for (let layer = 0; layer < model.architecture.layers; layer++) {
    const input = x;
    x = tf.tidy(() => applyBlock(model, layer, input, { rows, attend }));
    input.dispose();
  }
  return x;
}

/**
 * The log-probabilities of the targets (M), the loss, and its gradients by name. The caller
 * disposes of all of them.
 */
export function computeRecomputedGradients(
  model: ModelWeights,
  pass: BackwardPass,
  computeLoss: (logprobs: tf.Tensor1D) => tf.Scalar,
): { loss: tf.Scalar; logprobs: tf.Tensor1D; gradients: Map<string, tf.Tensor> } {
  const { packed, layout, temperature, trainable } = pass;
  const { layers } = model.architecture;
  const attention = { rows: packed.rows, attend: attendWithin(layout) };
  const gradients = new Map<string, tf.Tensor>();
  const inputs = [tf.tidy(() => embedTokens(model, packed.ids))]; // the input of each block
  for (let layer = 0; layer < layers; layer++)
    inputs.push(tf.tidy(() => applyBlock(model, layer, inputs[layer]!, attention)));
  const hidden = inputs.pop()!;
  const predicted = predictInParts(model, hidden, packed, temperature); // (T)
  const { loss, logprobs, d } = tf.tidy(() => {
    const places = tf.tensor1d(packed.places, "int32");
    const compute = (it: tf.Tensor1D) => computeLoss(tf.gather(it, places));
    const { value, grad } = tf.valueAndGrad((it: tf.Tensor) => compute(it as tf.Tensor1D))(
      predicted,
    );
    return { loss: value, logprobs: tf.gather(predicted, places), d: grad };
  });
  predicted.dispose();
  let dx = backwardOutput(model, { hidden, d: d as tf.Tensor1D, gradients }, pass);
  tf.dispose([hidden, d]);
  for (let layer = layers - 1; layer >= 0; layer--) {
    const input = inputs.pop()!;
    const apply = () => applyBlock(model, layer, input, attention);
    const of = select(trainable, it => it.startsWith(`layers.${layer}.`));
    const next = backward(apply, input, dx, of, gradients);
    tf.dispose([input, dx]);
    dx = next;
  }
  backwardEmbedding(model, dx, pass, gradients);
  dx.dispose();
  return { loss, logprobs, gradients: sortLike(trainable, gradients) };
}

/** Adds the gradients of the output layer, and returns that of the residual stream (T, width). */
function backwardOutput(
  model: ModelWeights,
  { hidden, d, gradients }: { hidden: tf.Tensor2D; d: tf.Tensor1D; gradients: GradientSums },
  { packed, temperature, trainable }: BackwardPass,
): tf.Tensor2D {
  const output = getOutputName(model.architecture);
  const of = select(trainable, it => it === "norm" || it === output);
  const parts = splitRows(model, hidden).map(([start, length]) => {
    const rows = tf.slice(hidden, [start, 0], [length, -1]);
    const by = tf.slice(d, [start], [length]);
    const predictions = slicePredictions(packed, start, length);
    const apply = () => predictTargets(computeOutput(model, rows), predictions, temperature);
    const dx = backward(apply, rows, by, of, gradients);
    tf.dispose([rows, by]);
    return dx;
  });
  const joined = tf.concat2d(parts, 0);
  tf.dispose(parts);
  return joined;
}

function backwardEmbedding(
  model: ModelWeights,
  dx: tf.Tensor2D,
  { packed, trainable }: BackwardPass,
  gradients: GradientSums,
): void {
  const embedding = trainable.get("embedding");
  if (!embedding) return;
  const [gradient] = tf.grads(() => embedTokens(model, packed.ids))([embedding], dx) as [tf.Tensor];
  addTo(gradients, "embedding", gradient);
}

type GradientSums = Map<string, tf.Tensor>;

/**
 * The gradient of the input of a part of the model, from that of its output. Those of the
 * variables are added to the sums.
 */
function backward(
  apply: () => tf.Tensor,
  input: tf.Tensor2D,
  d: tf.Tensor,
  of: readonly (readonly [name: string, variable: tf.Variable])[],
  sums: GradientSums,
): tf.Tensor2D {
  const [dx, ...others] = tf.grads(apply)([input, ...of.map(([, it]) => it)], d);
  for (const [i, gradient] of others.entries()) addTo(sums, of[i]![0], gradient);
  return dx as tf.Tensor2D;
}

function addTo(sums: GradientSums, name: string, gradient: tf.Tensor): void {
  const before = sums.get(name);
  sums.set(name, before ? tf.add(before, gradient) : gradient);
  if (before) tf.dispose([before, gradient]);
}

const select = (trainable: ReadonlyMap<string, tf.Variable>, isWanted: (name: string) => boolean) =>
  [...trainable].filter(([name]) => isWanted(name));

const sortLike = (order: ReadonlyMap<string, unknown>, gradients: GradientSums): GradientSums =>
  new Map([...order.keys()].map(name => [name, gradients.get(name)!]));

/** The starts and lengths of parts of the rows. */
function splitRows(
  { architecture }: ModelWeights,
  { shape: [n] }: tf.Tensor2D,
): (readonly [start: number, length: number])[] {
  const size = Math.max(1, Math.floor(logitsPerPart / architecture.vocabulary));
  return Array.from({ length: Math.ceil(n / size) }, (_, i) => [
    i * size,
    Math.min(size, n - i * size),
  ]);
}

const slicePredictions = (
  { targets, allowed }: Predictions,
  start: number,
  length: number,
): Predictions => ({
  targets: targets.subarray(start, start + length),
  ...(allowed ? { allowed: allowed.slice(start, start + length) } : {}),
});
