/**
 * The forward pass: the embedding, the blocks and the output layer, on operations that have
 * gradients. What a family of models has or lacks is in the architecture; the adapters of a model,
 * if it has some, add to its linear layers.
 */
import * as tf from "@tensorflow/tfjs-core";
import {
  attention,
  logProbabilities,
  matMulTransposed,
  rmsNorm,
  swiglu,
} from "../../compute/operations.ts";
import type {
  AttentionLayout,
  RopeTables,
  HeadNorms,
  HeadShape,
} from "../../compute/attentionLayout.ts";
import {
  getAttentionScale,
  getNormEpsilon,
  hasHeadNorms,
  type Architecture,
  type BlockMatrix,
} from "./architecture.ts";
import { adaptLinear, type Adapters } from "./adapters.ts";
import type { PackedBatch } from "./packedBatch.ts";

/** What the forward pass reads of a model. */
export interface ModelWeights {
  readonly architecture: Architecture;
  /** In a fixed order. Matrices are (outputs, inputs). */
  readonly parameters: ReadonlyMap<string, tf.Tensor>;
  /** What is trained instead of the parameters, if there are some. */
  readonly adapters?: Adapters | undefined;
  readonly rope: RopeTables;
}

/** The embedding of the tokens, (N, width). */
export function embedTokens(model: ModelWeights, ids: Int32Array): tf.Tensor2D {
  const embedding = getWeight(model, "embedding") as tf.Tensor2D;
  return multiply(
    tf.gather(embedding, tf.tensor1d(ids, "int32")),
    model.architecture.multipliers?.embedding,
  );
}

/** Queries, keys and values, (N, (heads + 2 kvHeads) · headWidth), to (N, heads · headWidth). */
export type Attend = (
  qkv: tf.Tensor2D,
  norms: HeadNorms | undefined,
  shape: HeadShape,
) => tf.Tensor2D;

/** Attention among the rows of a batch. */
export const attendWithin =
  (layout: AttentionLayout): Attend =>
  (qkv, norms, shape) =>
    attention(qkv, norms, { ...shape, layout });

/**
 * The residual stream after a block, (N, width); after the last block only of these rows, (T,
 * width).
 */
export function applyBlock(
  model: ModelWeights,
  layer: number,
  input: tf.Tensor2D,
  { rows, attend }: { readonly rows: Int32Array; readonly attend: Attend },
): tf.Tensor2D {
  const { architecture, rope } = model;
  const at = `layers.${layer}`;
  const scale = (name: string) => getWeight(model, `${at}.${name}`) as tf.Tensor1D;
  const linear = (x: tf.Tensor2D, matrix: BlockMatrix) => applyLinear(model, layer, x, matrix);
  const epsilon = getNormEpsilon(architecture);
  const residual = architecture.multipliers?.residual;
  let x = input;
  const product = linear(rmsNorm(x, scale("attention.norm"), epsilon), "attention.qkv");
  const qkv: tf.Tensor2D = architecture.hasBias
    ? tf.add(product, scale("attention.bias"))
    : product;
  let mixed = attend(
    qkv,
    hasHeadNorms(architecture)
      ? { query: scale("attention.queryNorm"), key: scale("attention.keyNorm") }
      : undefined,
    { ...architecture, epsilon, scale: getAttentionScale(architecture), rope },
  );
  // of the last layer, the other rows need only keys and values
  if (layer === architecture.layers - 1) {
    const predicting = tf.tensor1d(rows, "int32");
    [x, mixed] = [tf.gather(x, predicting), tf.gather(mixed, predicting)]; // (T, …)
  }
  x = tf.add(x, multiply(linear(mixed, "attention.out"), residual));
  const gateUp = linear(rmsNorm(x, scale("feed.norm"), epsilon), "feed.gateUp");
  return tf.add(x, multiply(linear(swiglu(gateUp), "feed.down"), residual));
}

/** The logits from the residual stream after the last block, (T, width) to (T, vocabulary). */
export function computeOutput(model: ModelWeights, hidden: tf.Tensor2D): tf.Tensor2D {
  const { architecture } = model;
  const norm = getWeight(model, "norm") as tf.Tensor1D;
  const logits = matMulTransposed(
    rmsNorm(hidden, norm, getNormEpsilon(architecture)),
    getWeight(model, getOutputName(architecture)) as tf.Tensor2D,
  );
  const divisor = architecture.multipliers?.logits;
  return divisor === undefined ? logits : tf.div(logits, divisor);
}

/** The name of the matrix of the output layer. */
export const getOutputName = ({ hasOutput }: Architecture): string =>
  hasOutput ? "output" : "embedding";

/** The targets of predictions, and the tokens that could be chosen in their places. */
export type Predictions = Pick<PackedBatch, "targets" | "allowed">;

/**
 * The log-probability of each target at a temperature, log softmax(logits / temperature), (T). If
 * only some tokens could be chosen, it is that among them.
 */
export function predictTargets(
  logits: tf.Tensor2D,
  { targets, allowed }: Predictions,
  temperature: number,
): tf.Tensor1D {
  const scaled: tf.Tensor2D = temperature === 1 ? logits : tf.div(logits, temperature);
  return logProbabilities(
    allowed ? tf.add(scaled, createPenalties(allowed, logits.shape[1])) : scaled,
    tf.tensor1d(targets, "int32"),
  );
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

function applyLinear(
  model: ModelWeights,
  layer: number,
  x: tf.Tensor2D,
  matrix: BlockMatrix,
): tf.Tensor2D {
  const weight = getWeight(model, `layers.${layer}.${matrix}`) as tf.Tensor2D;
  const y = matMulTransposed(x, weight);
  const added = model.adapters ? adaptLinear(model.adapters, layer, matrix, x) : undefined;
  return added ? tf.add(y, added) : y;
}

const multiply = (x: tf.Tensor2D, factor: number | undefined): tf.Tensor2D =>
  factor === undefined ? x : tf.mul(x, factor);

function getWeight(model: ModelWeights, name: string): tf.Tensor {
  const variable = model.parameters.get(name);
  if (!variable) throw new Error(`no parameter ${name}`);
  return variable;
}
