/**
 * Kernels on shaders: RMSNorm, SwiGLU, the softmax of attention, log-probabilities, the choice of a
 * token, and AdamW.
 */
import { workgroupSize, type Shader } from "./webgpuBackend.ts";
import {
  matrixSizes,
  reductions,
  rowsPerPart,
  sumRows,
  type ShaderKernelFunction,
  countWorkgroups,
} from "./shaderKernel.ts";
import * as tf from "@tensorflow/tfjs-core";

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

// SwiGLU on shaders, with an invocation for each output.

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

// The softmax of attention on shaders, with a workgroup for each row of scores.

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

// Log-probabilities on shaders, with a workgroup for each row of logits.

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

// The choice of a token on a shader, with a workgroup for each row of logits.

/**
 * The token and its log-probability. At temperature 0 it is the first of the likeliest, else the
 * one at which the sum of exp, from the first token on, exceeds `uniform` · Σ. The tokens are
 * divided among the invocations, to find the range that has the chosen one, and then the tokens of
 * that range.
 */
const choose: Shader = {
  name: "choose",
  outputs: ["chosen"],
  inputs: { logits: "f32", choices: "f32" },
  numbers: { rows: "u32", vocabulary: "u32" },
  declarations: `${reductions}
var<workgroup> sums: array<f32, ${workgroupSize}>;
var<workgroup> firsts: array<u32, ${workgroupSize}>;
var<workgroup> found: u32;
var<workgroup> remainder: f32;
fn weigh(i: u32, largest: f32, divisor: f32) -> f32 {
  return exp((logits[i] - largest) / divisor);
}`,
  code: `
  if (group >= u.rows) { return; }
  let start = group * u.vocabulary;
  let temperature = choices[2 * group];
  let divisor = select(1.0, temperature, temperature > 0);
  let length = (u.vocabulary + ${workgroupSize - 1}) / ${workgroupSize};
  let first = start + min(u.vocabulary, lane * length);
  let end = start + min(u.vocabulary, (lane + 1) * length);
  var largest = logits[start];
  for (var i = first; i < end; i++) { largest = max(largest, logits[i]); }
  largest = maxOfAll(lane, largest);
  var sum = 0.0;
  firsts[lane] = u.vocabulary;
  for (var i = first; i < end; i++) {
    sum += weigh(i, largest, divisor);
    if (logits[i] == largest && firsts[lane] == u.vocabulary) { firsts[lane] = i - start; }
  }
  sums[lane] = sum;
  let total = addAll(lane, sum);
  if (lane == 0) {
    remainder = choices[2 * group + 1] * total;
    found = 0;
    while (found < ${workgroupSize - 1} && remainder >= sums[found]) {
      remainder -= sums[found];
      found++;
    }
  }
  workgroupBarrier();
  let partStart = start + min(u.vocabulary, found * length);
  let partEnd = start + min(u.vocabulary, (found + 1) * length);
  let shortLength = (length + ${workgroupSize - 1}) / ${workgroupSize};
  let shortFirst = min(partEnd, partStart + lane * shortLength);
  sum = 0;
  for (var i = shortFirst; i < min(partEnd, shortFirst + shortLength); i++) {
    sum += weigh(i, largest, divisor);
  }
  workgroupBarrier();
  sums[lane] = sum;
  workgroupBarrier();
  if (lane == 0) {
    // rounding can leave a remainder after the last token
    var token = u.vocabulary;
    for (var it = 0u; it < ${workgroupSize}; it++) { token = min(token, firsts[it]); }
    // if the logits are NaN, none is the largest
    token = select(token, 0u, token == u.vocabulary);
    if (temperature > 0) {
      var left = remainder;
      var it = 0u;
      while (it < ${workgroupSize - 1} && left >= sums[it]) { left -= sums[it]; it++; }
      for (var i = partStart + it * shortLength; i < partEnd; i++) {
        left -= weigh(i, largest, divisor);
        if (left < 0) { token = i - start; break; }
      }
    }
    chosen[2 * group] = f32(token);
    chosen[2 * group + 1] = (logits[start + token] - largest) / divisor - log(total);
  }`,
};

/**
 * Logits (rows, vocabulary) and choices (rows, 2), temperatures and uniform numbers, to tokens and
 * log-probabilities, (rows, 2).
 */
export const FusedChoose: ShaderKernelFunction = (backend, { logits, choices }) => {
  const [rows, vocabulary] = matrixSizes(logits);
  return backend.runShader(choose, {
    outputs: [[rows, 2]],
    inputs: [logits!, choices!],
    numbers: [rows, vocabulary],
    workgroups: rows,
  });
};

// AdamW and the norm of gradients on shaders.

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
