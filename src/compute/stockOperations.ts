/**
 * The operations of the transformer in stock operations of TensorFlow.js: the reference
 * implementation of the fused kernels. It is slower and runs on every backend.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { RopeTables, AttentionShape, HeadNorms, Heads, HeadShape } from "./attentionLayout.ts";

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
  const { layout } = shape;
  return joinHeads(
    attend(
      splitHeads(qkv, norms, shape, gatherAngles(shape.rope, layout.positions)),
      layout.mask(),
      shape.scale,
    ),
  );
}

/** The cosines and sines of rows, (N, headWidth / 2). */
export const gatherAngles = (rope: RopeTables, positions: tf.Tensor1D): RopeTables => ({
  cos: tf.gather(rope.cos, positions),
  sin: tf.gather(rope.sin, positions),
});

/**
 * The queries, keys and values of rows: normalizes queries and keys if there are weights for that,
 * and rotates them by the angles of the rows.
 */
export function splitHeads(
  qkv: tf.Tensor2D,
  norms: HeadNorms | undefined,
  { heads, kvHeads, headWidth, epsilon }: HeadShape,
  angles: RopeTables,
): Heads {
  const n = qkv.shape[0];
  const all = tf.transpose(tf.reshape(qkv, [n, heads + 2 * kvHeads, headWidth]), [1, 0, 2]);
  const split = (x: tf.Tensor, first: number, second: number) =>
    tf.split(x, [first, second]) as [tf.Tensor3D, tf.Tensor3D];
  const [unrotated, values] = split(all, heads + kvHeads, kvHeads);
  let normalized: tf.Tensor = unrotated;
  if (norms) {
    const [queries, keys] = split(unrotated, heads, kvHeads);
    normalized = tf.concat([
      rmsNorm(queries, norms.query, epsilon),
      rmsNorm(keys, norms.key, epsilon),
    ]);
  }
  const [queries, keys] = split(rotate(normalized, angles), heads, kvHeads);
  return { queries: tf.reshape(queries, [kvHeads, heads / kvHeads, n, headWidth]), keys, values };
}

/** The mixed values of each query, shaped as the queries; the mask is (N, M). */
export function attend(
  { queries, keys, values }: Heads,
  mask: tf.Tensor2D,
  scale: number,
): tf.Tensor4D {
  const [kvHeads, groupSize, n, headWidth] = queries.shape;
  const flat = tf.reshape(tf.mul(queries, scale), [kvHeads, groupSize * n, headWidth]);
  const scores = tf.matMul(flat, keys, false, true); // (kvHeads, groupSize · N, M)
  const masked = tf.add(tf.reshape(scores, [kvHeads, groupSize, n, -1]), mask);
  const weights = tf.reshape(tf.softmax(masked), [kvHeads, groupSize * n, -1]);
  return tf.reshape(tf.matMul(weights, values), queries.shape);
}

/** (kvHeads, groupSize, N, headWidth) to (N, heads · headWidth). */
export function joinHeads(mixed: tf.Tensor4D): tf.Tensor2D {
  const [kvHeads, groupSize, n, headWidth] = mixed.shape;
  return tf.reshape(tf.transpose(mixed, [2, 0, 1, 3]), [n, kvHeads * groupSize * headWidth]);
}

/** Rotates the two halves of each head by the angles of its row. */
function rotate(x: tf.Tensor, { cos, sin }: RopeTables): tf.Tensor {
  const [a, b] = tf.split(x, 2, -1) as [tf.Tensor, tf.Tensor];
  return tf.concat(
    [tf.sub(tf.mul(a, cos), tf.mul(b, sin)), tf.add(tf.mul(b, cos), tf.mul(a, sin))],
    -1,
  );
}

/** log softmax(logits)[target], (M, vocabulary) to (M). */
export const logProbabilities = (logits: tf.Tensor2D, targets: tf.Tensor1D): tf.Tensor1D =>
  tf.sum(tf.mul(tf.logSoftmax(logits), tf.oneHot(targets, logits.shape[1])), 1);
