/** SwiGLU on shaders, with an invocation for each output. */
import type { Shader } from "../webgpuBackend.ts";
import { countWorkgroups, matrixSizes, type ShaderKernelFunction } from "./kernel.ts";

/** The gate is the first half of the columns of a row. */
const placeOfGate = `
  if (index >= u.rows * u.hidden) { return; }
  let place = index + index / u.hidden * u.hidden;
  let gate = gateUp[place];
  let up = gateUp[place + u.hidden];
  let sigmoid = 1 / (1 + exp(-gate));`;

const swiglu: Shader = {
  name: "swiglu",
  outputs: ["y"],
  inputs: { gateUp: "f32" },
  numbers: { rows: "u32", hidden: "u32" },
  code: `${placeOfGate}
  y[index] = gate * sigmoid * up;`,
};

const swigluGradient: Shader = {
  name: "swigluGradient",
  outputs: ["dgateUp"],
  inputs: { gateUp: "f32", dout: "f32" },
  numbers: { rows: "u32", hidden: "u32" },
  code: `${placeOfGate}
  let d = dout[index];
  dgateUp[place] = d * up * sigmoid * (1 + gate * (1 - sigmoid));
  dgateUp[place + u.hidden] = d * gate * sigmoid;`,
};

export const FusedSwiglu: ShaderKernelFunction = (backend, { gateUp }) => {
  const [rows, both] = matrixSizes(gateUp);
  return backend.runShader(swiglu, {
    outputs: [[rows, both / 2]],
    inputs: [gateUp!],
    numbers: [rows, both / 2],
    workgroups: countWorkgroups((rows * both) / 2),
  });
};

export const FusedSwigluGradient: ShaderKernelFunction = (backend, { gateUp, dout }) => {
  const [rows, both] = matrixSizes(gateUp);
  return backend.runShader(swigluGradient, {
    outputs: [[rows, both]],
    inputs: [gateUp!, dout!],
    numbers: [rows, both / 2],
    workgroups: countWorkgroups((rows * both) / 2),
  });
};
