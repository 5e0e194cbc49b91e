/**
 * A decoder-only transformer like Qwen3: RMSNorm, rotary positions, grouped-query attention and
 * SwiGLU, with the variants of the architecture. It computes log-probabilities and gradients of a
 * packed batch.
 */
import * as tf from "@tensorflow/tfjs-core";
import {
  createLayout,
  type AttentionLayout,
  type RopeTables,
} from "../../compute/attentionLayout.ts";
import { runningBackend } from "../../compute/runningBackend.ts";
import { mulberry32 } from "../../environment/random.ts";
import type { Adapters } from "./adapters.ts";
import {
  checkArchitecture,
  listParameters,
  type Architecture,
  type RopeScaling,
} from "./architecture.ts";
import {
  applyBlock,
  attendWithin,
  computeOutput,
  embedTokens,
  predictTargets,
  type ModelWeights,
  getOutputName,
  type Predictions,
} from "./forward.ts";
import type { PackedBatch } from "./packedBatch.ts";

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

// Gradients of large models in little memory (activation checkpointing, Chen et al., 2016): the
// forward pass keeps only the input of each block, and the backward pass computes each block again.
// Logits are computed for a part of the targets at a time, because a vocabulary is often larger
// than everything else in a row.

/** What is computed of a batch, and where. */
interface BackwardPass {
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
function predictInParts(
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
function forwardByBlock(
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

// The rotary position embedding: the angle of every position and pair of numbers of a head.

/** Cosines and sines of the angles of every position, (context, headWidth / 2). */
export function createRopeTables(architecture: Architecture): RopeTables {
  const { context, headWidth, ropeBase, ropeScaling } = architecture;
  const half = headWidth / 2;
  const frequencies = Array.from({ length: half }, (_, i) =>
    scaleFrequency(ropeBase ** (-i / half), ropeScaling),
  );
  const createTable = (wave: (angle: number) => number) =>
    tf.tensor2d(
      Float32Array.from({ length: context * half }, (_, i) =>
        wave(Math.floor(i / half) * (frequencies[i % half] as number)),
      ),
      [context, half],
    );
  return { cos: createTable(Math.cos), sin: createTable(Math.sin) };
}

/** The angle per position, for sequences longer than those that the model was first trained with. */
function scaleFrequency(frequency: number, scaling: RopeScaling | undefined): number {
  switch (scaling?.kind) {
    case undefined:
      return frequency;
    case "linear":
      return frequency / scaling.factor;
    case "llama3": {
      const { factor, lowFrequency, highFrequency, originalContext } = scaling;
      const turns = (originalContext * frequency) / (2 * Math.PI);
      if (turns > highFrequency) return frequency;
      if (turns < lowFrequency) return frequency / factor;
      const share = (turns - lowFrequency) / (highFrequency - lowFrequency);
      return (1 - share) * (frequency / factor) + share * frequency;
    }
  }
}
