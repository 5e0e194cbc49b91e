/** Runs kernels of our own, which not all backends have. */
import * as tf from "@tensorflow/tfjs-core";
import type { FusedKernel } from "./wasm/fusedKernels.ts";
import type { ShaderKernel } from "./webgpu/registerShaders.ts";

type Kernel = FusedKernel | ShaderKernel;

/** Whether the current backend has a kernel. */
export const hasKernel = (kernel: Kernel): boolean =>
  tf.getKernel(kernel, tf.getBackend()) !== undefined;

export function runKernel(
  kernel: Kernel,
  inputs: Record<string, tf.Tensor>,
  attributes: Record<string, number> = {},
): tf.Tensor[] {
  const result: tf.Tensor | tf.Tensor[] = tf.engine().runKernel(kernel, inputs, attributes);
  return Array.isArray(result) ? result : [result];
}
