/** The transformer's parts on our own wasm kernels, with hand-written gradients. */
import type * as tf from "@tensorflow/tfjs-core";
import * as composite from "./composite.ts";
import type { AttentionShape } from "./operations.ts";

export const isAvailable = (): boolean => false;
export const rmsNorm = (x: tf.Tensor2D, weight: tf.Tensor1D): tf.Tensor2D => composite.rmsNorm(x, weight);
export const swiglu = (gateUp: tf.Tensor2D): tf.Tensor2D => composite.swiglu(gateUp);
export const attention = (qkv: tf.Tensor2D, queryNorm: tf.Tensor1D, keyNorm: tf.Tensor1D, shape: AttentionShape): tf.Tensor2D =>
  composite.attention(qkv, queryNorm, keyNorm, shape);
export const logProbabilities = (logits: tf.Tensor2D, targets: tf.Tensor1D): tf.Tensor1D => composite.logProbabilities(logits, targets);
