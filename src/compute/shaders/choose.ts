/** The choice of a token on a shader, with a workgroup for each row of logits. */
import { workgroupSize, type Shader } from "../webgpuBackend.ts";
import { matrixSizes, reductions, type ShaderKernelFunction } from "./kernel.ts";

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
