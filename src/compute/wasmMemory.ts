/** The memory that TensorFlow.js and the WebAssembly kernels share. */
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "./kernelTypes.ts";

/**
 * A build of the kernels: `simd` with plain SIMD; `relaxed` with fused multiply-add, whose results
 * differ in the last bits; `wide` in tiles for vectors of 256 bits, with the results of `relaxed`.
 */
export type KernelBuild = "simd" | "relaxed" | "wide";

/**
 * Addresses are in bytes. The memory may move when it grows, which invalidates views but not
 * addresses.
 */
export interface WasmMemory {
  readonly kernels: Kernels;
  readonly build: KernelBuild;
  readonly addressOf: (tensor: tf.TensorInfo) => number;
  /** The values of a tensor in place; valid until the next tensor is created. */
  readonly viewOf: (tensor: tf.Tensor) => Float32Array;
  readonly floatsAt: (address: number, n: number) => Float32Array;
  readonly intsAt: (address: number, n: number) => Int32Array;
  /** Allocates n numbers of four bytes until `free`. */
  readonly allocate: (n: number) => number;
  readonly free: (address: number) => void;
  /** Returns a buffer of at least n floats, which the next call may reuse. */
  readonly scratch: (n: number) => number;
  /** Creates an output tensor of a kernel. */
  readonly output: (shape: readonly number[], dtype?: "float32" | "int32") => tf.TensorInfo;
}
