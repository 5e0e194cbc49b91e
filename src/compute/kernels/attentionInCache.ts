// Attention of single queries to the keys and values of a cache, for decoding.
import { expRow, floats, multiplyAdd, productOf } from "./vector";

/**
 * Attention for decoding: each row attends to the pages of its slot up to its own position. `pages`
 * is a table (slots, pagesPerSlot) of addresses; `keys` and `values` are the offsets of the keys
 * and values (kvHeads, tokensPerPage, width) in a page. q and out are (N, heads · width). Pairs of
 * query heads that share keys and values load them together, and rows that share pages follow each
 * other while these are in the processor's cache. The scratch has room for two rows of scores.
 */
export function attentionInCache(
  N: i32,
  heads: i32,
  kvHeads: i32,
  width: i32,
  scale: f32,
  tokensPerPage: i32,
  pagesPerSlot: i32,
  slot: usize,
  position: usize,
  pages: usize,
  q: usize,
  keys: usize,
  values: usize,
  out: usize,
  scratch: usize,
): void {
  const group = heads / kvHeads,
    other = scratch + floats(pagesPerSlot * tokensPerPage + 8);
  for (let h = 0; h < heads;) {
    const isPair = h % group < group - 1,
      inPage = floats((h / group) * tokensPerPage * width);
    for (let t = 0; t < N; t++) {
      const seen = load<i32>(position + floats(t)) + 1,
        at = floats((t * heads + h) * width),
        first = pages + floats(load<i32>(slot + floats(t)) * pagesPerSlot);
      let page = first;
      for (let u = 0; u < seen; u += tokensPerPage) {
        const key = <usize>load<u32>(page) + keys + inPage,
          n = min(tokensPerPage, seen - u),
          otherScores = isPair ? other + floats(u) : 0;
        scoresOf(q + at, key, n, width, scale, scratch + floats(u), otherScores);
        page += 4;
      }
      const share = expRow(scratch, seen),
        otherShare: f32 = isPair ? expRow(other, seen) : 0;
      page = first;
      for (let u = 0; u < seen; u += tokensPerPage) {
        const value = <usize>load<u32>(page) + values + inPage,
          n = min(tokensPerPage, seen - u),
          weights = scratch + floats(u);
        if (isPair) {
          const otherWeights = other + floats(u);
          weightedSums(weights, otherWeights, value, n, width, share, otherShare, out + at, u);
        } else weightedSum(weights, value, n, width, share, out + at, u);
        page += 4;
      }
    }
    h += isPair ? 2 : 1;
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

/** Stores a sum, added to what is there if `add`. */
@inline function putSum(to: usize, sum: v128, add: i32): void {
  v128.store(to, add ? f32x4.add(v128.load(to), sum) : sum);
}

/**
 * to = share · Σ weights[u] · values[u], eight columns at a time in registers; added to what is
 * there if `add`.
 */
function weightedSum(
  weights: usize,
  values: usize,
  n: i32,
  width: i32,
  share: f32,
  to: usize,
  add: i32,
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
    putSum(to + floats(j), f32x4.mul(f32x4.add(left, left2), shares), add);
    putSum(to + floats(j + 4), f32x4.mul(f32x4.add(right, right2), shares), add);
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
  add: i32,
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
    putSum(first, f32x4.mul(f32x4.add(left, left2), shares), add);
    putSum(first + 16, f32x4.mul(f32x4.add(right, right2), shares), add);
    putSum(second, f32x4.mul(f32x4.add(otherLeft, otherLeft2), otherShares), add);
    putSum(second + 16, f32x4.mul(f32x4.add(otherRight, otherRight2), otherShares), add);
  }
}
