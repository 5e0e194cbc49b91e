/**
 * The operations of the transformer on kernels of our own, on WebAssembly or on shaders, each a
 * single node of the gradient tape. stockOperations.ts defines what each computes.
 */
import * as tf from "@tensorflow/tfjs-core";
import type {
  AttentionShape,
  HeadNorms,
  Heads,
  HeadShape,
  AttentionLayout,
} from "./attentionLayout.ts";
import { hasKernel, runKernel as run, runKernel } from "./runKernel.ts";

/** Whether the current backend has the kernels. */
export const isAvailable = (): boolean => hasKernel("FusedRmsNorm");

export function rmsNorm(x: tf.Tensor2D, weight: tf.Tensor1D, epsilon: number): tf.Tensor2D {
  return differentiable([x, weight], save => {
    const [y, scale] = run("FusedRmsNorm", { x, weight }, { epsilon }); // (N, width), (N)
    save([x, weight, scale!]);
    return {
      value: y as tf.Tensor2D,
      gradFunc: (dy, [x, weight, scale]) =>
        run("FusedRmsNormGradient", { x: x!, weight: weight!, scale: scale!, dy }),
    };
  });
}

export function swiglu(gateUp: tf.Tensor2D): tf.Tensor2D {
  return differentiable([gateUp], save => {
    const [out] = run("FusedSwiglu", { gateUp });
    save([gateUp]);
    return {
      value: out as tf.Tensor2D,
      gradFunc: (dout, [gateUp]) => run("FusedSwigluGradient", { gateUp: gateUp!, dout }),
    };
  });
}

export function attention(
  qkv: tf.Tensor2D,
  norms: HeadNorms | undefined,
  shape: AttentionShape,
): tf.Tensor2D {
  const { heads, kvHeads, headWidth, epsilon, scale: factor, rope, layout } = shape;
  const sizes = { heads, kvHeads, headWidth, epsilon, factor, longest: layout.longest };
  const { positions } = layout;
  const core = chooseAttention(layout, sizes);
  const weights = norms ? [norms.query, norms.key] : [];
  return differentiable([qkv, ...weights], save => {
    const [q, k, v, ...scales] = run(
      "FusedSplitHeads",
      { qkv, ...nameNorms(weights), ...rope, positions },
      sizes,
    );
    const { out, kept } = core.attend({ q: q!, k: k!, v: v! });
    save([qkv, q!, k!, v!, ...kept, ...scales, ...weights]);
    return {
      value: out,
      gradFunc: (dout, saved) => {
        const [qkv, q, k, v] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
        const rest = saved.slice(4);
        const kept = rest.splice(0, rest.length - scales.length - weights.length);
        const [scale] = rest.splice(0, scales.length);
        const [dq, dk, dv] = core.gradient({ q, k, v }, kept, dout);
        const gradients = run(
          "FusedSplitHeadsGradient",
          {
            qkv,
            ...nameNorms(rest),
            ...rope,
            positions,
            ...(scale ? { scale } : {}),
            dq: dq!,
            dk: dk!,
            dv: dv!,
          },
          sizes,
        );
        tf.dispose([dq!, dk!, dv!]);
        return gradients;
      },
    };
  });
}

/** The heads of rows at positions, (N), without a gradient. */
export function splitHeads(
  qkv: tf.Tensor2D,
  norms: HeadNorms | undefined,
  { heads, kvHeads, headWidth, epsilon, rope }: HeadShape,
  positions: tf.Tensor1D,
): Heads {
  const weights = norms ? [norms.query, norms.key] : [];
  const [queries, keys, values] = run(
    "FusedSplitHeads",
    { qkv, ...nameNorms(weights), ...rope, positions },
    { heads, kvHeads, headWidth, epsilon },
  );
  return {
    queries: tf.reshape(queries!, [kvHeads, heads / kvHeads, qkv.shape[0], headWidth]),
    keys: keys as tf.Tensor3D,
    values: values as tf.Tensor3D,
  };
}

const nameNorms = ([queryNorm, keyNorm]: readonly tf.Tensor[]) =>
  queryNorm && keyNorm ? { queryNorm, keyNorm } : {};

export function logProbabilities(logits: tf.Tensor2D, targets: tf.Tensor1D): tf.Tensor1D {
  return differentiable([logits], save => {
    const [logprobs, logSum] = run("FusedLogProbabilities", { logits, targets });
    save([logits, targets, logSum!]);
    return {
      value: logprobs as tf.Tensor1D,
      gradFunc: (d, [logits, targets, logSum]) =>
        run("FusedLogProbabilitiesGradient", {
          logits: logits!,
          targets: targets!,
          logSum: logSum!,
          d,
        }),
    };
  });
}

interface Node<T> {
  value: T;
  gradFunc(d: T, saved: tf.Tensor[]): tf.Tensor[];
}

/**
 * Runs an operation with its own gradient. Once that is computed, the saved tensors and the
 * gradient of the output are not needed any more. TensorFlow.js would keep both to the end of the
 * pass, which would nearly double the memory of training.
 */
const differentiable = <T extends tf.Tensor>(
  inputs: tf.Tensor[],
  createNode: (save: tf.GradSaveFunc) => Node<T>,
): T =>
  tf.customGrad<T>((...withSave) => {
    const { value, gradFunc } = createNode(withSave.at(-1) as tf.GradSaveFunc);
    return {
      value,
      gradFunc(d: T, saved: tf.Tensor[]) {
        const gradients = gradFunc(d, saved);
        tf.dispose([d, ...saved]);
        return gradients;
      },
    };
  })(...inputs);

// Attention between heads that are split, and its gradient: in one kernel on WebAssembly, or as
// matrix products with a softmax on a shader.

/** (heads, N, headWidth), (kvHeads, N, headWidth) and (kvHeads, N, headWidth). */
interface SplitHeads {
  readonly q: tf.Tensor;
  readonly k: tf.Tensor;
  readonly v: tf.Tensor;
}

interface AttentionCore {
  /** (N, heads · headWidth), and what the gradient needs of it. */
  attend(split: SplitHeads): { readonly out: tf.Tensor2D; readonly kept: tf.Tensor[] };
  /** The gradients of queries, keys and values. */
  gradient(split: SplitHeads, kept: readonly tf.Tensor[], dout: tf.Tensor): tf.Tensor[];
}

/** The numbers that the kernels take. */
type Sizes = Readonly<Record<"heads" | "kvHeads" | "headWidth" | "factor", number>>;

const chooseAttention = (layout: AttentionLayout, sizes: Sizes): AttentionCore =>
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
