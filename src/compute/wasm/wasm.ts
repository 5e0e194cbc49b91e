/**
 * Starts the wasm backend of TensorFlow.js and loads the kernels of this project: a second module
 * that uses the memory of the backend.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { setFlagsFromString } from "node:v8";
import * as tf from "@tensorflow/tfjs-core";
import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { UserError } from "../../userError.ts";
import { registerFusedKernels } from "./fusedKernels.ts";
import type { Kernels, KernelBuild, WasmMemory } from "./kernelTypes.ts";
import { wasmLimits } from "../runningBackend.ts";
import { registerReplacementKernels } from "./replacementKernels.ts";

/**
 * Internals of tfjs-backend-wasm 4.22.0 that its types do not include. The version is pinned
 * because of them.
 */
interface BackendWasm {
  readonly wasm: {
    readonly asm: { readonly memory: WebAssembly.Memory };
    readonly HEAPU8: Uint8Array;
    _malloc: (bytes: number) => number;
    _free(address: number): void;
  };
  readonly dataIdMap: { get(id: object): { memoryOffset: number } };
  makeOutput(shape: number[], dtype: string): tf.TensorInfo;
}

/** A module with one relaxed multiply-add. An engine that validates it supports relaxed SIMD. */
const relaxedProbe = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15,
  65, 2, 253, 15, 253, 128, 2, 11,
]);

/** Node 20 and 21 have relaxed SIMD behind a flag, which is set here. */
function enableRelaxedSimd(): boolean {
  if (!WebAssembly.validate(relaxedProbe)) setFlagsFromString("--experimental-wasm-relaxed-simd");
  return WebAssembly.validate(relaxedProbe);
}

/**
 * Lets V8 merge two vectors of 128 bits into one of 256. The flag, which is for the whole process,
 * is set only for the version of V8 that is tested, that of Node 24, and where /proc/cpuinfo lists
 * AVX2.
 */
function enableVectorMerging(): boolean {
  const isTested = process.versions.v8.startsWith("13.6.") && !process.versions["electron"];
  if (!isTested || process.arch !== "x64" || !readProcessorFeatures().includes("avx2"))
    return false;
  setFlagsFromString("--experimental-wasm-revectorize");
  return true;
}

/** The instruction sets of the processor on Linux; none where they cannot be read. */
function readProcessorFeatures(): readonly string[] {
  try {
    const text = readFileSync("/proc/cpuinfo", "utf8");
    return /^flags\s*: (.*)$/m.exec(text)?.[1]?.split(" ") ?? [];
  } catch {
    return [];
  }
}

/** The environment variable that selects a slower build of the kernels. */
const kernelsVariable = "PROVE_KERNELS";

/** The build that the environment names; throws a `UserError` if it names another. */
export function readNamedBuild(): "relaxed" | "simd" | undefined {
  const named = process.env[kernelsVariable] || undefined;
  if (named === undefined || named === "relaxed" || named === "simd") return named;
  throw new UserError(
    `the variable ${kernelsVariable} is ${JSON.stringify(named)}`,
    "set it to relaxed or simd, or remove it",
  );
}

/** Chooses the fastest build for this processor and V8, or the one that the environment names. */
function chooseBuild(): KernelBuild {
  const named = readNamedBuild();
  if (named === "simd" || !enableRelaxedSimd()) return "simd";
  return named === "relaxed" || !enableVectorMerging() ? "relaxed" : "wide";
}

let startedMemory: WasmMemory | undefined;

/** Makes `wasm` the backend of this thread. `programs` is the folder of the wasm files. */
export async function startWasm(programs: string): Promise<WasmMemory> {
  setWasmPaths(programs.endsWith(sep) ? programs : programs + sep);
  // the reason is printed, and not part of the result
  if (!(await tf.setBackend("wasm")))
    throw new UserError(
      "the backend wasm did not start: this process gets no memory for it, or its file is damaged",
      "close other programs, raise the limit of the process (ulimit -v) or use one worker; if that does not help, install the package again",
    );
  await tf.ready();
  const build = chooseBuild();
  if (startedMemory?.build === build) return startedMemory;
  startedMemory = await loadKernels(programs, build);
  registerReplacementKernels(startedMemory);
  registerFusedKernels(startedMemory);
  return startedMemory;
}

/**
 * Lets allocations throw where there is no memory left: the backend would write tensors to address
 * 0, over others, and compute wrong numbers.
 */
function refuseFullMemory(wasm: BackendWasm["wasm"]): void {
  // the first call replaces the function by the one that is called from then on
  wasm._free(wasm._malloc(8));
  const { _malloc } = wasm;
  wasm._malloc = bytes => {
    // more would be negative to the allocator, which then takes memory that is in use
    const address = bytes <= wasmLimits.maxTensorBytes ? _malloc(bytes) : 0;
    if (address !== 0 || bytes === 0) return address;
    const format = (n: number) => `${Math.ceil(n / 1e6).toLocaleString("en")} MB`;
    throw new UserError(
      `the memory of the backend wasm is full: it has ${format(wasm.HEAPU8.length)}, and ${format(bytes)} more are needed`,
      "train adapters with --lora, set a shorter context with prove-rl model FOLDER --context N, use fewer workers or the backend tensorflow; prove-rl plan prints what is needed. A run goes on from its last checkpoint",
    );
  };
}

async function loadKernels(programs: string, build: KernelBuild): Promise<WasmMemory> {
  const backend = tf.backend() as unknown as BackendWasm;
  const { wasm } = backend;
  refuseFullMemory(wasm);
  const file = join(programs, `kernels-${build}.wasm`);
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new UserError(
      `the kernels ${file} cannot be read`,
      "build the programs again, or install the package again",
      { cause },
    );
  });
  // AssemblyScript's own log has tables at a fixed address, which would overwrite the backend's
  // memory
  const { instance } = await WebAssembly.instantiate(bytes, {
    env: { memory: wasm.asm.memory, log: Math.log },
  });
  const kernels = instance.exports as unknown as Kernels;
  let scratch = { address: 0, floats: 0 };
  const addressOf = (tensor: tf.TensorInfo) => backend.dataIdMap.get(tensor.dataId).memoryOffset;
  const allocate = (n: number) => wasm._malloc(n * 4) >>> 0;
  const floatsAt = (address: number, n: number) => new Float32Array(wasm.HEAPU8.buffer, address, n);
  return {
    kernels,
    build,
    addressOf,
    viewOf: tensor => floatsAt(addressOf(tensor), tensor.size),
    floatsAt,
    intsAt: (address, n) => new Int32Array(wasm.HEAPU8.buffer, address, n),
    allocate,
    free: address => wasm._free(address),
    scratch(n) {
      if (n <= scratch.floats) return scratch.address;
      if (scratch.address) wasm._free(scratch.address);
      scratch = { address: 0, floats: 0 };
      const floats = Math.ceil(n * 1.25);
      scratch = { address: allocate(floats), floats };
      return scratch.address;
    },
    output: (shape, dtype = "float32") => backend.makeOutput([...shape], dtype),
  };
}
