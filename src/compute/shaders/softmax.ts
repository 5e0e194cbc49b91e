/** The softmax of attention on shaders, with a workgroup for each row of scores. */
import type * as tf from "@tensorflow/tfjs-core";
import { workgroupSize, type Shader } from "../webgpuBackend.ts";
import { reductions, type ShaderKernelFunction } from "./kernel.ts";

/** softmax(scores · factor + mask); the rows of the mask repeat. */
const softmax: Shader = {
  name: "softmax",
  outputs: ["weights"],
  inputs: { scores: "f32", mask: "f32" },
  numbers: { rows: "u32", columns: "u32", maskRows: "u32", factor: "f32" },
  declarations: reductions,
  code: `
  if (group >= u.rows) { return; }
  let start = group * u.columns;
  let maskStart = group % u.maskRows * u.columns;
  var largest = -3e38;
  for (var i = lane; i < u.columns; i += ${workgroupSize}) {
    largest = max(largest, scores[start + i] * u.factor + mask[maskStart + i]);
  }
  largest = maxOfAll(lane, largest);
  var sum = 0.0;
  for (var i = lane; i < u.columns; i += ${workgroupSize}) {
    sum += exp(scores[start + i] * u.factor + mask[maskStart + i] - largest);
  }
  sum = addAll(lane, sum);
  for (var i = lane; i < u.columns; i += ${workgroupSize}) {
    weights[start + i] = exp(scores[start + i] * u.factor + mask[maskStart + i] - largest) / sum;
  }`,
};

/** weights · (dweights − Σ weights · dweights) · factor */
const softmaxGradient: Shader = {
  name: "softmaxGradient",
  outputs: ["dscores"],
  inputs: { weights: "f32", dweights: "f32" },
  numbers: { rows: "u32", columns: "u32", factor: "f32" },
  declarations: reductions,
  code: `
  if (group >= u.rows) { return; }
  let start = group * u.columns;
  var products = 0.0;
  for (var i = lane; i < u.columns; i += ${workgroupSize}) {
    products += weights[start + i] * dweights[start + i];
  }
  products = addAll(lane, products);
  for (var i = lane; i < u.columns; i += ${workgroupSize}) {
    dscores[start + i] = weights[start + i] * (dweights[start + i] - products) * u.factor;
  }`,
};

export const FusedSoftmax: ShaderKernelFunction = (backend, { scores, mask }, { factor }) => {
  const [rows, columns] = rowsOf(scores!);
  const [maskRows] = rowsOf(mask!);
  return backend.runShader(softmax, {
    outputs: [scores!.shape],
    inputs: [scores!, mask!],
    numbers: [rows, columns, maskRows, factor!],
    workgroups: rows,
  });
};

export const FusedSoftmaxGradient: ShaderKernelFunction = (backend, inputs, { factor }) => {
  const { weights, dweights } = inputs;
  const [rows, columns] = rowsOf(weights!);
  return backend.runShader(softmaxGradient, {
    outputs: [weights!.shape],
    inputs: [weights!, dweights!],
    numbers: [rows, columns, factor!],
    workgroups: rows,
  });
};

/** All axes but the last one as one. */
function rowsOf({ shape }: tf.TensorInfo): [number, number] {
  const columns = shape.at(-1)!;
  return [shape.slice(0, -1).reduce((product, it) => product * it, 1), columns];
}
