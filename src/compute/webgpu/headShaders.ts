/**
 * Splits the joint projection (N, (heads + 2 kvHeads) · headWidth) into queries, keys and values by
 * head on shaders, normalizes queries and keys if there are weights for that, and rotates them by
 * the position of their row. Where nothing else is said, a workgroup has one head of one row.
 */
import type * as tf from "@tensorflow/tfjs-core";
import { workgroupSize, type Shader, type ShaderBackend } from "./webgpuBackend.ts";
import {
  countWorkgroups,
  reductions,
  rowsPerPart,
  sumRows,
  type ShaderKernelFunction,
} from "./shaderKernel.ts";

/** The head and the row of a workgroup, and where its part of `qkv` and its angles begin. */
const place = `
  if (group >= u.heads * u.rows) { return; }
  let head = group / u.rows;
  let row = group % u.rows;
  let start = row * u.rowWidth + (u.firstHead + head) * u.width;
  let half = u.width / 2;
  let angles = u32(positions[row]) * half;`;

/** 1 / root mean square of a head of `qkv`. */
const inverseRms = `
fn inverseRms(lane: u32, start: u32) -> f32 {
  var squares = 0.0;
  for (var i = lane; i < u.width; i += ${workgroupSize}) {
    squares += qkv[start + i] * qkv[start + i];
  }
  return inverseSqrt(addAll(lane, squares) / f32(u.width) + u.epsilon);
}`;

const numbers = {
  rows: "u32",
  rowWidth: "u32",
  heads: "u32",
  firstHead: "u32",
  width: "u32",
  epsilon: "f32",
} as const;

/** Queries or keys, (heads, N, width). */
const createTurn = (isNormalized: boolean): Shader => ({
  name: isNormalized ? "normAndTurn" : "turn",
  outputs: ["turned"],
  inputs: {
    qkv: "f32",
    cos: "f32",
    sin: "f32",
    positions: "i32",
    ...(isNormalized ? { norm: "f32" } : {}),
  },
  numbers,
  declarations: isNormalized ? reductions + inverseRms : "",
  code: `${place}
  let factor = ${isNormalized ? "inverseRms(lane, start)" : "1.0"};
  for (var i = lane; i < half; i += ${workgroupSize}) {
    let a = qkv[start + i] * factor${isNormalized ? " * norm[i]" : ""};
    let b = qkv[start + half + i] * factor${isNormalized ? " * norm[half + i]" : ""};
    let c = cos[angles + i];
    let s = sin[angles + i];
    turned[group * u.width + i] = a * c - b * s;
    turned[group * u.width + half + i] = b * c + a * s;
  }`,
});

const [turn, normAndTurn] = [createTurn(false), createTurn(true)];

/** Values, (heads, N, width). */
const copyHeads: Shader = {
  name: "copyHeads",
  outputs: ["copied"],
  inputs: { qkv: "f32" },
  numbers: { rows: "u32", rowWidth: "u32", heads: "u32", firstHead: "u32", width: "u32" },
  code: `
  if (index >= u.heads * u.rows * u.width) { return; }
  let head = index / (u.rows * u.width);
  let row = index / u.width % u.rows;
  copied[index] = qkv[row * u.rowWidth + (u.firstHead + head) * u.width + index % u.width];`,
};

/** Rotates the gradient of queries or keys back, (heads, N, width). */
const turnBack: Shader = {
  name: "turnBack",
  outputs: ["dhead"],
  inputs: { d: "f32", cos: "f32", sin: "f32", positions: "i32" },
  numbers: { rows: "u32", heads: "u32", width: "u32" },
  code: `
  if (group >= u.heads * u.rows) { return; }
  let half = u.width / 2;
  let angles = u32(positions[group % u.rows]) * half;
  let to = group * u.width;
  for (var i = lane; i < half; i += ${workgroupSize}) {
    let a = d[to + i];
    let b = d[to + half + i];
    let c = cos[angles + i];
    let s = sin[angles + i];
    dhead[to + i] = a * c + b * s;
    dhead[to + half + i] = b * c - a * s;
  }`,
};

/** The gradient of the norm of heads, from that of what was normalized. */
const normGradient: Shader = {
  name: "headNormGradient",
  outputs: ["dhead"],
  inputs: { qkv: "f32", norm: "f32", dturned: "f32" },
  numbers,
  declarations: reductions + inverseRms,
  code: `
  if (group >= u.heads * u.rows) { return; }
  let start = group % u.rows * u.rowWidth + (u.firstHead + group / u.rows) * u.width;
  let to = group * u.width;
  let factor = inverseRms(lane, start);
  var products = 0.0;
  for (var i = lane; i < u.width; i += ${workgroupSize}) {
    products += dturned[to + i] * norm[i] * qkv[start + i] * factor;
  }
  let mean = addAll(lane, products) / f32(u.width);
  for (var i = lane; i < u.width; i += ${workgroupSize}) {
    dhead[to + i] = factor * (dturned[to + i] * norm[i] - qkv[start + i] * factor * mean);
  }`,
};

/** The sum, over some heads and rows, of the gradient of the weights of a norm. */
const normWeightGradient: Shader = {
  name: "headNormWeightGradient",
  outputs: ["dnorm"],
  inputs: { qkv: "f32", dturned: "f32" },
  numbers,
  declarations: reductions + inverseRms + `var<workgroup> factors: array<f32, ${rowsPerPart}>;`,
  code: `
  let first = group * ${rowsPerPart};
  let end = min(u.heads * u.rows, first + ${rowsPerPart});
  if (first >= end) { return; }
  for (var it = first; it < end; it++) {
    let start = it % u.rows * u.rowWidth + (u.firstHead + it / u.rows) * u.width;
    let factor = inverseRms(lane, start);
    if (lane == 0) { factors[it - first] = factor; }
  }
  workgroupBarrier();
  for (var i = lane; i < u.width; i += ${workgroupSize}) {
    var sum = 0.0;
    for (var it = first; it < end; it++) {
      let start = it % u.rows * u.rowWidth + (u.firstHead + it / u.rows) * u.width;
      sum += dturned[it * u.width + i] * qkv[start + i] * factors[it - first];
    }
    dnorm[group * u.width + i] = sum;
  }`,
};

/** (heads, N, width), (kvHeads, N, width) and (kvHeads, N, width) to (N, all · width). */
const joinGradients: Shader = {
  name: "joinGradients",
  outputs: ["dqkv"],
  inputs: { dq: "f32", dk: "f32", dv: "f32" },
  numbers: { rows: "u32", heads: "u32", kvHeads: "u32", width: "u32" },
  code: `
  let rowWidth = (u.heads + 2 * u.kvHeads) * u.width;
  if (index >= u.rows * rowWidth) { return; }
  let row = index / rowWidth;
  let head = index % rowWidth / u.width;
  let place = row * u.width + index % u.width;
  let ofHead = u.rows * u.width;
  if (head < u.heads) {
    dqkv[index] = dq[head * ofHead + place];
  } else if (head < u.heads + u.kvHeads) {
    dqkv[index] = dk[(head - u.heads) * ofHead + place];
  } else {
    dqkv[index] = dv[(head - u.heads - u.kvHeads) * ofHead + place];
  }`,
};

/** Queries (heads, N, width), keys and values (kvHeads, N, width). */
export const FusedSplitHeads: ShaderKernelFunction = (backend, inputs, attributes) => {
  const { qkv, queryNorm, keyNorm, cos, sin, positions } = inputs;
  const { heads, kvHeads, headWidth, epsilon } = attributes as unknown as HeadSizes;
  const [rows, rowWidth] = qkv!.shape as [number, number];
  const runTurn = (norm: tf.TensorInfo | undefined, count: number, first: number) =>
    backend.runShader(norm ? normAndTurn : turn, {
      outputs: [[count, rows, headWidth]],
      inputs: [qkv!, cos!, sin!, positions!, ...(norm ? [norm] : [])],
      numbers: [rows, rowWidth, count, first, headWidth, epsilon],
      workgroups: count * rows,
    })[0]!;
  const [values] = backend.runShader(copyHeads, {
    outputs: [[kvHeads, rows, headWidth]],
    inputs: [qkv!],
    numbers: [rows, rowWidth, kvHeads, heads + kvHeads, headWidth],
    workgroups: countWorkgroups(kvHeads * rows * headWidth),
  });
  return [runTurn(queryNorm, heads, 0), runTurn(keyNorm, kvHeads, heads), values!];
};

interface HeadSizes {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headWidth: number;
  readonly epsilon: number;
}

/** The gradients of the joint projection and of the weights of norms, if there are some. */
export const FusedSplitHeadsGradient: ShaderKernelFunction = (backend, inputs, attributes) => {
  const { qkv, queryNorm, keyNorm, cos, sin, positions, dq, dk, dv } = inputs;
  const sizes = attributes as unknown as HeadSizes;
  const { heads, kvHeads, headWidth } = sizes;
  const [rows, rowWidth] = qkv!.shape as [number, number];
  const goBack = (d: tf.TensorInfo, norm: tf.TensorInfo | undefined, first: number) => {
    const count = d.shape[0]!;
    const [dturned] = backend.runShader(turnBack, {
      outputs: [d.shape],
      inputs: [d, cos!, sin!, positions!],
      numbers: [rows, count, headWidth],
      workgroups: count * rows,
    });
    return norm
      ? goBackThroughNorm(backend, { qkv: qkv!, norm, dturned: dturned!, first }, sizes)
      : [dturned!];
  };
  const [dqueries, dqueryNorm] = goBack(dq!, queryNorm, 0);
  const [dkeys, dkeyNorm] = goBack(dk!, keyNorm, heads);
  const [dqkv] = backend.runShader(joinGradients, {
    outputs: [[rows, rowWidth]],
    inputs: [dqueries!, dkeys!, dv!],
    numbers: [rows, heads, kvHeads, headWidth],
    workgroups: countWorkgroups(rows * rowWidth),
  });
  for (const it of [dqueries!, dkeys!]) backend.disposeData(it.dataId);
  return dqueryNorm && dkeyNorm ? [dqkv!, dqueryNorm, dkeyNorm] : [dqkv!];
};

interface NormedHeads {
  readonly qkv: tf.TensorInfo;
  readonly norm: tf.TensorInfo;
  /** The gradient of the normalized heads, which is not needed any more. */
  readonly dturned: tf.TensorInfo;
  /** The first of the heads in the joint projection. */
  readonly first: number;
}

function goBackThroughNorm(
  backend: ShaderBackend,
  { qkv, norm, dturned, first }: NormedHeads,
  { headWidth, epsilon }: HeadSizes,
): tf.TensorInfo[] {
  const [rows, rowWidth] = qkv.shape as [number, number];
  const count = dturned.shape[0]!;
  const sizes = [rows, rowWidth, count, first, headWidth, epsilon];
  const [dheads] = backend.runShader(normGradient, {
    outputs: [dturned.shape],
    inputs: [qkv, norm, dturned],
    numbers: sizes,
    workgroups: count * rows,
  });
  const parts = Math.ceil((count * rows) / rowsPerPart);
  const [dnorm] = backend.runShader(normWeightGradient, {
    outputs: [[parts, headWidth]],
    inputs: [qkv, dturned],
    numbers: sizes,
    workgroups: parts,
  });
  backend.disposeData(dturned.dataId);
  return [dheads!, sumRows(backend, dnorm!)];
}
