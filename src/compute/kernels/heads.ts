// Splits the joint projection (N, (heads + 2 kvHeads) · width) into queries, keys and values by
// head, normalizes queries and keys, and rotates them by the position of their row. Head widths are
// multiples of 8; the cosine and sine tables are (positions, width / 2).
import { inverseRms } from "./norm";
import { floats, multiplyAdd, sumOf } from "./vector";

/**
 * to = rotate(x · scale · weight) for one head of one row. Returns scale. Without a weight, x is
 * not normalized.
 */
@inline function normAndTurn(
  width: i32,
  epsilon: f32,
  x: usize,
  weight: usize,
  cos: usize,
  sin: usize,
  to: usize,
): f32 {
  const half = width >> 1;
  if (weight == 0) {
    turn(half, x, cos, sin, to);
    return 1;
  }
  const r = inverseRms(x, width, epsilon);
  const rs = f32x4.splat(r);
  for (let j = 0; j < half; j += 4) {
    const a = f32x4.mul(f32x4.mul(v128.load(x + floats(j)), rs), v128.load(weight + floats(j)));
    const b = f32x4.mul(
      f32x4.mul(v128.load(x + floats(j + half)), rs),
      v128.load(weight + floats(j + half)),
    );
    const c = v128.load(cos + floats(j)),
      s = v128.load(sin + floats(j));
    v128.store(to + floats(j), f32x4.sub(f32x4.mul(a, c), f32x4.mul(b, s)));
    v128.store(to + floats(j + half), f32x4.add(f32x4.mul(b, c), f32x4.mul(a, s)));
  }
  return r;
}

/** to = rotate(x) for one head of one row. */
function turn(half: i32, x: usize, cos: usize, sin: usize, to: usize): void {
  for (let j = 0; j < half; j += 4) {
    const a = v128.load(x + floats(j)),
      b = v128.load(x + floats(j + half));
    const c = v128.load(cos + floats(j)),
      s = v128.load(sin + floats(j));
    v128.store(to + floats(j), f32x4.sub(f32x4.mul(a, c), f32x4.mul(b, s)));
    v128.store(to + floats(j + half), f32x4.add(f32x4.mul(b, c), f32x4.mul(a, s)));
  }
}

/** The gradient of `turn`: rotates back by the same angle. */
function turnBack(half: i32, by: usize, cos: usize, sin: usize, to: usize): void {
  for (let j = 0; j < half; j += 4) {
    const a = v128.load(by + floats(j)),
      b = v128.load(by + floats(j + half));
    const c = v128.load(cos + floats(j)),
      s = v128.load(sin + floats(j));
    v128.store(to + floats(j), f32x4.add(f32x4.mul(a, c), f32x4.mul(b, s)));
    v128.store(to + floats(j + half), f32x4.sub(f32x4.mul(b, c), f32x4.mul(a, s)));
  }
}

/** Writes q (heads, N, width), k and v (kvHeads, N, width), and scale (N, heads + kvHeads). */
export function splitHeads(
  N: i32,
  heads: i32,
  kvHeads: i32,
  width: i32,
  epsilon: f32,
  qkv: usize,
  queryNorm: usize,
  keyNorm: usize,
  cos: usize,
  sin: usize,
  position: usize,
  q: usize,
  k: usize,
  v: usize,
  scale: usize,
): void {
  const rowWidth = (heads + 2 * kvHeads) * width,
    half = width >> 1;
  for (let t = 0; t < N; t++) {
    const row = qkv + floats(t * rowWidth);
    const angles = floats(load<i32>(position + floats(t)) * half);
    for (let h = 0; h < heads + kvHeads; h++) {
      const to =
        h < heads ? q + floats((h * N + t) * width) : k + floats(((h - heads) * N + t) * width);
      const r = normAndTurn(
        width,
        epsilon,
        row + floats(h * width),
        h < heads ? queryNorm : keyNorm,
        cos + angles,
        sin + angles,
        to,
      );
      store<f32>(scale + floats(t * (heads + kvHeads) + h), r);
    }
    for (let h = 0; h < kvHeads; h++)
      memory.copy(
        v + floats((h * N + t) * width),
        row + floats((heads + kvHeads + h) * width),
        floats(width),
      );
  }
}

/**
 * The same for decoding: writes q (N, heads, width), and keys and values to the pages of their
 * slot. `pages` is a table (slots, pagesPerSlot) of addresses; `keys` and `values` are the offsets
 * of the keys and values (kvHeads, tokensPerPage, width) in a page.
 */
export function splitHeadsIntoCache(
  N: i32,
  heads: i32,
  kvHeads: i32,
  width: i32,
  epsilon: f32,
  tokensPerPage: i32,
  pagesPerSlot: i32,
  qkv: usize,
  queryNorm: usize,
  keyNorm: usize,
  cos: usize,
  sin: usize,
  slot: usize,
  position: usize,
  pages: usize,
  q: usize,
  keys: usize,
  values: usize,
): void {
  const rowWidth = (heads + 2 * kvHeads) * width,
    half = width >> 1;
  for (let t = 0; t < N; t++) {
    const row = qkv + floats(t * rowWidth);
    const at = load<i32>(position + floats(t)),
      place = load<i32>(slot + floats(t)) * pagesPerSlot + at / tokensPerPage,
      page = <usize>load<u32>(pages + floats(place));
    const angles = floats(at * half);
    for (let h = 0; h < heads; h++)
      normAndTurn(
        width,
        epsilon,
        row + floats(h * width),
        queryNorm,
        cos + angles,
        sin + angles,
        q + floats((t * heads + h) * width),
      );
    for (let h = 0; h < kvHeads; h++) {
      const to = page + floats((h * tokensPerPage + (at % tokensPerPage)) * width);
      normAndTurn(
        width,
        epsilon,
        row + floats((heads + h) * width),
        keyNorm,
        cos + angles,
        sin + angles,
        keys + to,
      );
      memory.copy(values + to, row + floats((heads + kvHeads + h) * width), floats(width));
    }
  }
}

export function splitHeadsGradient(
  N: i32,
  heads: i32,
  kvHeads: i32,
  width: i32,
  qkv: usize,
  queryNorm: usize,
  keyNorm: usize,
  cos: usize,
  sin: usize,
  position: usize,
  scale: usize,
  dq: usize,
  dk: usize,
  dv: usize,
  dqkv: usize,
  dqueryNorm: usize,
  dkeyNorm: usize,
): void {
  const rowWidth = (heads + 2 * kvHeads) * width,
    half = width >> 1;
  if (queryNorm != 0) {
    memory.fill(dqueryNorm, 0, floats(width));
    memory.fill(dkeyNorm, 0, floats(width));
  }
  for (let t = 0; t < N; t++) {
    const row = qkv + floats(t * rowWidth),
      drow = dqkv + floats(t * rowWidth);
    const angles = floats(load<i32>(position + floats(t)) * half);
    for (let h = 0; h < heads + kvHeads; h++) {
      const isQuery = h < heads;
      const x = row + floats(h * width),
        to = drow + floats(h * width);
      const weight = isQuery ? queryNorm : keyNorm,
        dweight = isQuery ? dqueryNorm : dkeyNorm;
      const by = isQuery
        ? dq + floats((h * N + t) * width)
        : dk + floats(((h - heads) * N + t) * width);
      if (weight == 0) {
        turnBack(half, by, cos + angles, sin + angles, to);
        continue;
      }
      const rs = f32x4.splat(load<f32>(scale + floats(t * (heads + kvHeads) + h)));
      let products = f32x4.splat(0);
      for (let j = 0; j < half; j += 4) {
        const d1 = v128.load(by + floats(j)),
          d2 = v128.load(by + floats(j + half));
        const c = v128.load(cos + angles + floats(j)),
          s = v128.load(sin + angles + floats(j));
        // rotated back by the same angle
        const a = f32x4.add(f32x4.mul(d1, c), f32x4.mul(d2, s)),
          b = f32x4.sub(f32x4.mul(d2, c), f32x4.mul(d1, s));
        const unitA = f32x4.mul(v128.load(x + floats(j)), rs),
          unitB = f32x4.mul(v128.load(x + floats(j + half)), rs);
        const dwA = dweight + floats(j),
          dwB = dweight + floats(j + half);
        v128.store(dwA, multiplyAdd(v128.load(dwA), a, unitA));
        v128.store(dwB, multiplyAdd(v128.load(dwB), b, unitB));
        const gA = f32x4.mul(a, v128.load(weight + floats(j))),
          gB = f32x4.mul(b, v128.load(weight + floats(j + half)));
        v128.store(to + floats(j), gA);
        v128.store(to + floats(j + half), gB);
        products = multiplyAdd(products, gA, unitA);
        products = multiplyAdd(products, gB, unitB);
      }
      const mean = f32x4.splat(sumOf(products) / <f32>width);
      for (let j = 0; j < width; j += 4) {
        const unit = f32x4.mul(v128.load(x + floats(j)), rs);
        v128.store(
          to + floats(j),
          f32x4.mul(f32x4.sub(v128.load(to + floats(j)), f32x4.mul(unit, mean)), rs),
        );
      }
    }
    for (let h = 0; h < kvHeads; h++)
      memory.copy(
        drow + floats((heads + kvHeads + h) * width),
        dv + floats((h * N + t) * width),
        floats(width),
      );
  }
}
