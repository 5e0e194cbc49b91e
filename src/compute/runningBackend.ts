/** The backend that was started in this thread. Loads none of them. */
import type { WasmMemory } from "./wasmMemory.ts";

export type BackendName = "tensorflow" | "webgpu" | "wasm" | "cpu";

export interface Backend {
  readonly name: BackendName;
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
  /** The largest tensor, in bytes, if the backend has a limit. */
  readonly maxTensorBytes?: number;
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
