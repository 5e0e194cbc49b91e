/**
 * The operations of the transformer in stock operations of TensorFlow.js: the reference
 * implementation of the fused kernels. It is slower and runs on every backend.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { AttentionShape, HeadNorms } from "./attentionShape.ts";

/** x · weight / root mean square of x, along the last axis. */
export const rmsNorm = <T extends tf.Tensor>(x: T, weight: tf.Tensor1D, epsilon: number): T =>
  tf.mul(tf.mul(x, tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), epsilon))), weight);

/** SiLU of the first half of the columns times the second half. */
export function swiglu(gateUp: tf.Tensor2D): tf.Tensor2D {
  const [gate, up] = tf.split(gateUp, 2, 1) as [tf.Tensor2D, tf.Tensor2D];
  return tf.mul(tf.mul(gate, tf.sigmoid(gate)), up);
}

/**
 * Causal attention over a packed batch: (N, (heads + 2 kvHeads) · headWidth) to (N, heads ·
 * headWidth).
 */
export function attention(
  qkv: tf.Tensor2D,
  norms: HeadNorms | undefined,
  shape: AttentionShape,
): tf.Tensor2D {
  const { heads, kvHeads, headWidth, epsilon, scale, rope, layout } = shape;
  const n = qkv.shape[0];
  const groupSize = heads / kvHeads;
  const parts = tf.split(
    tf.reshape(qkv, [n, heads + 2 * kvHeads, headWidth]),
    [heads, kvHeads, kvHeads],
    1,
  );
  const [queries, keys, values] = parts as [tf.Tensor, tf.Tensor, tf.Tensor];
  const cos = tf.expandDims(tf.gather(rope.cos, layout.positions), 1);
  const sin = tf.expandDims(tf.gather(rope.sin, layout.positions), 1);
  const byHead = (x: tf.Tensor, rows: number) =>
    tf.reshape<tf.Rank.R3>(tf.transpose(x, [1, 0, 2]), [kvHeads, rows, headWidth]);
  const normalize = (x: tf.Tensor, weight: tf.Tensor1D | undefined) =>
    weight ? rmsNorm(x, weight, epsilon) : x;
  const q = byHead(rotate(normalize(queries, norms?.query), cos, sin), groupSize * n);
  const k = byHead(rotate(normalize(keys, norms?.key), cos, sin), n);
  const scores = tf.mul(tf.matMul(q, k, false, true), scale); // (kvHeads, groupSize · N, N)
  const masked = tf.add(tf.reshape(scores, [kvHeads, groupSize, n, n]), layout.mask());
  const mixed = tf.matMul(
    tf.reshape(tf.softmax(masked), [kvHeads, groupSize * n, n]),
    byHead(values, n),
  );
  return tf.reshape<tf.Rank.R2>(tf.transpose(tf.reshape(mixed, [heads, n, headWidth]), [1, 0, 2]), [
    n,
    heads * headWidth,
  ]);
}

/** Rotates the two halves of each head by the angles of its position. */
function rotate(x: tf.Tensor, cos: tf.Tensor, sin: tf.Tensor): tf.Tensor {
  const [a, b] = tf.split(x, 2, -1) as [tf.Tensor, tf.Tensor];
  return tf.concat(
    [tf.sub(tf.mul(a, cos), tf.mul(b, sin)), tf.add(tf.mul(b, cos), tf.mul(a, sin))],
    -1,
  );
}

/** log softmax(logits)[target], (M, vocabulary) to (M). */
export const logProbabilities = (logits: tf.Tensor2D, targets: tf.Tensor1D): tf.Tensor1D =>
  tf.sum(tf.mul(tf.logSoftmax(logits), tf.oneHot(targets, logits.shape[1])), 1);
