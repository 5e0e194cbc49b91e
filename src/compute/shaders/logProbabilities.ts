/** Log-probabilities on shaders, with a workgroup for each row of logits. */
import { workgroupSize, type Shader } from "../webgpuBackend.ts";
import { countWorkgroups, matrixSizes, reductions, type ShaderKernelFunction } from "./kernel.ts";

/** The log-probability of each row's target, and the row's log Σ exp. */
const logProbabilities: Shader = {
  name: "logProbabilities",
  outputs: ["logprobs", "logSum"],
  inputs: { logits: "f32", targets: "i32" },
  numbers: { rows: "u32", vocabulary: "u32" },
  declarations: reductions,
  code: `
  if (group >= u.rows) { return; }
  let start = group * u.vocabulary;
  var largest = logits[start];
  for (var i = lane; i < u.vocabulary; i += ${workgroupSize}) {
    largest = max(largest, logits[start + i]);
  }
  largest = maxOfAll(lane, largest);
  var sum = 0.0;
  for (var i = lane; i < u.vocabulary; i += ${workgroupSize}) {
    sum += exp(logits[start + i] - largest);
  }
  sum = addAll(lane, sum);
  if (lane == 0) {
    logSum[group] = largest + log(sum);
    logprobs[group] = logits[start + u32(targets[group])] - largest - log(sum);
  }`,
};

/** d · (1 for the target, else 0, − softmax) */
const logitsGradient: Shader = {
  name: "logitsGradient",
  outputs: ["dlogits"],
  inputs: { logits: "f32", targets: "i32", logSum: "f32", d: "f32" },
  numbers: { rows: "u32", vocabulary: "u32" },
  code: `
  if (index >= u.rows * u.vocabulary) { return; }
  let row = index / u.vocabulary;
  let isTarget = index % u.vocabulary == u32(targets[row]);
  dlogits[index] = d[row] * (select(0.0, 1.0, isTarget) - exp(logits[index] - logSum[row]));`,
};

export const FusedLogProbabilities: ShaderKernelFunction = (backend, { logits, targets }) => {
  const [rows, vocabulary] = matrixSizes(logits);
  return backend.runShader(logProbabilities, {
    outputs: [[rows], [rows]],
    inputs: [logits!, targets!],
    numbers: [rows, vocabulary],
    workgroups: rows,
  });
};

export const FusedLogProbabilitiesGradient: ShaderKernelFunction = (backend, inputs) => {
  const { logits, targets, logSum, d } = inputs;
  const [rows, vocabulary] = matrixSizes(logits);
  return backend.runShader(logitsGradient, {
    outputs: [[rows, vocabulary]],
    inputs: [logits!, targets!, logSum!, d!],
    numbers: [rows, vocabulary],
    workgroups: countWorkgroups(rows * vocabulary),
  });
};
