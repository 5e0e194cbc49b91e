/**
 * The operations of the transformer: on fused kernels if the current backend has them, else on
 * stock operations of TensorFlow.js.
 */
import * as tf from "@tensorflow/tfjs-core";
import { attendHeads } from "./fusedOperations.ts";
import * as fused from "./fusedOperations.ts";
import type { RopeTables, AttentionShape, HeadNorms, Heads, HeadShape } from "./attentionLayout.ts";
import { hasKernel } from "./runKernel.ts";
import * as stock from "./stockOperations.ts";

const getOperations = () => (fused.isAvailable() ? fused : stock);

/** (N, width) and (width) to (N, width). */
export const rmsNorm = (x: tf.Tensor2D, weight: tf.Tensor1D, epsilon: number): tf.Tensor2D =>
  getOperations().rmsNorm(x, weight, epsilon);

/** (N, 2 · hidden) to (N, hidden). */
export const swiglu = (gateUp: tf.Tensor2D): tf.Tensor2D => getOperations().swiglu(gateUp);

/**
 * (N, (heads + 2 kvHeads) · headWidth) to (N, heads · headWidth): normalizes queries and keys if
 * there are weights for that, rotates them by their positions, and attends causally.
 */
export const attention = (
  qkv: tf.Tensor2D,
  norms: HeadNorms | undefined,
  shape: AttentionShape,
): tf.Tensor2D => getOperations().attention(qkv, norms, shape);

/** Splits the joint projections of rows into heads, without a gradient. */
export type HeadSplitter = (
  qkv: tf.Tensor2D,
  norms: HeadNorms | undefined,
  shape: HeadShape,
) => Heads;

/** The splitter of rows at positions, (N), for all layers. */
export function createHeadSplitter(rope: RopeTables, positions: tf.Tensor1D): HeadSplitter {
  if (fused.isAvailable()) return (...heads) => fused.splitHeads(...heads, positions);
  const angles = stock.gatherAngles(rope, positions);
  return (...heads) => stock.splitHeads(...heads, angles);
}

/** The mixed values, in the shape of the queries, without a gradient; the mask is (N, M). */
export const attend = (heads: Heads, mask: tf.Tensor2D, scale: number): tf.Tensor4D =>
  (hasKernel("FusedSoftmax") ? attendHeads : stock.attend)(heads, mask, scale);

/** (M, vocabulary) and (M) to (M). */
export const logProbabilities = (logits: tf.Tensor2D, targets: tf.Tensor1D): tf.Tensor1D =>
  getOperations().logProbabilities(logits, targets);

/** (N, inputs) times the transpose of a matrix (outputs, inputs). */
export const matMulTransposed = (x: tf.Tensor2D, matrix: tf.Tensor2D): tf.Tensor2D =>
  tf.matMul(x, matrix, false, true);
