/** What the kernels on shaders have in common. */
import type * as tf from "@tensorflow/tfjs-core";
import { workgroupSize, type Shader, type ShaderBackend } from "./webgpuBackend.ts";

/** A kernel: computes outputs from inputs by name. */
export type ShaderKernelFunction = (
  backend: ShaderBackend,
  inputs: Record<string, tf.TensorInfo>,
  attributes: Readonly<Record<string, number>>,
) => tf.TensorInfo[];

/** Adds the numbers of all invocations of a workgroup, or finds the largest; all get the result. */
export const reductions = `
var<workgroup> parts: array<f32, ${workgroupSize}>;
fn addAll(lane: u32, value: f32) -> f32 {
  parts[lane] = value;
  workgroupBarrier();
  for (var width = ${workgroupSize / 2}u; width > 0; width /= 2) {
    if (lane < width) { parts[lane] += parts[lane + width]; }
    workgroupBarrier();
  }
  let sum = parts[0];
  workgroupBarrier();
  return sum;
}
fn maxOfAll(lane: u32, value: f32) -> f32 {
  parts[lane] = value;
  workgroupBarrier();
  for (var width = ${workgroupSize / 2}u; width > 0; width /= 2) {
    if (lane < width) { parts[lane] = max(parts[lane], parts[lane + width]); }
    workgroupBarrier();
  }
  let largest = parts[0];
  workgroupBarrier();
  return largest;
}`;

/** The number of workgroups with an invocation for each element. */
export const countWorkgroups = (elements: number): number => Math.ceil(elements / workgroupSize);

/** Rows of which one workgroup computes a part of a sum. */
export const rowsPerPart = 32;

/** Adds the rows of a matrix. */
const sumRowsShader: Shader = {
  name: "sumRows",
  outputs: ["sums"],
  inputs: { x: "f32" },
  numbers: { rows: "u32", width: "u32" },
  code: `
  if (index >= u.width) { return; }
  var sum = 0.0;
  for (var row = 0u; row < u.rows; row++) { sum += x[row * u.width + index]; }
  sums[index] = sum;`,
};

/** (rows, width) to (width). The rows are not needed any more. */
export function sumRows(backend: ShaderBackend, x: tf.TensorInfo): tf.TensorInfo {
  const [rows, width] = x.shape as [number, number];
  if (rows === 1) return { ...x, shape: [width] };
  const [sums] = backend.runShader(sumRowsShader, {
    outputs: [[width]],
    inputs: [x],
    numbers: [rows, width],
    workgroups: countWorkgroups(width),
  });
  backend.disposeData(x.dataId);
  return sums!;
}

export const matrixSizes = (x: tf.TensorInfo | undefined): [number, number] =>
  x!.shape as [number, number];
