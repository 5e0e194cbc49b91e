// Causal attention over packed segments, 32 queries at a time, so that no (N, N) matrix is needed.
// A segment (start, length, parent, rows before) attends to all rows of its parent and of the
// parents before, and to its own rows up to the query. Keys and values are packed once for all
// tiles and for the query heads that share them.
import {
  gemm,
  gemmPacked,
  gemmScratch,
  packB,
  packedScratch,
  packedSize,
  padToPanel,
} from "./gemm";
import { addTo } from "./rows";
import { exp, floats, productOf, softmaxRow } from "./vector";

const tile: i32 = 32;


@inline function startOf(segment: usize, s: i32): i32 {
  return load<i32>(segment + floats(4 * s));
}


@inline function lengthOf(segment: usize, s: i32): i32 {
  return load<i32>(segment + floats(4 * s + 1));
}


@inline function parentOf(segment: usize, s: i32): i32 {
  return load<i32>(segment + floats(4 * s + 2));
}


@inline function beforeOf(segment: usize, s: i32): i32 {
  return load<i32>(segment + floats(4 * s + 3));
}

/** Copies the rows that a segment attends to, which are apart, into one matrix. */
function joinRows(segment: usize, s: i32, width: i32, from: usize, to: usize): void {
  for (let it = s; it >= 0; it = parentOf(segment, it))
    memory.copy(
      to + floats(beforeOf(segment, it) * width),
      from + floats(startOf(segment, it) * width),
      floats(lengthOf(segment, it) * width),
    );
}

/** Adds the rows of such a matrix to where they are from. */
function addJoinedRows(segment: usize, s: i32, width: i32, from: usize, to: usize): void {
  for (let it = s; it >= 0; it = parentOf(segment, it))
    addTo(
      lengthOf(segment, it) * width,
      from + floats(beforeOf(segment, it) * width),
      to + floats(startOf(segment, it) * width),
    );
}

/** The scratch size, in floats, for segments that attend to at most `longest` rows. */
export function attentionScratch(longest: i32, width: i32): i32 {
  return (
    2 * tile * padToPanel(longest) +
    4 * longest * width +
    2 * packedSize(longest, width) +
    packedSize(width, longest) +
    packedScratch(max(longest, width)) +
    gemmScratch(width, tile)
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
  scale: f32,
  longest: i32,
  q: usize,
  k: usize,
  v: usize,
  out: usize,
  logSum: usize,
  scratch: usize,
): void {
  const group = heads / kvHeads,
    across = padToPanel(longest),
    outWidth = heads * width;
  const scores = scratch,
    joinedK = scores + floats(tile * across),
    joinedV = joinedK + floats(longest * width);
  const panelsK = joinedV + floats(longest * width),
    panelsV = panelsK + floats(packedSize(longest, width)),
    inner = panelsV + floats(packedSize(width, longest));
  for (let s = 0; s < segments; s++) {
    const start = startOf(segment, s),
      length = lengthOf(segment, s),
      before = beforeOf(segment, s);
    const total = before + length;
    for (let kvHead = 0; kvHead < kvHeads; kvHead++) {
      const head = floats(kvHead * N * width);
      let keys = k + head + floats(start * width),
        values = v + head + floats(start * width);
      if (before > 0) {
        joinRows(segment, s, width, k + head, joinedK);
        joinRows(segment, s, width, v + head, joinedV);
        keys = joinedK;
        values = joinedV;
      }
      packB(1, width, total, keys, width, panelsK);
      packB(0, total, width, values, width, panelsV);
      for (let h = kvHead * group; h < (kvHead + 1) * group; h++)
        for (let i = 0; i < length; i += tile) {
          const rows = min(tile, length - i),
            seen = before + i + rows;
          const queries = q + floats((h * N + start + i) * width),
            to = out + floats((start + i) * outWidth + h * width);
          gemmPacked(
            0,
            rows,
            padToPanel(seen),
            width,
            queries,
            width,
            panelsK,
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
          gemmPacked(
            0,
            rows,
            width,
            seen,
            scores,
            across,
            panelsV,
            total,
            to,
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
  scale: f32,
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
    across = padToPanel(longest),
    outWidth = heads * width;
  const scores = scratch,
    dscores = scores + floats(tile * across);
  const joinedK = dscores + floats(tile * across),
    joinedV = joinedK + floats(longest * width);
  const joinedDk = joinedV + floats(longest * width),
    joinedDv = joinedDk + floats(longest * width);
  // for scores = q · kᵀ, dP = dout · vᵀ and dq = dscores · k
  const panelsK = joinedDv + floats(longest * width),
    panelsV = panelsK + floats(packedSize(longest, width)),
    panelsDq = panelsV + floats(packedSize(longest, width)),
    inner = panelsDq + floats(packedSize(width, longest));
  memory.fill(dk, 0, floats(kvHeads * N * width));
  memory.fill(dv, 0, floats(kvHeads * N * width));
  for (let s = 0; s < segments; s++) {
    const start = startOf(segment, s),
      length = lengthOf(segment, s),
      before = beforeOf(segment, s);
    const total = before + length;
    for (let kvHead = 0; kvHead < kvHeads; kvHead++) {
      const head = floats(kvHead * N * width),
        own = head + floats(start * width);
      let keys = k + own,
        values = v + own,
        dkeys = dk + own,
        dvalues = dv + own;
      if (before > 0) {
        joinRows(segment, s, width, k + head, joinedK);
        joinRows(segment, s, width, v + head, joinedV);
        memory.fill(joinedDk, 0, floats(total * width));
        memory.fill(joinedDv, 0, floats(total * width));
        keys = joinedK;
        values = joinedV;
        dkeys = joinedDk;
        dvalues = joinedDv;
      }
      packB(1, width, total, keys, width, panelsK);
      packB(1, width, total, values, width, panelsV);
      packB(0, total, width, keys, width, panelsDq);
      for (let h = kvHead * group; h < (kvHead + 1) * group; h++)
        for (let i = 0; i < length; i += tile) {
          const rows = min(tile, length - i),
            seen = before + i + rows,
            padded = padToPanel(seen);
          const place = floats((h * N + start + i) * width),
            queries = q + place,
            by = dout + floats((start + i) * outWidth + h * width),
            from = out + floats((start + i) * outWidth + h * width);
          gemmPacked(
            0,
            rows,
            padded,
            width,
            queries,
            width,
            panelsK,
            width,
            scores,
            across,
            inner,
            scale,
            0,
          );
          gemmPacked(
            0,
            rows,
            padded,
            width,
            by,
            outWidth,
            panelsV,
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
              productOf(by + floats(r * outWidth), from + floats(r * outWidth), width),
              scale,
            );
          gemm(1, 0, seen, width, rows, scores, across, by, outWidth, dvalues, width, inner, 1, 1);
          gemm(1, 0, seen, width, rows, dscores, across, queries, width, dkeys, width, inner, 1, 1);
          gemmPacked(
            0,
            rows,
            width,
            seen,
            dscores,
            across,
            panelsDq,
            total,
            dq + place,
            width,
            inner,
            1,
            0,
          );
        }
      if (before > 0) {
        addJoinedRows(segment, s, width, joinedDk, dk + head);
        addJoinedRows(segment, s, width, joinedDv, dv + head);
      }
    }
  }
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
  for (let j = 0; j < n; j += 8) {
    const at = row + floats(j),
      d = drow + floats(j);
    const p0 = exp(f32x4.sub(v128.load(at), sums)),
      p1 = exp(f32x4.sub(v128.load(at, 16), sums));
    const d0 = f32x4.sub(v128.load(d), products),
      d1 = f32x4.sub(v128.load(d, 16), products);
    v128.store(at, p1, 16);
    v128.store(at, p0);
    v128.store(d, f32x4.mul(f32x4.mul(p1, d1), scales), 16);
    v128.store(d, f32x4.mul(f32x4.mul(p0, d0), scales));
  }
  if (n < seen) {
    memory.fill(row + floats(n), 0, floats(seen - n));
    memory.fill(drow + floats(n), 0, floats(seen - n));
  }
}
