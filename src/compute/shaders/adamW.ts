/** AdamW and the norm of gradients on shaders. */
import * as tf from "@tensorflow/tfjs-core";
import { workgroupSize, type Shader } from "../webgpuBackend.ts";
import { countWorkgroups, reductions, type ShaderKernelFunction } from "./kernel.ts";

/** `kernels/adamw.ts`, the kernel on WebAssembly, has the formula. */
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
  declarations: reductions,
  code: `
  if (group >= u.groups) { return; }
  let end = min(u.n, (group + 1) * u.length);
  var sum = 0.0;
  for (var i = group * u.length + lane; i < end; i += ${workgroupSize}) { sum += x[i] * x[i]; }
  sum = addAll(lane, sum);
  if (lane == 0) { sums[group] = select(sum, sum + total[0], group == 0); }`,
};

/** The elements of which one workgroup adds the squares. */
const sumLength = 2 ** 14;

/** One step of AdamW: the new weight, and its new first and second moments. */
export const FusedAdamW: ShaderKernelFunction = (backend, inputs, attributes) => {
  const { weight, first, second, gradient } = inputs;
  const n = tf.util.sizeFromShape(weight!.shape);
  const names = Object.keys(adamW.numbers).slice(1);
  return backend.runShader(adamW, {
    outputs: [weight!.shape, first!.shape, second!.shape],
    inputs: [weight!, first!, second!, gradient!],
    numbers: [n, ...names.map(it => attributes[it]!)],
    workgroups: countWorkgroups(n),
  });
};

/** Parts of a sum, of all elements' squares and of `total`, a scalar. */
export const FusedAddSquares: ShaderKernelFunction = (backend, { x, total }) => {
  const n = tf.util.sizeFromShape(x!.shape);
  const workgroups = Math.ceil(n / sumLength);
  return backend.runShader(sumSquares, {
    outputs: [[workgroups]],
    inputs: [x!, total!],
    numbers: [n, sumLength, workgroups],
    workgroups,
  });
};
