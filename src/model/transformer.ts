/**
 * A decoder-only transformer like Qwen3: RMSNorm, rotary positions, grouped-query attention with
 * normalized queries and keys, SwiGLU, and an output layer tied to the embedding. It computes
 * log-probabilities and gradients of a packed batch.
 */
import * as tf from "@tensorflow/tfjs-core";
import {
  attention,
  logProbabilities,
  matMulTransposed,
  rmsNorm,
  swiglu,
} from "../compute/operations.ts";
import { createLayout, type AttentionLayout, type RopeTables } from "../compute/attentionLayout.ts";
import { mulberry32 } from "../environment/random.ts";
import { checkArchitecture, listParameters, type Architecture } from "./architecture.ts";
import type { PackedBatch } from "./packedBatch.ts";

/** A model: its sizes and its weights by name. Its creator disposes of it. */
export interface Model {
  readonly architecture: Architecture;
  /** In a fixed order. Matrices are (outputs, inputs). Optimizers change the variables in place. */
  readonly parameters: ReadonlyMap<string, tf.Variable>;
  readonly rope: RopeTables;
  dispose(): void;
}

/** One tensor for each parameter, by name. The receiver disposes of them. */
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

/** The input of a packed batch, with the rows after which tokens are predicted. */
type BatchInput = Pick<PackedBatch, "ids" | "rows">;

/** The logits after the rows, (T, vocabulary), differentiable in the parameters. */
function forwardLogits(
  model: Model,
  { ids, rows }: BatchInput,
  layout: AttentionLayout,
): tf.Tensor2D {
  const { architecture, rope } = model;
  const matrix = (name: string) => weight(model, name) as tf.Tensor2D;
  const scale = (name: string) => weight(model, name) as tf.Tensor1D;
  const outputs = tf.tidy(() => {
    const predicting = tf.tensor1d(rows, "int32");
    let x = tf.gather(matrix("embedding"), tf.tensor1d(ids, "int32")); // (N, width)
    for (let layer = 0; layer < architecture.layers; layer++) {
      const at = `layers.${layer}`;
      const qkv = matMulTransposed(
        rmsNorm(x, scale(`${at}.attention.norm`)),
        matrix(`${at}.attention.qkv`),
      );
      let mixed = attention(
        qkv,
        scale(`${at}.attention.queryNorm`),
        scale(`${at}.attention.keyNorm`),
        { ...architecture, rope, layout },
      );
      // of the last layer, the other rows need only keys and values
      if (layer === architecture.layers - 1)
        [x, mixed] = [tf.gather(x, predicting), tf.gather(mixed, predicting)]; // (T, …)
      x = tf.add(x, matMulTransposed(mixed, matrix(`${at}.attention.out`)));
      const gateUp = matMulTransposed(
        rmsNorm(x, scale(`${at}.feed.norm`)),
        matrix(`${at}.feed.gateUp`),
      );
      x = tf.add(x, matMulTransposed(swiglu(gateUp), matrix(`${at}.feed.down`)));
    }
    return x;
  });
  return matMulTransposed(rmsNorm(outputs, scale("norm")), matrix("embedding"));
}

/**
 * The log-probability of each target at a temperature, log softmax(logits / temperature), (M),
 * differentiable in the parameters. If only some tokens could be chosen, it is that among them.
 */
function forwardLogProbabilities(
  model: Model,
  packed: PackedBatch,
  layout: AttentionLayout,
  temperature: number,
): tf.Tensor1D {
  const logits = forwardLogits(model, packed, layout);
  const scaled: tf.Tensor2D = temperature === 1 ? logits : tf.div(logits, temperature);
  const predictions = logProbabilities(
    packed.allowed ? tf.add(scaled, createPenalties(packed.allowed, logits.shape[1])) : scaled,
    tf.tensor1d(packed.targets, "int32"),
  ); // (T)
  return tf.gather(predictions, tf.tensor1d(packed.places, "int32"));
}

/** What is added to the logits of tokens that cannot be chosen: exp of the sum is 0. */
const penalty = -1e9;

/** The penalties of all tokens, (T, vocabulary), of masks that may lack the last ones. */
function createPenalties(allowed: readonly Uint8Array[], vocabulary: number): tf.Tensor2D {
  const penalties = new Float32Array(allowed.length * vocabulary);
  for (const [row, mask] of allowed.entries())
    for (let id = 0; id < vocabulary; id++)
      if (mask[id] !== 1) penalties[row * vocabulary + id] = penalty;
  return tf.tensor2d(penalties, [allowed.length, vocabulary]);
}

/**
 * Computes the loss of a batch, the log-probabilities of its targets (M), and the gradient of the
 * loss for every parameter.
 */
export async function computeGradients(
  model: Model,
  packed: PackedBatch,
  computeLoss: LossFunction,
  temperature = 1,
): Promise<{ loss: number; logprobs: Float32Array; gradients: Gradients }> {
  checkBatch(model.architecture, packed);
  const layout = createLayout(packed);
  const kept: tf.Tensor1D[] = [];
  const { value, grads } = tf.variableGrads(() => {
    const logprobs = forwardLogProbabilities(model, packed, layout, temperature);
    kept.push(tf.keep(logprobs));
    return computeLoss(logprobs);
  }, [...model.parameters.values()]);
  const [[loss], logprobs] = await Promise.all([value.data(), kept[0]!.data<"float32">()]);
  tf.dispose([value, ...kept]);
  layout.dispose();
  const named = [...model.parameters].map(
    ([name, variable]) => [name, grads[variable.name]!] as const,
  );
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
  const logprobs = tf.tidy(() => forwardLogProbabilities(model, packed, layout, temperature));
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

async function readAndDispose(tensor: tf.Tensor): Promise<Float32Array> {
  const values = await tensor.data<"float32">();
  tensor.dispose();
  return values;
}

export function disposeGradients(gradients: Gradients): void {
  for (const gradient of gradients.values()) gradient.dispose();
}

function weight(model: Model, name: string): tf.Tensor {
  const variable = model.parameters.get(name);
  if (!variable) throw new Error(`no parameter ${name}`);
  return variable;
}

/** Cosines and sines of the angles of every position, (context, headWidth / 2). */
function createRopeTables({ context, headWidth, ropeBase }: Architecture): RopeTables {
  const half = headWidth / 2;
  const createTable = (wave: (angle: number) => number) =>
    tf.tensor2d(
      Float32Array.from({ length: context * half }, (_, i) =>
        wave(Math.floor(i / half) * ropeBase ** (-(i % half) / half)),
      ),
      [context, half],
    );
  return { cos: createTable(Math.cos), sin: createTable(Math.sin) };
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
