/** The backend that was started in this thread. Loads none of them. */
import type { WasmMemory } from "./wasm/kernelTypes.ts";

export type BackendName = "tensorflow" | "webgpu" | "wasm" | "cpu";

/** What a backend can hold, where that is known before it is used. */
export interface BackendLimits {
  readonly name: BackendName;
  /** The largest tensor, in bytes. */
  readonly maxTensorBytes?: number;
  /** All tensors at once, in bytes. */
  readonly maxBytes?: number;
}

/** Addresses have 32 bits, and the allocator takes sizes as signed numbers. */
export const wasmLimits: Required<BackendLimits> = {
  name: "wasm",
  maxTensorBytes: 2 ** 31 - 1,
  maxBytes: 2 ** 32,
};

export interface Backend extends BackendLimits {
  /** What it computes on, for a person: the name of a graphics card, or the processor. */
  readonly device: string;
  /** Whether that is a graphics card. */
  readonly hasGpu: boolean;
  /** Sentences for a person about the choice, such as why a faster backend was not used. */
  readonly notes: readonly string[];
  /**
   * Direct access to the memory of tensors and to the fused kernels, if the backend is `wasm`.
   */
  readonly memory: WasmMemory | undefined;
  /** Throws if the backend has reported an error, after which results are wrong. */
  readonly check?: () => void;
}

let current: Backend | undefined;

/** The backend that `startBackend` started in this thread. */
export function runningBackend(): Backend {
  if (!current) throw new Error("no backend was started in this thread");
  return current;
}

export function setRunningBackend(backend: Backend): void {
  current = backend;
}
