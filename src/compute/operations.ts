/**
 * The operations of the transformer: on fused kernels if the current backend has them, else on
 * stock operations of TensorFlow.js.
 */
import * as tf from "@tensorflow/tfjs-core";
import * as fused from "./fusedOperations.ts";
import * as stock from "./stockOperations.ts";
import type { AttentionShape, HeadNorms } from "./attentionShape.ts";

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

/** (M, vocabulary) and (M) to (M). */
export const logProbabilities = (logits: tf.Tensor2D, targets: tf.Tensor1D): tf.Tensor1D =>
  getOperations().logProbabilities(logits, targets);

/** (N, inputs) times the transpose of a matrix (outputs, inputs). */
export const matMulTransposed = (x: tf.Tensor2D, matrix: tf.Tensor2D): tf.Tensor2D =>
  tf.matMul(x, matrix, false, true);
