/**
 * Attention between heads that are split, and its gradient: in one kernel on WebAssembly, or as
 * matrix products with a softmax on a shader.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { AttentionLayout } from "./attentionLayout.ts";
import type { Heads } from "./attentionShape.ts";
import { hasKernel, runKernel } from "./runKernel.ts";

/** (heads, N, headWidth), (kvHeads, N, headWidth) and (kvHeads, N, headWidth). */
interface SplitHeads {
  readonly q: tf.Tensor;
  readonly k: tf.Tensor;
  readonly v: tf.Tensor;
}

export interface AttentionCore {
  /** (N, heads · headWidth), and what the gradient needs of it. */
  attend(split: SplitHeads): { readonly out: tf.Tensor2D; readonly kept: tf.Tensor[] };
  /** The gradients of queries, keys and values. */
  gradient(split: SplitHeads, kept: readonly tf.Tensor[], dout: tf.Tensor): tf.Tensor[];
}

/** The numbers that the kernels take. */
type Sizes = Readonly<Record<"heads" | "kvHeads" | "headWidth" | "factor", number>>;

export const chooseAttention = (layout: AttentionLayout, sizes: Sizes): AttentionCore =>
  hasKernel("FusedAttention")
    ? attendInKernel(layout, sizes)
    : attendByProducts(layout.mask(), sizes);

function attendInKernel({ segments }: AttentionLayout, sizes: Sizes): AttentionCore {
  return {
    attend(split) {
      const [out, logSum] = runKernel("FusedAttention", { ...split, segments }, { ...sizes });
      return { out: out as tf.Tensor2D, kept: [out!, logSum!] }; // logSum is (heads, N)
    },
    gradient: (split, [out, logSum], dout) =>
      runKernel(
        "FusedAttentionGradient",
        { ...split, segments, out: out!, logSum: logSum!, dout },
        { ...sizes },
      ),
  };
}

/** The mask is (N, N). */
function attendByProducts(
  mask: tf.Tensor2D,
  { heads, kvHeads, headWidth, factor }: Sizes,
): AttentionCore {
  const n = mask.shape[0];
  // the queries that share keys and values follow each other
  const join = (x: tf.Tensor) => tf.reshape(x, [kvHeads, (heads / kvHeads) * n, headWidth]);
  return {
    attend({ q, k, v }) {
      const { mixed, weights } = mixValues({ q: join(q), k, v }, mask, factor);
      const byRow = tf.transpose(tf.reshape(mixed, [heads, n, headWidth]), [1, 0, 2]);
      return { out: tf.reshape(byRow, [n, heads * headWidth]), kept: [weights] };
    },
    gradient: ({ q, k, v }, [weights], dout) =>
      tf.tidy(() => {
        const dmixed = join(tf.transpose(tf.reshape(dout, [n, heads, headWidth]), [1, 0, 2]));
        const dweights = tf.matMul(dmixed, v, false, true);
        const dv = tf.matMul(weights!, dmixed, true);
        const inputs = { weights: weights!, dweights };
        const [dscores] = runKernel("FusedSoftmaxGradient", inputs, { factor });
        const dq = tf.reshape(tf.matMul(dscores!, k), [heads, n, headWidth]);
        return [dq, tf.matMul(dscores!, join(q), true), dv];
      }),
  };
}

/**
 * The values mixed for each query, and their weights. q is (kvHeads, queries, headWidth), k and v
 * are (kvHeads, M, headWidth); the rows of the mask, (N, M), repeat.
 */
function mixValues({ q, k, v }: SplitHeads, mask: tf.Tensor2D, factor: number) {
  const scores = tf.matMul(q, k, false, true);
  const [weights] = runKernel("FusedSoftmax", { scores, mask }, { factor });
  return { mixed: tf.matMul(weights!, v), weights: weights! };
}

/** Attention without a gradient, if the backend has `FusedSoftmax`. */
export function attendHeads(
  { queries, keys, values }: Heads,
  mask: tf.Tensor2D,
  factor: number,
): tf.Tensor4D {
  const [kvHeads, groupSize, n, headWidth] = queries.shape;
  const q = tf.reshape(queries, [kvHeads, groupSize * n, headWidth]);
  return tf.reshape(mixValues({ q, k: keys, v: values }, mask, factor).mixed, queries.shape);
}
