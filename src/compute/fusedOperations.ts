/**
 * The operations of the transformer on kernels of our own, on WebAssembly or on shaders, each a
 * single node of the gradient tape. stockOperations.ts defines what each computes.
 */
import * as tf from "@tensorflow/tfjs-core";
import { chooseAttention } from "./attentionCore.ts";
import type { AttentionShape, HeadNorms, Heads, HeadShape } from "./attentionShape.ts";
import { hasKernel, runKernel as run } from "./runKernel.ts";

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
