/**
 * A decoder-only transformer like Qwen3: RMSNorm, rotary positions, grouped-query attention and
 * SwiGLU, with the variants of the architecture. It computes log-probabilities and gradients of a
 * packed batch.
 */
import * as tf from "@tensorflow/tfjs-core";
import { createLayout, type AttentionLayout } from "../compute/attentionLayout.ts";
import { runningBackend } from "../compute/runningBackend.ts";
import { mulberry32 } from "../environment/random.ts";
import type { Adapters } from "./adapters.ts";
import { checkArchitecture, listParameters, type Architecture } from "./architecture.ts";
import {
  applyBlock,
  attendWithin,
  computeOutput,
  embedTokens,
  predictTargets,
  type ModelWeights,
} from "./forward.ts";
import type { PackedBatch } from "./packedBatch.ts";
import {
  computeRecomputedGradients,
  forwardByBlock,
  needsRecomputation,
  predictInParts,
} from "./recomputedGradients.ts";
import { createRopeTables } from "./ropeTables.ts";

/** A model: its sizes and its weights by name. Its creator disposes of it. */
export interface Model extends ModelWeights {
  /** Optimizers change the variables in place. */
  readonly parameters: ReadonlyMap<string, tf.Variable>;
  dispose(): void;
}

/** What training changes: the adapters if the model has some, else all weights. */
export const getTrainable = (model: Model): ReadonlyMap<string, tf.Variable> =>
  model.adapters?.parameters ?? model.parameters;

/** A model with adapters, which share its weights. Disposing of it disposes of both. */
export const addAdapters = (model: Model, adapters: Adapters): Model => ({
  ...model,
  adapters,
  dispose: () => {
    adapters.dispose();
    model.dispose();
  },
});

/** The model without its adapters, which shares its weights: not to be disposed of. */
export const withoutAdapters = (model: Model): Model => ({
  ...model,
  adapters: undefined,
  dispose: () => {},
});

/** One tensor for each trainable parameter, by name. The receiver disposes of them. */
export type Gradients = ReadonlyMap<string, tf.Tensor>;

/** Computes a scalar from log-probabilities (M) with tfjs operations that have gradients. */
export type LossFunction = (logprobs: tf.Tensor1D) => tf.Scalar;

/** The mean of −log p. */
export const meanLoss: LossFunction = logprobs => tf.neg(tf.mean(logprobs));

/** Creates a model with random weights, which depend only on the seed. */
export function initializeModel(architecture: Architecture, seed: number): Model {
  const next = mulberry32(seed);
  return createModel(architecture, (_name, shape, deviation) => {
    const size = shape.reduce((product, n) => product * n, 1);
    return deviation === undefined
      ? new Float32Array(size).fill(1)
      : sampleGaussians(size, deviation, next);
  });
}

/** `n` normally distributed numbers with mean 0 (Box–Muller transform). */
function sampleGaussians(n: number, deviation: number, next: () => number): Float32Array {
  const values = new Float32Array(n);
  for (let i = 0; i < n; i += 2) {
    const radius = deviation * Math.sqrt(-2 * Math.log(1 - next()));
    const angle = 2 * Math.PI * next();
    values[i] = radius * Math.cos(angle);
    if (i + 1 < n) values[i + 1] = radius * Math.sin(angle);
  }
  return values;
}

/** Creates a model. The caller has checked that every weight is present and has its shape. */
export function createModel(
  architecture: Architecture,
  getValues: (
    name: string,
    shape: readonly number[],
    deviation: number | undefined,
  ) => Float32Array,
): Model {
  checkArchitecture(architecture);
  const parameters = new Map<string, tf.Variable>();
  for (const { name, shape, deviation } of listParameters(architecture))
    parameters.set(
      name,
      tf.tidy(() => tf.variable(tf.tensor(getValues(name, shape, deviation), [...shape]))),
    );
  const rope = createRopeTables(architecture);
  const dispose = () => {
    for (const parameter of parameters.values()) parameter.dispose();
    tf.dispose([rope.cos, rope.sin]);
  };
  return { architecture, parameters, rope, dispose };
}

/** The logits after the rows, (T, vocabulary), differentiable in the parameters. */
const forwardLogits = (
  model: Model,
  packed: Pick<PackedBatch, "ids" | "rows">,
  layout: AttentionLayout,
): tf.Tensor2D => computeOutput(model, forwardHidden(model, packed, layout));

/** The residual stream after the last block in the rows, (T, width). */
const forwardHidden = (
  model: Model,
  { ids, rows }: Pick<PackedBatch, "ids" | "rows">,
  layout: AttentionLayout,
): tf.Tensor2D =>
  tf.tidy(() => {
    let x = embedTokens(model, ids);
    const attend = attendWithin(layout);
    for (let layer = 0; layer < model.architecture.layers; layer++)
      x = tf.tidy(() => applyBlock(model, layer, x, { rows, attend }));
    return x;
  });

/** The log-probability of each target at a temperature, (M), differentiable in the parameters. */
function forwardLogProbabilities(
  model: Model,
  packed: PackedBatch,
  layout: AttentionLayout,
  temperature: number,
): tf.Tensor1D {
  const predictions = predictTargets(forwardLogits(model, packed, layout), packed, temperature);
  return tf.gather(predictions, tf.tensor1d(packed.places, "int32"));
}

/**
 * Computes the loss of a batch, the log-probabilities of its targets (M), and the gradient of the
 * loss for every parameter. `byBlock`: whether each block is computed again in the backward pass.
 */
export async function computeGradients(
  model: Model,
  packed: PackedBatch,
  computeLoss: LossFunction,
  temperature = 1,
  byBlock = needsRecomputation(model, packed),
): Promise<{ loss: number; logprobs: Float32Array; gradients: Gradients }> {
  checkBatch(model.architecture, packed);
  const layout = createLayout(packed);
  const trainable = getTrainable(model);
  if (byBlock) {
    const pass = { packed, layout, temperature, trainable };
    const { loss, logprobs, gradients } = computeRecomputedGradients(model, pass, computeLoss);
    layout.dispose();
    const [[value], values] = await Promise.all([loss.data(), logprobs.data<"float32">()]);
    runningBackend().check?.();
    tf.dispose([loss, logprobs]);
    return { loss: value!, logprobs: values, gradients };
  }
  const kept: tf.Tensor1D[] = [];
  const { value, grads } = tf.variableGrads(() => {
    const logprobs = forwardLogProbabilities(model, packed, layout, temperature);
    kept.push(tf.keep(logprobs));
    return computeLoss(logprobs);
  }, [...trainable.values()]);
  const [[loss], logprobs] = await Promise.all([value.data(), kept[0]!.data<"float32">()]);
  runningBackend().check?.();
  tf.dispose([value, ...kept]);
  layout.dispose();
  const named = [...trainable].map(([name, variable]) => [name, grads[variable.name]!] as const);
  return { loss: loss!, logprobs, gradients: new Map(named) };
}

/** Computes the log-probabilities of a batch's targets (M), without a gradient. */
export async function computeLogProbabilities(
  model: Model,
  packed: PackedBatch,
  temperature = 1,
): Promise<Float32Array> {
  checkBatch(model.architecture, packed);
  const layout = createLayout(packed);
  const logprobs = tf.tidy(() => {
    if (!needsRecomputation(model, packed))
      return forwardLogProbabilities(model, packed, layout, temperature);
    const hidden = forwardByBlock(model, packed, layout);
    const predictions = predictInParts(model, hidden, packed, temperature);
    return tf.gather(predictions, tf.tensor1d(packed.places, "int32"));
  });
  layout.dispose();
  return readAndDispose(logprobs);
}

/** Computes the logits after the rows of a batch, (T, vocabulary), without a gradient. */
export async function computeLogits(model: Model, packed: PackedBatch): Promise<Float32Array> {
  checkBatch(model.architecture, packed);
  const layout = createLayout(packed);
  const logits = tf.tidy(() => forwardLogits(model, packed, layout));
  layout.dispose();
  return readAndDispose(logits);
}

export async function readAndDispose(tensor: tf.Tensor): Promise<Float32Array> {
  const values = await tensor.data<"float32">();
  runningBackend().check?.();
  tensor.dispose();
  return values;
}

export function disposeGradients(gradients: Gradients): void {
  for (const gradient of gradients.values()) gradient.dispose();
}

function checkBatch(
  { vocabulary, context }: Architecture,
  { ids, positions, targets, allowed }: PackedBatch,
): void {
  // the kernels use these numbers as memory offsets without checking them
  if (targets.length === 0) throw new Error("a batch without targets");
  if (ids.some(it => it < 0 || it >= vocabulary) || targets.some(it => it < 0 || it >= vocabulary))
    throw new Error(`a batch holds a token id outside the vocabulary of ${vocabulary}`);
  if (allowed && allowed.length !== targets.length)
    throw new Error(`a batch of ${targets.length} predictions has ${allowed.length} masks`);
  if (allowed?.some((it, i) => it[targets[i]!] !== 1))
    throw new Error("a batch holds a target that its mask does not allow");
  if (positions.some(it => it < 0 || it >= context))
    throw new Error(`a batch holds a sequence longer than the context of ${context}`);
}
