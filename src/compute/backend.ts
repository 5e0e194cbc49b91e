/**
 * Which TensorFlow.js backend runs in this thread, and what it can do. The only room that loads a backend; it does not know what is
 * computed with it.
 */
import type { WasmMemory } from "./wasm.ts";

export type BackendChoice = "auto" | "tensorflow" | "wasm" | "cpu";

export interface BackendOptions {
  /** The folder with `tfjs-backend-wasm-simd.wasm`, `kernels-simd.wasm` and `kernels-relaxed.wasm`: where the programs are built to. */
  readonly programs: string;
  /** The folder in whose node_modules `@tensorflow/tfjs-node-gpu` is installed, if there is one. */
  readonly tensorflow?: string;
}

export interface Backend {
  readonly name: "tensorflow" | "wasm" | "cpu";
  /** What a person should know about the choice, such as why a faster backend was passed over; one sentence each. */
  readonly notes: readonly string[];
  /** Direct access to weights and the fused kernels; undefined where tensors can only be reached through operations. */
  readonly memory: WasmMemory | undefined;
}
