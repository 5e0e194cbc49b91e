/** Chooses and starts the TensorFlow.js backend of this thread. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-core/dist/register_all_gradients";
import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops";
import "@tensorflow/tfjs-backend-cpu";
import { UserError } from "../userError.ts";
import { registerCpuSegmentSum } from "./wasm/replacementKernels.ts";
import { setRunningBackend, wasmLimits, type Backend, type BackendName } from "./runningBackend.ts";
import { startTensorflow } from "./tensorflow.ts";
import { readNamedBuild, startWasm } from "./wasm/wasm.ts";
import { startWebgpu } from "./webgpu/webgpu.ts";
import { rmsNorm, swiglu, logProbabilities } from "./operations.ts";

// tfjs-core alone registers neither gradients nor the chained operations that some of them use

export type BackendChoice = "auto" | BackendName;

interface BackendOptions {
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

// A quick check that the current backend computes correctly: one matrix product and one gradient,
// compared with plain JavaScript.

const [rows, inner, columns] = [9, 13, 11];
const gatheredRows = [3, 0, 3, 7];

/** Throws a `UserError` if the backend's results differ from those of plain JavaScript. */
async function checkBackend(): Promise<void> {
  const a = Float32Array.from({ length: rows * inner }, (_, i) => Math.sin(i + 1) / 2);
  const b = Float32Array.from({ length: columns * inner }, (_, i) => Math.cos(i + 1) / 2);
  const [product, gradient] = tf.tidy(() => {
    const matrix = tf.tensor2d(a, [rows, inner]);
    const other = tf.tensor2d(b, [columns, inner]);
    const rowIndices = tf.tensor1d(gatheredRows, "int32");
    return [
      tf.matMul(matrix, other, false, true),
      tf.grad((x: tf.Tensor) => tf.sum(tf.square(tf.gather(x as tf.Tensor2D, rowIndices))))(matrix),
    ] as const;
  });
  const [products, gradients] = await Promise.all([product.data(), gradient.data()]);
  tf.dispose([product, gradient]);
  assertClose("a matrix product", products, computeProduct(a, b));
  assertClose("the gradient of a gather", gradients, computeGradient(a));
}

const computeProduct = (a: Float32Array, b: Float32Array): number[] =>
  Array.from({ length: rows * columns }, (_, at) => {
    let sum = 0;
    for (let k = 0; k < inner; k++)
      sum +=
        (a[Math.floor(at / columns) * inner + k] as number) *
        (b[(at % columns) * inner + k] as number);
    return sum;
  });

/** d Σ x² = 2x, once for each time that the row was gathered. */
const computeGradient = (a: Float32Array): number[] =>
  Array.from(
    a,
    (value, at) => 2 * value * gatheredRows.filter(row => row === Math.floor(at / inner)).length,
  );

function assertClose(name: string, actual: ArrayLike<number>, expected: readonly number[]): void {
  expected.forEach((value, i) => {
    // also catches NaN
    if (!(Math.abs((actual[i] as number) - value) < 1e-4))
      throw new UserError(
        `the backend ${tf.getBackend()} computes ${name} incorrectly: ${actual[i]} instead of ${value}`,
        "use another backend, update the driver of the graphics card, or install the backend again",
      );
  });
}

// Measures how fast the current backend is: a forward and backward pass through one layer of a
// model, and the logits of its tokens.

/** Sizes of a model, as in `Architecture`. */
interface PassSizes {
  readonly vocabulary: number;
  readonly width: number;
  readonly hidden: number;
}

const tokens = 512;
const repeats = 3;

/** Seconds of the fastest of three passes over 512 tokens, after one that compiles kernels. */
export async function measurePass({
  vocabulary,
  width,
  hidden,
}: PassSizes = defaultSizes): Promise<number> {
  const fill = (shape: [number, number]) =>
    tf.randomNormal<tf.Rank.R2>(shape, 0, 1 / Math.sqrt(shape[1]), "float32", 1);
  const inputs = [
    fill([tokens, width]),
    fill([2 * hidden, width]),
    fill([width, hidden]),
    fill([vocabulary, width]),
  ] as const;
  const scale = tf.ones<tf.Rank.R1>([width]);
  const targets = tf.zeros<tf.Rank.R1>([tokens], "int32");
  const pass = tf.grads((...parts: tf.Tensor[]) => {
    const [x, gateUp, down, embedding] = parts as tf.Tensor2D[];
    const product = (a: tf.Tensor2D, b: tf.Tensor2D): tf.Tensor2D => tf.matMul(a, b, false, true);
    const fed = product(swiglu(product(rmsNorm(x!, scale, 1e-6), gateUp!)), down!);
    return tf.sum(logProbabilities(product(tf.add(x!, fed), embedding!), targets));
  });
  let best = Infinity;
  for (let i = 0; i <= repeats; i++) {
    const start = performance.now();
    const gradients = tf.tidy(() => pass([...inputs]));
    // a backend may compute in the background until a result is read
    await gradients.at(-1)!.data();
    tf.dispose(gradients);
    if (i > 0) best = Math.min(best, (performance.now() - start) / 1000);
  }
  tf.dispose([...inputs, scale, targets]);
  return best;
}

/** Those of the small student. */
const defaultSizes: PassSizes = { vocabulary: 2048, width: 128, hidden: 384 };
