/**
 * The operations of the transformer on the WebAssembly kernels, each a single node of the gradient
 * tape with a gradient kernel. stockOperations.ts defines what each computes.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { FusedKernel } from "./fusedKernels.ts";
import type { AttentionShape, HeadNorms } from "./attentionShape.ts";

/** Whether the current backend has the kernels. */
export const isAvailable = (): boolean =>
  tf.getKernel("FusedRmsNorm" satisfies FusedKernel, tf.getBackend()) !== undefined;

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
  const { positions, segments } = layout;
  return differentiable(norms ? [qkv, norms.query, norms.key] : [qkv], save => {
    const [q, k, v, scale] = run(
      "FusedSplitHeads",
      { qkv, ...nameNorms(norms?.query, norms?.key), ...rope, positions },
      sizes,
    );
    // (N, heads · headWidth), (heads, N)
    const [out, logSum] = run("FusedAttention", { q: q!, k: k!, v: v!, segments }, sizes);
    const used = [qkv, q!, k!, v!, scale!, out!, logSum!];
    save(norms ? used.concat(norms.query, norms.key) : used);
    return {
      value: out as tf.Tensor2D,
      gradFunc: (dout, saved) => {
        const [qkv, q, k, v, scale, out, logSum, queryNorm, keyNorm] = saved as SavedTensors;
        const [dq, dk, dv] = run(
          "FusedAttentionGradient",
          { q, k, v, segments, out, logSum, dout },
          sizes,
        );
        const gradients = run(
          "FusedSplitHeadsGradient",
          {
            qkv,
            ...nameNorms(queryNorm, keyNorm),
            ...rope,
            positions,
            scale,
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

/** The tensors that attention saves for its gradient; the weights of norms if there are any. */
type SavedTensors = [
  tf.Tensor,
  tf.Tensor,
  tf.Tensor,
  tf.Tensor,
  tf.Tensor,
  tf.Tensor,
  tf.Tensor,
  tf.Tensor?,
  tf.Tensor?,
];

const nameNorms = (queryNorm: tf.Tensor | undefined, keyNorm: tf.Tensor | undefined) =>
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

function run(
  kernel: FusedKernel,
  inputs: Record<string, tf.Tensor>,
  attributes: Record<string, number> = {},
): tf.Tensor[] {
  const result: tf.Tensor | tf.Tensor[] = tf.engine().runKernel(kernel, inputs, attributes);
  return Array.isArray(result) ? result : [result];
}
