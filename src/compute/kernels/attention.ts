// Causal attention over packed segments, 32 queries at a time, so that no (N, N) matrix is needed.
// A segment (start, length, parent, rows before) attends to all rows of its parent and of the
// parents before, and to its own rows up to the query. Keys and values are packed once for all tiles
// and for the query heads that share them.
import { gemm, gemmPacked, gemmScratch, packB, packedScratch, packedSize } from "./gemm";
import { addTo } from "./rows";
import { exp, expRow, floats, multiplyAdd, softmaxRow, sumOf } from "./vector";

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

/** The width of a row of scores, padded so that whole panels can be written at its end. */
@inline function scoreWidth(longest: i32): i32 {
  return (longest + 15) & ~7;
}


@inline function padToPanel(n: i32): i32 {
  return (n + 7) & ~7;
}

/** The scratch size, in floats, for segments that attend to at most `longest` rows. */
export function attentionScratch(longest: i32, width: i32): i32 {
  return (
    2 * tile * scoreWidth(longest) +
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
 * out are (N, heads · width). Pairs of query heads that share keys and values load them together.
 * The scratch has room for two rows of scores.
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
    scale: f32 = <f32>1.0 / sqrt<f32>(<f32>width),
    other = scratch + floats(capacity + 8);
  for (let t = 0; t < N; t++) {
    const seen = load<i32>(position + floats(t)) + 1,
      cache = load<i32>(slot + floats(t)) * kvHeads;
    for (let h = 0; h < heads;) {
      const query = q + floats((t * heads + h) * width),
        head = floats((cache + h / group) * capacity * width),
        to = out + floats((t * heads + h) * width);
      const isPair = h % group < group - 1;
      scoresOf(query, keys + head, seen, width, scale, scratch, isPair ? other : 0);
      const share = expRow(scratch, seen);
      if (isPair) {
        const otherShare = expRow(other, seen);
        weightedSums(scratch, other, values + head, seen, width, share, otherShare, to);
        h += 2;
      } else {
        weightedSum(scratch, values + head, seen, width, share, to);
        h++;
      }
    }
  }
}

/** The sums of the lanes of each of four vectors as one vector. */
@inline function sumsOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<f32>(ab, cd, 0, 1, 4, 5), v128.shuffle<f32>(ab, cd, 2, 3, 6, 7));
}

/**
 * scores[u] = scale · query · keys[u], four keys at a time, so that the sums are independent. If
 * there are other scores, those of the next query too.
 */
function scoresOf(
  query: usize,
  keys: usize,
  n: i32,
  width: i32,
  scale: f32,
  scores: usize,
  otherScores: usize,
): void {
  const row = floats(width);
  const scales = f32x4.splat(scale);
  const other = query + row;
  let u = 0;
  for (; u + 4 <= n; u += 4) {
    let a = f32x4.splat(0),
      b = a,
      c = a,
      d = a;
    let key = keys + <usize>u * row;
    if (otherScores) {
      let a2 = a,
        b2 = a,
        c2 = a,
        d2 = a;
      for (let j = 0; j < width; j += 4) {
        const q = v128.load(query + floats(j)),
          q2 = v128.load(other + floats(j));
        const k0 = v128.load(key),
          k1 = v128.load(key + row),
          k2 = v128.load(key + 2 * row),
          k3 = v128.load(key + 3 * row);
        a = multiplyAdd(a, q, k0);
        a2 = multiplyAdd(a2, q2, k0);
        b = multiplyAdd(b, q, k1);
        b2 = multiplyAdd(b2, q2, k1);
        c = multiplyAdd(c, q, k2);
        c2 = multiplyAdd(c2, q2, k2);
        d = multiplyAdd(d, q, k3);
        d2 = multiplyAdd(d2, q2, k3);
        key += 16;
      }
      v128.store(otherScores + floats(u), f32x4.mul(sumsOf(a2, b2, c2, d2), scales));
    } else
      for (let j = 0; j < width; j += 4) {
        const q = v128.load(query + floats(j));
        a = multiplyAdd(a, q, v128.load(key));
        b = multiplyAdd(b, q, v128.load(key + row));
        c = multiplyAdd(c, q, v128.load(key + 2 * row));
        d = multiplyAdd(d, q, v128.load(key + 3 * row));
        key += 16;
      }
    v128.store(scores + floats(u), f32x4.mul(sumsOf(a, b, c, d), scales));
  }
  for (; u < n; u++) {
    const key = keys + <usize>u * row;
    store<f32>(scores + floats(u), productOf(query, key, width) * scale);
    if (otherScores) store<f32>(otherScores + floats(u), productOf(other, key, width) * scale);
  }
}

/** to = share · Σ weights[u] · values[u], eight columns at a time in registers. */
function weightedSum(
  weights: usize,
  values: usize,
  n: i32,
  width: i32,
  share: f32,
  to: usize,
): void {
  const row = floats(width);
  const shares = f32x4.splat(share);
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
    v128.store(to + floats(j), f32x4.mul(f32x4.add(left, left2), shares));
    v128.store(to + floats(j), f32x4.mul(f32x4.add(right, right2), shares), 16);
  }
}

/** The same for two rows of weights; the second result follows the first. */
function weightedSums(
  weights: usize,
  otherWeights: usize,
  values: usize,
  n: i32,
  width: i32,
  share: f32,
  otherShare: f32,
  to: usize,
): void {
  const row = floats(width);
  const shares = f32x4.splat(share),
    otherShares = f32x4.splat(otherShare);
  for (let j = 0; j < width; j += 8) {
    let left = f32x4.splat(0),
      right = left,
      left2 = left,
      right2 = left,
      otherLeft = left,
      otherRight = left,
      otherLeft2 = left,
      otherRight2 = left;
    let value = values + floats(j);
    let u = 0;
    for (; u + 2 <= n; u += 2) {
      const p = v128.load32_splat(weights + floats(u)),
        p2 = v128.load32_splat(weights + floats(u), 4),
        o = v128.load32_splat(otherWeights + floats(u)),
        o2 = v128.load32_splat(otherWeights + floats(u), 4);
      const v = v128.load(value),
        w = v128.load(value, 16),
        v2 = v128.load(value + row),
        w2 = v128.load(value + row, 16);
      left = multiplyAdd(left, p, v);
      right = multiplyAdd(right, p, w);
      otherLeft = multiplyAdd(otherLeft, o, v);
      otherRight = multiplyAdd(otherRight, o, w);
      left2 = multiplyAdd(left2, p2, v2);
      right2 = multiplyAdd(right2, p2, w2);
      otherLeft2 = multiplyAdd(otherLeft2, o2, v2);
      otherRight2 = multiplyAdd(otherRight2, o2, w2);
      value += 2 * row;
    }
    if (u < n) {
      const p = v128.load32_splat(weights + floats(u)),
        o = v128.load32_splat(otherWeights + floats(u));
      left = multiplyAdd(left, p, v128.load(value));
      right = multiplyAdd(right, p, v128.load(value, 16));
      otherLeft = multiplyAdd(otherLeft, o, v128.load(value));
      otherRight = multiplyAdd(otherRight, o, v128.load(value, 16));
    }
    const first = to + floats(j),
      second = first + row;
    v128.store(first, f32x4.mul(f32x4.add(left, left2), shares));
    v128.store(first, f32x4.mul(f32x4.add(right, right2), shares), 16);
    v128.store(second, f32x4.mul(f32x4.add(otherLeft, otherLeft2), otherShares));
    v128.store(second, f32x4.mul(f32x4.add(otherRight, otherRight2), otherShares), 16);
  }
}
