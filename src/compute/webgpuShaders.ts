/**
 * Kernels on shaders of our own. On a graphics card, small models take as long as their programs
 * take to start: a kernel that is one program instead of ten is nearly ten times as fast.
 */
import * as tf from "@tensorflow/tfjs-core";
import { workgroupSize, type Shader, type ShaderBackend } from "./webgpuBackend.ts";

type Inputs = Record<string, tf.TensorInfo>;
type Kernel = (
  backend: ShaderBackend,
  inputs: Inputs,
  attributes: Readonly<Record<string, number>>,
) => tf.TensorInfo | tf.TensorInfo[];

export function registerShaderKernels(): void {
  for (const [kernelName, kernel] of Object.entries(shaderKernels))
    tf.registerKernel({
      kernelName,
      backendName: "webgpu",
      kernelFunc: ({ inputs, backend, attrs }) =>
        kernel(backend as ShaderBackend, inputs as Inputs, attrs as Record<string, number>),
    });
}

/** The comment of the WebAssembly kernel has the formula. */
const adamW: Shader = {
  name: "adamW",
  outputs: ["newWeight", "newFirst", "newSecond"],
  inputs: { weight: "f32", first: "f32", second: "f32", gradient: "f32" },
  numbers: {
    n: "u32",
    rate: "f32",
    beta1: "f32",
    beta2: "f32",
    epsilon: "f32",
    weightDecay: "f32",
    correct1: "f32",
    correct2: "f32",
    scale: "f32",
  },
  code: `
  if (index >= u.n) { return; }
  let g = gradient[index] * u.scale;
  let m = u.beta1 * first[index] + (1 - u.beta1) * g;
  let v = u.beta2 * second[index] + (1 - u.beta2) * g * g;
  let kept = weight[index] * (1 - u.rate * u.weightDecay);
  newWeight[index] = kept - u.rate * (m / u.correct1) / (sqrt(v / u.correct2) + u.epsilon);
  newFirst[index] = m;
  newSecond[index] = v;`,
};

/** The sums of the squares of `length` elements, one for each workgroup; the first adds `total`. */
const sumSquares: Shader = {
  name: "sumSquares",
  outputs: ["sums"],
  inputs: { x: "f32", total: "f32" },
  numbers: { n: "u32", length: "u32", groups: "u32" },
  declarations: `var<workgroup> parts: array<f32, ${workgroupSize}>;`,
  code: `
  let end = min(u.n, (group + 1) * u.length);
  var sum = 0.0;
  for (var i = group * u.length + lane; i < end; i += ${workgroupSize}) { sum += x[i] * x[i]; }
  parts[lane] = sum;
  workgroupBarrier();
  if (lane == 0 && group < u.groups) {
    for (var i = 1u; i < ${workgroupSize}; i++) { sum += parts[i]; }
    sums[group] = select(sum, sum + total[0], group == 0);
  }`,
};

/** The elements of which one workgroup adds the squares. */
const sumLength = 2 ** 14;

const shaderKernels = {
  /** One step of AdamW: the new weight, and its new first and second moments. */
  FusedAdamW(backend, { weight, first, second, gradient }, attributes) {
    const n = tf.util.sizeFromShape(weight!.shape);
    const names = Object.keys(adamW.numbers).slice(1);
    return backend.runShader(adamW, {
      outputs: [weight!.shape, first!.shape, second!.shape],
      inputs: [weight!, first!, second!, gradient!],
      numbers: [n, ...names.map(it => attributes[it]!)],
      workgroups: Math.ceil(n / workgroupSize),
    });
  },
  /** Parts of a sum, of all elements' squares and of `total`, a scalar. */
  FusedAddSquares(backend, { x, total }) {
    const n = tf.util.sizeFromShape(x!.shape);
    const workgroups = Math.ceil(n / sumLength);
    return backend.runShader(sumSquares, {
      outputs: [[workgroups]],
      inputs: [x!, total!],
      numbers: [n, sumLength, workgroups],
      workgroups,
    });
  },
} satisfies Record<string, Kernel>;

export type ShaderKernel = keyof typeof shaderKernels;
