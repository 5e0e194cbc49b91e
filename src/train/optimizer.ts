/**
 * AdamW (Loshchilov and Hutter, 2019) with the gradient clipped by its global norm, and the file of
 * its state beside the weights of a checkpoint. The state is stored in full precision, because a
 * resumed run must equal an uninterrupted one.
 */
import * as tf from "@tensorflow/tfjs-core";
import { hasKernel, runKernel } from "../compute/runKernel.ts";
import { runningBackend } from "../compute/runningBackend.ts";
import type { WasmMemory } from "../compute/wasm/kernelTypes.ts";
import { getTrainable, type Gradients, type Model } from "../model/transformer/transformer.ts";
import { readWeights, writeWeights, type NamedArray } from "../model/weights.ts";
import { UserError } from "../userError.ts";

interface AdamWOptions {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** The share of each matrix, except the embedding, that is subtracted, times the rate. */
  readonly weightDecay: number;
  /** A gradient with a larger norm is scaled down to it. */
  readonly clipNorm: number;
}

const adamWDefaults: AdamWOptions = {
  beta1: 0.9,
  beta2: 0.98,
  epsilon: 1e-8,
  weightDecay: 0.01,
  clipNorm: 1,
};

/** The state of an optimizer as plain numbers: first and second moments by parameter name. */
export interface OptimizerState {
  readonly step: number;
  readonly first: ReadonlyMap<string, Float32Array>;
  readonly second: ReadonlyMap<string, Float32Array>;
}

export interface Optimizer {
  /**
   * Changes the model's parameters in place; the caller still owns the gradients. Returns the norm
   * of the gradient before clipping. If it is not finite, changes nothing: the step's metrics then
   * raise an alarm.
   */
  step(gradients: Gradients, learningRate: number): Promise<{ readonly norm: number }>;
  /** A copy of the state. */
  state(): Promise<OptimizerState>;
  restore(state: OptimizerState): void;
  /** Whether the parameters are few enough to `remember` them at each step. */
  readonly canRemember: boolean;
  /** Keeps the parameters and the state as they are, for `undo`. */
  remember(): void;
  /** Makes the parameters and the state those of the last `remember`, bit for bit. */
  undo(): void;
  dispose(): void;
}

/** Of larger models, the copies would take more than 200 MB in each replica. */
const maxRemembered = 2 ** 24;

/** Creates an optimizer of a model's trainable parameters, at step 0. */
export function createAdamW(model: Model, options: Partial<AdamWOptions> = {}): Optimizer {
  const settings = { ...adamWDefaults, ...options };
  const { memory } = runningBackend();
  const moments = [...getTrainable(model)].map(([name, weight]) => createMoments(name, weight));
  const variables = moments.flatMap(it => [it.weight, it.first, it.second]);
  const snapshot = memory ? createArrays(memory, variables) : createReferences(variables);
  let rememberedStep = 0;
  let step = 0;
  return {
    canRemember: moments.reduce((sum, it) => sum + it.weight.size, 0) <= maxRemembered,
    remember() {
      rememberedStep = step;
      snapshot.take();
    },
    undo() {
      step = rememberedStep;
      snapshot.restore();
    },
    async step(gradients, learningRate) {
      const norm = memory ? computeNormInPlace(memory, gradients) : await computeNorm(gradients);
      if (!Number.isFinite(norm)) return { norm };
      step++;
      const update: Update = {
        ...settings,
        rate: learningRate,
        correct1: 1 - settings.beta1 ** step,
        correct2: 1 - settings.beta2 ** step,
        scale: norm > settings.clipNorm ? settings.clipNorm / norm : 1,
      };
      for (const moment of moments) {
        const gradient = gradients.get(moment.name);
        if (!gradient) throw new Error(`no gradient for ${moment.name}`);
        if (memory) updateInPlace(memory, moment, gradient, update);
        else tf.tidy(() => assignUpdate(moment, gradient, update));
      }
      return { norm };
    },
    state: async () => ({
      step,
      first: await copyMoments(moments, "first"),
      second: await copyMoments(moments, "second"),
    }),
    restore(state) {
      step = state.step;
      for (const { name, first, second } of moments) {
        assignValues(first, state.first.get(name), name);
        assignValues(second, state.second.get(name), name);
      }
    },
    dispose() {
      snapshot.dispose();
      tf.dispose(moments.flatMap(({ first, second }) => [first, second]));
    },
  };
}

/** The values of variables at an earlier time. */
interface Snapshot {
  take(): void;
  restore(): void;
  dispose(): void;
}

/** A step changes the memory of `wasm` in place, so that the values are copied. */
function createArrays({ viewOf }: WasmMemory, variables: readonly tf.Variable[]): Snapshot {
  /** Allocated once: at each step it would be garbage. */
  let copies: readonly Float32Array[] | undefined;
  return {
    take() {
      copies ??= variables.map(it => new Float32Array(it.size));
      for (const [i, it] of variables.entries()) copies[i]!.set(viewOf(it));
    },
    restore() {
      for (const [i, it] of variables.entries()) viewOf(it).set(copies![i]!);
    },
    dispose: () => {},
  };
}

/** Elsewhere a step assigns other tensors, so that those of before only have to be kept. */
function createReferences(variables: readonly tf.Variable[]): Snapshot {
  let kept: readonly tf.Tensor[] = [];
  return {
    take() {
      tf.dispose([...kept]);
      kept = tf.tidy(() => variables.map(it => tf.keep(tf.clone(it))));
    },
    restore() {
      for (const [i, it] of variables.entries()) it.assign(kept[i]!);
    },
    dispose: () => tf.dispose([...kept]),
  };
}

interface Moments {
  readonly name: string;
  readonly weight: tf.Variable;
  readonly first: tf.Variable;
  readonly second: tf.Variable;
  /** Whether weight decay applies: not to the scales of norms and the embedding. */
  readonly hasDecay: boolean;
}

interface Update extends AdamWOptions {
  readonly rate: number;
  readonly correct1: number;
  readonly correct2: number;
  /** The factor that clips the gradient. */
  readonly scale: number;
}

const createMoments = (name: string, weight: tf.Variable): Moments => ({
  name,
  weight,
  first: tf.tidy(() => tf.variable(tf.zerosLike(weight), false)),
  second: tf.tidy(() => tf.variable(tf.zerosLike(weight), false)),
  hasDecay: weight.rank === 2 && name !== "embedding",
});

function updateInPlace(
  { kernels, addressOf }: WasmMemory,
  { weight, first, second, hasDecay }: Moments,
  gradient: tf.Tensor,
  update: Update,
): void {
  const { rate, beta1, beta2, epsilon, weightDecay, correct1, correct2, scale } = update;
  kernels.adamW(
    weight.size,
    addressOf(weight),
    addressOf(gradient),
    addressOf(first),
    addressOf(second),
    rate,
    beta1,
    beta2,
    epsilon,
    hasDecay ? weightDecay : 0,
    correct1,
    correct2,
    scale,
  );
}

/** The same in one kernel, if the backend has it, else in stock operations. */
function assignUpdate(moments: Moments, gradient: tf.Tensor, update: Update): void {
  if (!hasKernel("FusedAdamW")) return assignByOperations(moments, gradient, update);
  const { weight, first, second, hasDecay } = moments;
  const numbers = { ...update, weightDecay: hasDecay ? update.weightDecay : 0 };
  const updated = runKernel("FusedAdamW", { weight, first, second, gradient }, numbers);
  for (const [i, it] of [weight, first, second].entries()) it.assign(updated[i]!);
}

/** The comment of the WebAssembly kernel has the formula. */
function assignByOperations(
  { weight, first, second, hasDecay }: Moments,
  gradient: tf.Tensor,
  update: Update,
): void {
  const { rate, beta1, beta2, epsilon, weightDecay, correct1, correct2, scale } = update;
  const g = tf.mul(gradient, scale);
  first.assign(tf.add(tf.mul(first, beta1), tf.mul(g, 1 - beta1)));
  second.assign(tf.add(tf.mul(second, beta2), tf.mul(tf.square(g), 1 - beta2)));
  const root = tf.add(tf.sqrt(tf.div(second, correct2)), epsilon);
  const decayed = tf.mul(weight, 1 - rate * (hasDecay ? weightDecay : 0));
  weight.assign(tf.sub(decayed, tf.div(tf.mul(first, rate / correct1), root)));
}

function computeNormInPlace({ kernels, addressOf }: WasmMemory, gradients: Gradients): number {
  let sum = 0;
  for (const gradient of gradients.values())
    sum += kernels.sumSquares(gradient.size, addressOf(gradient));
  return Math.sqrt(sum);
}

async function computeNorm(gradients: Gradients): Promise<number> {
  // one by one: WebGPU limits how many tensors a single operation can have
  const sum = tf.tidy(() => [...gradients.values()].reduce(addSquares, tf.scalar(0)));
  const [squares] = await sum.data();
  runningBackend().check?.();
  sum.dispose();
  return Math.sqrt(squares!);
}

function addSquares(total: tf.Scalar, x: tf.Tensor): tf.Scalar {
  if (!hasKernel("FusedAddSquares")) return tf.add(total, tf.sum(tf.square(x)));
  const [parts] = runKernel("FusedAddSquares", { x, total });
  return parts!.size === 1 ? tf.reshape(parts!, []) : tf.sum(parts!);
}

async function copyMoments(
  moments: readonly Moments[],
  order: "first" | "second",
): Promise<ReadonlyMap<string, Float32Array>> {
  const copies = new Map<string, Float32Array>();
  for (const it of moments) copies.set(it.name, await it[order].data<"float32">());
  return copies;
}

function assignValues(variable: tf.Variable, values: Float32Array | undefined, name: string): void {
  if (values?.length !== variable.size)
    throw new Error(
      `the state of an optimizer has ${values?.length ?? "no"} numbers for ${name}, which has ${variable.size}`,
    );
  tf.tidy(() => variable.assign(tf.tensor(values, variable.shape)));
}

export async function writeOptimizer(
  file: string,
  { step, first, second }: OptimizerState,
): Promise<void> {
  const arrays = new Map<string, NamedArray>();
  for (const [kind, moments] of [
    ["first", first],
    ["second", second],
  ] as const)
    for (const [name, values] of moments)
      arrays.set(`${kind}.${name}`, { shape: [values.length], values });
  await writeWeights(file, { arrays, metadata: { step: String(step) } }, "F32");
}

export async function readOptimizer(file: string): Promise<OptimizerState> {
  const { arrays, metadata } = await readWeights(file);
  const step = Number(metadata["step"]);
  if (!Number.isInteger(step))
    throw new UserError(
      `${file} has no number of steps in its metadata`,
      "resume from an earlier checkpoint",
    );
  const moments = (kind: string) =>
    new Map(
      [...arrays]
        .filter(([name]) => name.startsWith(`${kind}.`))
        .map(([name, it]) => [name.slice(kind.length + 1), it.values]),
    );
  return { step, first: moments("first"), second: moments("second") };
}
