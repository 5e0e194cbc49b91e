/** Chooses and starts the TensorFlow.js backend of this thread. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
// tfjs-core alone registers neither gradients nor the chained operations that some of them use
import "@tensorflow/tfjs-core/dist/register_all_gradients";
import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops";
import "@tensorflow/tfjs-backend-cpu";
import { UserError } from "../userError.ts";
import { measurePass, type PassSizes } from "./measurePass.ts";
import { registerCpuSegmentSum } from "./replacementKernels.ts";
import { setRunningBackend, wasmLimits, type Backend, type BackendName } from "./runningBackend.ts";
import { checkBackend } from "./selfTest.ts";
import { startTensorflow } from "./tensorflow.ts";
import { readNamedBuild, startWasm } from "./wasm.ts";
import { startWebgpu } from "./webgpu.ts";

export type BackendChoice = "auto" | BackendName;

export interface BackendOptions {
  /**
   * The folder of the built programs, which also has `tfjs-backend-wasm-simd.wasm` and the builds
   * of the kernels.
   */
  readonly programs: string;
  /** The folder of native backends: those that are installed have a folder of their name in it. */
  readonly backends?: string | undefined;
  /** The sizes of the model, on which `auto` measures; by default those of the small student. */
  readonly sizes?: PassSizes;
}

/**
 * Starts a backend in this thread and checks that it computes correctly. `auto` chooses the fastest
 * one that works: those on a graphics card are measured against WebAssembly; plain JavaScript is
 * only used if nothing else works. If a named backend does not work, throws.
 */
export async function startBackend(
  choice: BackendChoice,
  options: BackendOptions,
): Promise<Backend> {
  // otherwise tfjs prints a recommendation of tfjs-node
  tf.env().set("PROD", true);
  const backend = await (choice === "auto" ? startFastest(options) : start(choice, options));
  setRunningBackend(backend);
  return backend;
}

async function startFastest(options: BackendOptions): Promise<Backend> {
  // otherwise a mistake in the variable would pass over wasm, for plain JavaScript
  readNamedBuild();
  const notes: string[] = [];
  const candidates: { readonly backend: Backend; readonly seconds: number }[] = [];
  const gpus = (["tensorflow", "webgpu"] as const).filter(it => findFolder(it, options));
  for (const name of [...gpus, "wasm"] as const)
    try {
      const backend = await start(name, options);
      if (name !== "wasm" && !backend.hasGpu) {
        notes.push(`backend ${name} was passed over: it found no graphics card`);
        continue;
      }
      // there is nothing to compare with
      const seconds = gpus.length === 0 ? 0 : await measurePass(options.sizes);
      backend.check?.();
      candidates.push({ backend, seconds });
    } catch (error) {
      const reason = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
      notes.push(`backend ${name} was passed over: ${reason}`);
    }
  const [fastest] = candidates.toSorted((a, b) => a.seconds - b.seconds);
  if (!fastest) {
    notes.push("everything runs in plain JavaScript, about 200 times slower than wasm");
    return { ...(await start("cpu", options)), notes };
  }
  if (candidates.length > 1)
    notes.push(
      `${fastest.backend.name} is the fastest backend here: a pass takes ${candidates
        .map(it => `${(it.seconds * 1000).toFixed(1)} ms with ${it.backend.name}`)
        .join(", ")}`,
    );
  await tf.setBackend(fastest.backend.name);
  return { ...fastest.backend, notes: [...notes, ...fastest.backend.notes] };
}

/** The folder of a native backend, if it is installed. */
function findFolder(
  name: "tensorflow" | "webgpu",
  { backends }: BackendOptions,
): string | undefined {
  const folder = backends === undefined ? undefined : join(backends, name);
  return folder !== undefined && existsSync(folder) ? folder : undefined;
}

async function start(name: BackendName, options: BackendOptions): Promise<Backend> {
  const common = { name, notes: [], memory: undefined };
  switch (name) {
    case "tensorflow": {
      const { isUsingGpu, version } = await startTensorflow(findFolder(name, options));
      await checkBackend();
      const notes = isUsingGpu
        ? []
        : ["TensorFlow found no graphics card that it can use and runs on the processor"];
      const device = `TensorFlow ${version} on ${isUsingGpu ? "the graphics card" : "the processor"}`;
      return { ...common, device, notes, hasGpu: isUsingGpu };
    }
    case "webgpu": {
      const { device, isSoftware, maxTensorBytes, check } = await startWebgpu(
        findFolder(name, options),
      );
      await checkBackend();
      check();
      const notes = isSoftware ? [`WebGPU runs on the processor (${device})`] : [];
      return { ...common, device, notes, hasGpu: !isSoftware, maxTensorBytes, check };
    }
    case "wasm": {
      const memory = await startWasm(options.programs);
      await checkBackend();
      const device =
        memory.build === "wide" ? "the processor, with vectors of 256 bits" : "the processor";
      return { ...common, ...wasmLimits, device, memory, hasGpu: false };
    }
    case "cpu":
      registerCpuSegmentSum();
      if (!(await tf.setBackend("cpu")))
        throw new UserError("the cpu backend did not start", "install the package again");
      await checkBackend();
      return { ...common, device: "the processor, in JavaScript", hasGpu: false };
    default:
      throw new Error(`no such backend: ${String(name satisfies never)}`);
  }
}
