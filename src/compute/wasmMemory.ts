/** The memory that TensorFlow.js and the WebAssembly kernels share. */
import type * as tf from "@tensorflow/tfjs-core";
import type { Kernels } from "./kernelTypes.ts";

/**
 * Addresses are bytes into a memory that may move when it grows: keep addresses, take views anew.
 */
export interface WasmMemory {
  readonly kernels: Kernels;
  /** Whether the build with fused multiply-add runs; its results differ in the last bits. */
  readonly relaxed: boolean;
  readonly addressOf: (tensor: tf.TensorInfo) => number;
  /** A tensor's numbers in place: valid until the next tensor is made. */
  readonly viewOf: (tensor: tf.Tensor) => Float32Array;
  readonly floatsAt: (address: number, n: number) => Float32Array;
  readonly intsAt: (address: number, n: number) => Int32Array;
  /** Room for n numbers of four bytes, until `free`. */
  readonly allocate: (n: number) => number;
  readonly free: (address: number) => void;
  /** Room for at least n floats, anybody's until the next call. */
  readonly scratch: (n: number) => number;
  /** An output tensor of a kernel. */
  readonly output: (shape: readonly number[], dtype?: "float32" | "int32") => tf.TensorInfo;
}
