/** Chooses and starts the TensorFlow.js backend of this thread. */
import * as tf from "@tensorflow/tfjs-core";
// tfjs-core alone registers neither gradients nor the chained operations that some of them use
import "@tensorflow/tfjs-core/dist/register_all_gradients";
import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops";
import "@tensorflow/tfjs-backend-cpu";
import { UserError } from "../userError.ts";
import { registerCpuSegmentSum } from "./replacementKernels.ts";
import { checkBackend } from "./selfTest.ts";
import { startTensorflow } from "./tensorflow.ts";
import { startWasm } from "./wasm.ts";
import type { WasmMemory } from "./wasmMemory.ts";

export type BackendChoice = "auto" | "tensorflow" | "wasm" | "cpu";

export interface BackendOptions {
  /**
   * The folder of the built programs, which also has `tfjs-backend-wasm-simd.wasm`,
   * `kernels-simd.wasm` and `kernels-relaxed.wasm`.
   */
  readonly programs: string;
  /** The folder in whose node_modules `@tensorflow/tfjs-node-gpu` is installed, if there is one. */
  readonly tensorflow?: string | undefined;
}

export interface Backend {
  readonly name: "tensorflow" | "wasm" | "cpu";
  /** Sentences for a person about the choice, such as why a faster backend was not used. */
  readonly notes: readonly string[];
  /**
   * Direct access to the memory of tensors and to the fused kernels, if the backend is `wasm`.
   */
  readonly memory: WasmMemory | undefined;
}

let current: Backend | undefined;

/** The backend that `startBackend` started in this thread. */
export function runningBackend(): Backend {
  if (!current) throw new Error("no backend was started in this thread");
  return current;
}

/**
 * Starts a backend in this thread and checks that it computes correctly. `auto` chooses the fastest
 * one that works: a GPU through TensorFlow, else WebAssembly, else plain JavaScript. If a named
 * backend does not work, throws.
 */
export async function startBackend(
  choice: BackendChoice,
  options: BackendOptions,
): Promise<Backend> {
  // otherwise tfjs prints a recommendation of tfjs-node
  tf.env().set("PROD", true);
  if (choice !== "auto") return (current = await start(choice, options, true));
  const notes: string[] = [];
  const candidates =
    options.tensorflow === undefined ? (["wasm"] as const) : (["tensorflow", "wasm"] as const);
  for (const name of candidates)
    try {
      const backend = await start(name, options, false);
      return (current = { ...backend, notes: [...notes, ...backend.notes] });
    } catch (error) {
      notes.push(
        `backend ${name} was passed over: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  notes.push("training runs in plain JavaScript, about 200 times slower than wasm");
  return (current = { ...(await start("cpu", options, false)), notes });
}

async function start(
  name: Backend["name"],
  options: BackendOptions,
  isExplicit: boolean,
): Promise<Backend> {
  switch (name) {
    case "tensorflow": {
      const notes = await startTensorflow(options.tensorflow, isExplicit);
      await checkBackend();
      return { name, notes, memory: undefined };
    }
    case "wasm": {
      const memory = await startWasm(options.programs);
      await checkBackend();
      return { name, notes: [], memory };
    }
    case "cpu":
      registerCpuSegmentSum();
      if (!(await tf.setBackend("cpu")))
        throw new UserError("the cpu backend did not start", "install the package again");
      await checkBackend();
      return { name, notes: [], memory: undefined };
    default:
      throw new Error(`no such backend: ${String(name satisfies never)}`);
  }
}
