/** The wasm backend's own memory as our kernels and in-place updates reach it. */
import type * as tf from "@tensorflow/tfjs-core";

export interface WasmMemory {
  /** A tensor's numbers in place: valid until the next tensor is made. */
  viewOf(tensor: tf.Tensor): Float32Array;
}
