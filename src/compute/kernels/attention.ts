// Causal attention over packed segments, 32 queries at a time, so that no (N, N) matrix is needed.
// A segment (start, length, prefix start, prefix length) attends to all rows of its prefix and to
// its own rows up to the query. The query heads of a group share keys and values.
import { gemm, gemmScratch } from "./gemm";
import { addTo } from "./rows";
import { exp, floats, multiplyAdd, softmaxRow, sumOf } from "./vector";

const tile: i32 = 32;

/** The width of a row of scores, padded so that whole vectors can be read at its end. */
@inline function scoreWidth(longest: i32): i32 {
  return (longest + 7) & ~3;
}

/** The scratch size, in floats, for segments that attend to at most `longest` rows. */
export function attentionScratch(longest: i32, width: i32): i32 {
  return (
    2 * tile * scoreWidth(longest) +
    4 * longest * width +
    gemmScratch(longest, width) +
    gemmScratch(width, longest)
  );
}

/**
 * q (heads, N, width), k and v (kvHeads, N, width) to out (N, heads · width) and logSum (heads, N),
 * the log Σ exp of the scores of each query.
 */
export function attention(
  segments: i32,
  segment: usize,
  N: i32,
  heads: i32,
  kvHeads: i32,
  width: i32,
  longest: i32,
  q: usize,
  k: usize,
  v: usize,
  out: usize,
  logSum: usize,
  scratch: usize,
): void {
  const group = heads / kvHeads,
    scale: f32 = <f32>1.0 / sqrt<f32>(<f32>width),
    across = scoreWidth(longest),
    outWidth = heads * width;
  const scores = scratch,
    joinedK = scores + floats(tile * across),
    joinedV = joinedK + floats(longest * width);
  const inner = joinedV + floats(longest * width);
  for (let s = 0; s < segments; s++) {
    const start = load<i32>(segment + floats(4 * s)),
      length = load<i32>(segment + floats(4 * s + 1));
    const prefix = load<i32>(segment + floats(4 * s + 2)),
      before = load<i32>(segment + floats(4 * s + 3));
    for (let h = 0; h < heads; h++) {
      const head = floats((h / group) * N * width);
      let keys = k + head + floats(start * width),
        values = v + head + floats(start * width);
      if (before > 0) {
        // copies prefix and segment, which are apart, into one matrix
        memory.copy(joinedK, k + head + floats(prefix * width), floats(before * width));
        memory.copy(joinedK + floats(before * width), keys, floats(length * width));
        memory.copy(joinedV, v + head + floats(prefix * width), floats(before * width));
        memory.copy(joinedV + floats(before * width), values, floats(length * width));
        keys = joinedK;
        values = joinedV;
      }
      for (let i = 0; i < length; i += tile) {
        const rows = min(tile, length - i),
          seen = before + i + rows;
        gemm(
          0,
          1,
          rows,
          seen,
          width,
          q + floats((h * N + start + i) * width),
          width,
          keys,
          width,
          scores,
          across,
          inner,
          scale,
          0,
        );
        for (let r = 0; r < rows; r++) {
          const row = scores + floats(r * across),
            n = before + i + r + 1;
          store<f32>(logSum + floats(h * N + start + i + r), softmaxRow(row, n));
          if (n < seen) memory.fill(row + floats(n), 0, floats(seen - n));
        }
        gemm(
          0,
          0,
          rows,
          width,
          seen,
          scores,
          across,
          values,
          width,
          out + floats((start + i) * outWidth + h * width),
          outWidth,
          inner,
          1,
          0,
        );
      }
    }
  }
}

/**
 * Computes the softmax P again from the scores and logSum. With D = Σ dout · out of a query,
 * dscores = P · (dout·vᵀ - D).
 */
export function attentionGradient(
  segments: i32,
  segment: usize,
  N: i32,
  heads: i32,
  kvHeads: i32,
  width: i32,
  longest: i32,
  q: usize,
  k: usize,
  v: usize,
  out: usize,
  logSum: usize,
  dout: usize,
  dq: usize,
  dk: usize,
  dv: usize,
  scratch: usize,
): void {
  const group = heads / kvHeads,
    scale: f32 = <f32>1.0 / sqrt<f32>(<f32>width),
    across = scoreWidth(longest),
    outWidth = heads * width;
  const scores = scratch,
    dscores = scores + floats(tile * across);
  const joinedK = dscores + floats(tile * across),
    joinedV = joinedK + floats(longest * width);
  const joinedDk = joinedV + floats(longest * width),
    joinedDv = joinedDk + floats(longest * width),
    inner = joinedDv + floats(longest * width);
  memory.fill(dk, 0, floats(kvHeads * N * width));
  memory.fill(dv, 0, floats(kvHeads * N * width));
  for (let s = 0; s < segments; s++) {
    const start = load<i32>(segment + floats(4 * s)),
      length = load<i32>(segment + floats(4 * s + 1));
    const prefix = load<i32>(segment + floats(4 * s + 2)),
      before = load<i32>(segment + floats(4 * s + 3));
    for (let h = 0; h < heads; h++) {
      const head = floats((h / group) * N * width),
        own = head + floats(start * width),
        shared = head + floats(prefix * width);
      let keys = k + own,
        values = v + own,
        dkeys = dk + own,
        dvalues = dv + own;
      if (before > 0) {
        memory.copy(joinedK, k + shared, floats(before * width));
        memory.copy(joinedK + floats(before * width), k + own, floats(length * width));
        memory.copy(joinedV, v + shared, floats(before * width));
        memory.copy(joinedV + floats(before * width), v + own, floats(length * width));
        memory.fill(joinedDk, 0, floats((before + length) * width));
        memory.fill(joinedDv, 0, floats((before + length) * width));
        keys = joinedK;
        values = joinedV;
        dkeys = joinedDk;
        dvalues = joinedDv;
      }
      for (let i = 0; i < length; i += tile) {
        const rows = min(tile, length - i),
          seen = before + i + rows;
        const queries = q + floats((h * N + start + i) * width),
          place = floats((start + i) * outWidth + h * width);
        gemm(0, 1, rows, seen, width, queries, width, keys, width, scores, across, inner, scale, 0);
        gemm(
          0,
          1,
          rows,
          seen,
          width,
          dout + place,
          outWidth,
          values,
          width,
          dscores,
          across,
          inner,
          1,
          0,
        );
        for (let r = 0; r < rows; r++)
          scoreGradient(
            scores + floats(r * across),
            dscores + floats(r * across),
            before + i + r + 1,
            seen,
            load<f32>(logSum + floats(h * N + start + i + r)),
            productOf(
              dout + place + floats(r * outWidth),
              out + place + floats(r * outWidth),
              width,
            ),
            scale,
          );
        gemm(
          1,
          0,
          seen,
          width,
          rows,
          scores,
          across,
          dout + place,
          outWidth,
          dvalues,
          width,
          inner,
          1,
          1,
        );
        gemm(1, 0, seen, width, rows, dscores, across, queries, width, dkeys, width, inner, 1, 1);
        gemm(
          0,
          0,
          rows,
          width,
          seen,
          dscores,
          across,
          keys,
          width,
          dq + floats((h * N + start + i) * width),
          width,
          inner,
          1,
          0,
        );
      }
      if (before > 0) {
        addTo(before * width, joinedDk, dk + shared);
        addTo(length * width, joinedDk + floats(before * width), dk + own);
        addTo(before * width, joinedDv, dv + shared);
        addTo(length * width, joinedDv + floats(before * width), dv + own);
      }
    }
  }
}


@inline function productOf(a: usize, b: usize, n: i32): f32 {
  let lanes = f32x4.splat(0);
  for (let j = 0; j < n; j += 4)
    lanes = multiplyAdd(lanes, v128.load(a + floats(j)), v128.load(b + floats(j)));
  return sumOf(lanes);
}

/**
 * Converts the scores of one query to P and its dP to dscores, in place. Entries after the query
 * are 0.
 */
@inline function scoreGradient(
  row: usize,
  drow: usize,
  n: i32,
  seen: i32,
  logSum: f32,
  product: f32,
  scale: f32,
): void {
  const sums = f32x4.splat(logSum),
    products = f32x4.splat(product),
    scales = f32x4.splat(scale);
  for (let j = 0; j < n; j += 4) {
    const p = exp(f32x4.sub(v128.load(row + floats(j)), sums));
    v128.store(row + floats(j), p);
    v128.store(
      drow + floats(j),
      f32x4.mul(f32x4.mul(p, f32x4.sub(v128.load(drow + floats(j)), products)), scales),
    );
  }
  if (n < seen) {
    memory.fill(row + floats(n), 0, floats(seen - n));
    memory.fill(drow + floats(n), 0, floats(seen - n));
  }
}

/**
 * Attention for decoding: each row attends to the cache of its slot up to its own position. q and
 * out are (N, heads · width).
 */
export function attentionInCache(
  N: i32,
  heads: i32,
  kvHeads: i32,
  width: i32,
  capacity: i32,
  slot: usize,
  position: usize,
  q: usize,
  keys: usize,
  values: usize,
  out: usize,
  scratch: usize,
): void {
  const group = heads / kvHeads,
    scale: f32 = <f32>1.0 / sqrt<f32>(<f32>width);
  for (let t = 0; t < N; t++) {
    const seen = load<i32>(position + floats(t)) + 1,
      cache = load<i32>(slot + floats(t)) * kvHeads;
    for (let h = 0; h < heads; h++) {
      const query = q + floats((t * heads + h) * width),
        head = floats((cache + h / group) * capacity * width),
        to = out + floats((t * heads + h) * width);
      scoresOf(query, keys + head, seen, width, scale, scratch);
      softmaxRow(scratch, seen);
      weightedSum(scratch, values + head, seen, width, to);
    }
  }
}

/** scores[u] = scale · query · keys[u], four keys at a time, so that the sums are independent. */
function scoresOf(query: usize, keys: usize, n: i32, width: i32, scale: f32, scores: usize): void {
  const row = floats(width);
  const scales = f32x4.splat(scale);
  let u = 0;
  for (; u + 4 <= n; u += 4) {
    let a = f32x4.splat(0),
      b = a,
      c = a,
      d = a;
    let key = keys + <usize>u * row;
    for (let j = 0; j < width; j += 4) {
      const q = v128.load(query + floats(j));
      a = multiplyAdd(a, q, v128.load(key));
      b = multiplyAdd(b, q, v128.load(key + row));
      c = multiplyAdd(c, q, v128.load(key + 2 * row));
      d = multiplyAdd(d, q, v128.load(key + 3 * row));
      key += 16;
    }
    // adds the lanes of each of four vectors into one vector
    const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
    const cd = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
    const sums = f32x4.add(
      v128.shuffle<f32>(ab, cd, 0, 1, 4, 5),
      v128.shuffle<f32>(ab, cd, 2, 3, 6, 7),
    );
    v128.store(scores + floats(u), f32x4.mul(sums, scales));
  }
  for (; u < n; u++)
    store<f32>(scores + floats(u), productOf(query, keys + <usize>u * row, width) * scale);
}

/** to = Σ weights[u] · values[u], eight columns at a time in registers. */
function weightedSum(weights: usize, values: usize, n: i32, width: i32, to: usize): void {
  const row = floats(width);
  for (let j = 0; j < width; j += 8) {
    // separate sums of even and odd rows, which are independent
    let left = f32x4.splat(0),
      right = left,
      left2 = left,
      right2 = left;
    let value = values + floats(j);
    let u = 0;
    for (; u + 2 <= n; u += 2) {
      const p = v128.load32_splat(weights + floats(u)),
        p2 = v128.load32_splat(weights + floats(u), 4);
      left = multiplyAdd(left, p, v128.load(value));
      right = multiplyAdd(right, p, v128.load(value, 16));
      left2 = multiplyAdd(left2, p2, v128.load(value + row));
      right2 = multiplyAdd(right2, p2, v128.load(value + row, 16));
      value += 2 * row;
    }
    if (u < n) {
      const p = v128.load32_splat(weights + floats(u));
      left = multiplyAdd(left, p, v128.load(value));
      right = multiplyAdd(right, p, v128.load(value, 16));
    }
    v128.store(to + floats(j), f32x4.add(left, left2));
    v128.store(to + floats(j), f32x4.add(right, right2), 16);
  }
}
