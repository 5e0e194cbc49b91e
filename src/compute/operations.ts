/**
 * The transformer's parts as functions of tensors: the fused kernel where the running backend has
 * it, else stock operations.
 */
import * as tf from "@tensorflow/tfjs-core";
import * as composite from "./stockOperations.ts";
import * as fused from "./fusedOperations.ts";
import type { AttentionShape } from "./attentionShape.ts";

const pick = () => (fused.isAvailable() ? fused : composite);

/** (N, width) and (width) to (N, width). */
export const rmsNorm = (x: tf.Tensor2D, weight: tf.Tensor1D): tf.Tensor2D =>
  pick().rmsNorm(x, weight);

/** (N, 2 · hidden) to (N, hidden). */
export const swiglu = (gateUp: tf.Tensor2D): tf.Tensor2D => pick().swiglu(gateUp);

/**
 * (N, (heads + 2 kvHeads) · headWidth) to (N, heads · headWidth): normalises and turns queries and
 * keys, then attends causally.
 */
export const attention = (
  qkv: tf.Tensor2D,
  queryNorm: tf.Tensor1D,
  keyNorm: tf.Tensor1D,
  shape: AttentionShape,
): tf.Tensor2D => pick().attention(qkv, queryNorm, keyNorm, shape);

/** (M, vocabulary) and (M) to (M). */
export const logProbabilities = (logits: tf.Tensor2D, targets: tf.Tensor1D): tf.Tensor1D =>
  pick().logProbabilities(logits, targets);

/** (N, inputs) by a matrix kept as (outputs, inputs). */
export const matMulTransposed = (x: tf.Tensor2D, matrix: tf.Tensor2D): tf.Tensor2D =>
  tf.matMul(x, matrix, false, true);
