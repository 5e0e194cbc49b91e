/** RMSNorm on shaders, with a workgroup for each row. */
import { workgroupSize, type Shader } from "../webgpuBackend.ts";
import {
  matrixSizes,
  reductions,
  rowsPerPart,
  sumRows,
  type ShaderKernelFunction,
} from "./kernel.ts";

/** x · weight · scale, where scale is 1 / root mean square of the row. */
const rmsNorm: Shader = {
  name: "rmsNorm",
  outputs: ["y", "scale"],
  inputs: { x: "f32", weight: "f32" },
  numbers: { rows: "u32", width: "u32", epsilon: "f32" },
  declarations: reductions,
  code: `
  if (group >= u.rows) { return; }
  let start = group * u.width;
  var squares = 0.0;
  for (var i = lane; i < u.width; i += ${workgroupSize}) { squares += x[start + i] * x[start + i]; }
  let factor = inverseSqrt(addAll(lane, squares) / f32(u.width) + u.epsilon);
  for (var i = lane; i < u.width; i += ${workgroupSize}) {
    y[start + i] = x[start + i] * factor * weight[i];
  }
  if (lane == 0) { scale[group] = factor; }`,
};

/** dx = scale · (dy · weight − unit · mean(dy · weight · unit)), where unit = x · scale. */
const inputGradient: Shader = {
  name: "rmsNormInputGradient",
  outputs: ["dx"],
  inputs: { x: "f32", weight: "f32", scale: "f32", dy: "f32" },
  numbers: { rows: "u32", width: "u32" },
  declarations: reductions,
  code: `
  if (group >= u.rows) { return; }
  let start = group * u.width;
  let factor = scale[group];
  var products = 0.0;
  for (var i = lane; i < u.width; i += ${workgroupSize}) {
    products += dy[start + i] * weight[i] * x[start + i] * factor;
  }
  let mean = addAll(lane, products) / f32(u.width);
  for (var i = lane; i < u.width; i += ${workgroupSize}) {
    dx[start + i] = factor * (dy[start + i] * weight[i] - x[start + i] * factor * mean);
  }`,
};

/** The sum of dy · unit over some rows. */
const weightGradient: Shader = {
  name: "rmsNormWeightGradient",
  outputs: ["dweight"],
  inputs: { x: "f32", scale: "f32", dy: "f32" },
  numbers: { rows: "u32", width: "u32" },
  code: `
  let first = group * ${rowsPerPart};
  if (first >= u.rows) { return; }
  for (var i = lane; i < u.width; i += ${workgroupSize}) {
    var sum = 0.0;
    for (var row = first; row < min(u.rows, first + ${rowsPerPart}); row++) {
      sum += dy[row * u.width + i] * x[row * u.width + i] * scale[row];
    }
    dweight[group * u.width + i] = sum;
  }`,
};

export const FusedRmsNorm: ShaderKernelFunction = (backend, { x, weight }, { epsilon }) => {
  const [rows, width] = matrixSizes(x);
  return backend.runShader(rmsNorm, {
    outputs: [[rows, width], [rows]],
    inputs: [x!, weight!],
    numbers: [rows, width, epsilon!],
    workgroups: rows,
  });
};

export const FusedRmsNormGradient: ShaderKernelFunction = (backend, { x, weight, scale, dy }) => {
  const [rows, width] = matrixSizes(x);
  const numbers = [rows, width];
  const [dx] = backend.runShader(inputGradient, {
    outputs: [[rows, width]],
    inputs: [x!, weight!, scale!, dy!],
    numbers,
    workgroups: rows,
  });
  const parts = Math.ceil(rows / rowsPerPart);
  const [dweight] = backend.runShader(weightGradient, {
    outputs: [[parts, width]],
    inputs: [x!, scale!, dy!],
    numbers,
    workgroups: parts,
  });
  return [dx!, sumRows(backend, dweight!)];
};
