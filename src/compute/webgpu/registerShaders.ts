/**
 * Registers the kernels on shaders in the kernel registry of TensorFlow.js. On a graphics card,
 * starting programs takes most of the time of a small model, and these kernels need fewer programs
 * than stock operations. stockOperations.ts defines what those of a transformer compute. Kernels
 * that `wasm` has, too, have the same names and inputs here; `FusedSplitHeads` returns no scales,
 * because its gradient computes them again.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { ShaderBackend } from "./webgpuBackend.ts";
import {
  FusedAddSquares,
  FusedAdamW,
  FusedChoose,
  FusedLogProbabilities,
  FusedLogProbabilitiesGradient,
  FusedRmsNorm,
  FusedRmsNormGradient,
  FusedSoftmax,
  FusedSoftmaxGradient,
  FusedSwiglu,
  FusedSwigluGradient,
} from "./shaders.ts";
import { FusedSplitHeads, FusedSplitHeadsGradient } from "./headShaders.ts";
import type { ShaderKernelFunction } from "./shaderKernel.ts";

const shaderKernels = {
  FusedAddSquares,
  FusedAdamW,
  FusedChoose,
  FusedLogProbabilities,
  FusedLogProbabilitiesGradient,
  FusedRmsNorm,
  FusedRmsNormGradient,
  FusedSoftmax,
  FusedSoftmaxGradient,
  FusedSplitHeads,
  FusedSplitHeadsGradient,
  FusedSwiglu,
  FusedSwigluGradient,
} satisfies Record<string, ShaderKernelFunction>;

export type ShaderKernel = keyof typeof shaderKernels;

export function registerShaders(): void {
  for (const [kernelName, kernel] of Object.entries(shaderKernels))
    tf.registerKernel({
      kernelName,
      backendName: "webgpu",
      kernelFunc: ({ inputs, backend, attrs }) =>
        kernel(
          backend as ShaderBackend,
          inputs as Record<string, tf.TensorInfo>,
          attrs as Record<string, number>,
        ),
    });
}
