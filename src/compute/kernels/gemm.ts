// The matrix product C = alpha · op(A) · op(B), or C += alpha · op(A) · op(B), in tiles of 4 rows
// by 8 columns, which fit into sixteen vector registers. B is packed into panels of 8 columns and A
// into panels of 4 rows, so that the inner loop reads both sequentially, transposed or not.
import { floats, multiplyAdd } from "./vector";

const tileRows: i32 = 4;

/** The size, in floats, of op(B) (K, N) in panels. */
export function packedSize(N: i32, K: i32): i32 {
  return ((N + 7) & ~7) * K;
}

/** The scratch size, in floats, of a product with a packed operand of inner size K. */
export function packedScratch(K: i32): i32 {
  return 4 * K + 32;
}

/** The scratch size, in floats, of a product with N columns and inner size K. */
export function gemmScratch(N: i32, K: i32): i32 {
  return packedSize(N, K) + packedScratch(K);
}

/** Stores four vectors of rows as the columns of a 4 by 4 block, `step` bytes apart. */
@inline function storeTransposed(to: usize, step: usize, a: v128, b: v128, c: v128, d: v128): void {
  const ab0 = v128.shuffle<f32>(a, b, 0, 4, 1, 5),
    ab2 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const cd0 = v128.shuffle<f32>(c, d, 0, 4, 1, 5),
    cd2 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f32>(ab0, cd0, 0, 1, 4, 5));
  v128.store(to + step, v128.shuffle<f32>(ab0, cd0, 2, 3, 6, 7));
  v128.store(to + 2 * step, v128.shuffle<f32>(ab2, cd2, 0, 1, 4, 5));
  v128.store(to + 3 * step, v128.shuffle<f32>(ab2, cd2, 2, 3, 6, 7));
}

/**
 * Packs op(B) (K, N) into panels: to[(j / 8) · 8K + 8k + j % 8], the last one padded with zeros.
 */
export function packB(transposed: i32, K: i32, N: i32, B: usize, ldb: i32, to: usize): void {
  const whole = N & ~7;
  const step = floats(ldb);
  for (let j = 0; j < whole; j += 8) {
    let at = to + floats(j * K);
    if (!transposed) {
      let from = B + floats(j);
      for (let k = 0; k < K; k++) {
        v128.store(at, v128.load(from));
        v128.store(at, v128.load(from, 16), 16);
        from += step;
        at += 32;
      }
      continue;
    }
    const from = B + <usize>j * step;
    let k = 0;
    for (; k + 4 <= K; k += 4) {
      const p = from + floats(k),
        q = p + 4 * step;
      storeTransposed(
        at,
        32,
        v128.load(p),
        v128.load(p + step),
        v128.load(p + 2 * step),
        v128.load(p + 3 * step),
      );
      storeTransposed(
        at + 16,
        32,
        v128.load(q),
        v128.load(q + step),
        v128.load(q + 2 * step),
        v128.load(q + 3 * step),
      );
      at += 128;
    }
    for (; k < K; k++) {
      for (let jj = 0; jj < 8; jj++)
        store<f32>(at + floats(jj), load<f32>(from + <usize>jj * step + floats(k)));
      at += 32;
    }
  }
  if (whole == N) return;
  let at = to + floats(whole * K);
  for (let k = 0; k < K; k++) {
    for (let jj = 0; jj < 8; jj++) {
      let value: f32 = 0;
      if (whole + jj < N)
        value = load<f32>(
          B + (transposed ? floats((whole + jj) * ldb + k) : floats(k * ldb + whole + jj)),
        );
      store<f32>(at + floats(jj), value);
    }
    at += 32;
  }
}

/** Packs rows i … i + rows - 1 of op(A) (M, K) into to[4k + row], padded with zero rows. */
function packA(transposed: i32, i: i32, rows: i32, K: i32, A: usize, lda: i32, to: usize): void {
  const step = floats(lda);
  if (rows == 4 && transposed) {
    let from = A + floats(i);
    for (let k = 0; k < K; k++) {
      v128.store(to, v128.load(from));
      from += step;
      to += 16;
    }
    return;
  }
  if (rows == 4) {
    const from = A + <usize>i * step;
    let k = 0;
    for (; k + 4 <= K; k += 4) {
      const p = from + floats(k);
      storeTransposed(
        to,
        16,
        v128.load(p),
        v128.load(p + step),
        v128.load(p + 2 * step),
        v128.load(p + 3 * step),
      );
      to += 64;
    }
    for (; k < K; k++) {
      for (let row = 0; row < 4; row++)
        store<f32>(to + floats(row), load<f32>(from + <usize>row * step + floats(k)));
      to += 16;
    }
    return;
  }
  for (let k = 0; k < K; k++) {
    for (let row = 0; row < 4; row++) {
      let value: f32 = 0;
      if (row < rows)
        value = load<f32>(
          A + (transposed ? floats(k * lda + i + row) : floats((i + row) * lda + k)),
        );
      store<f32>(to + floats(row), value);
    }
    to += 16;
  }
}

/** Stores eight results of one row. */
@inline function put(to: usize, add: i32, left: v128, right: v128): void {
  if (add) {
    v128.store(to, f32x4.add(v128.load(to), left));
    v128.store(to, f32x4.add(v128.load(to, 16), right), 16);
  } else {
    v128.store(to, left);
    v128.store(to, right, 16);
  }
}

export function gemm(
  transposeA: i32,
  transposeB: i32,
  M: i32,
  N: i32,
  K: i32,
  A: usize,
  lda: i32,
  B: usize,
  ldb: i32,
  C: usize,
  ldc: i32,
  scratch: usize,
  alpha: f32,
  add: i32,
): void {
  packB(transposeB, K, N, B, ldb, scratch);
  const rest = scratch + floats(packedSize(N, K));
  gemmPacked(transposeA, M, N, K, A, lda, scratch, K, C, ldc, rest, alpha, add);
}

/**
 * The product with an operand that `packB` has packed, which many products can share: with its
 * first K of `packedK` rows, and its first N columns.
 */
export function gemmPacked(
  transposeA: i32,
  M: i32,
  N: i32,
  K: i32,
  A: usize,
  lda: i32,
  panels: usize,
  packedK: i32,
  C: usize,
  ldc: i32,
  scratch: usize,
  alpha: f32,
  add: i32,
): void {
  const panelA = scratch;
  const edge = panelA + floats(4 * K);
  const alphas = f32x4.splat(alpha);
  const step = floats(ldc);
  for (let i = 0; i < M; i += tileRows) {
    const rows = min(tileRows, M - i);
    packA(transposeA, i, rows, K, A, lda, panelA);
    for (let j = 0; j < N; j += 8) {
      let c00 = f32x4.splat(0),
        c01 = c00,
        c10 = c00,
        c11 = c00,
        c20 = c00,
        c21 = c00,
        c30 = c00,
        c31 = c00;
      let a = panelA,
        b = panels + floats(j * packedK);
      for (let k = 0; k < K; k++) {
        const b0 = v128.load(b),
          b1 = v128.load(b, 16);
        const a0 = v128.load32_splat(a),
          a1 = v128.load32_splat(a, 4),
          a2 = v128.load32_splat(a, 8),
          a3 = v128.load32_splat(a, 12);
        c00 = multiplyAdd(c00, a0, b0);
        c01 = multiplyAdd(c01, a0, b1);
        c10 = multiplyAdd(c10, a1, b0);
        c11 = multiplyAdd(c11, a1, b1);
        c20 = multiplyAdd(c20, a2, b0);
        c21 = multiplyAdd(c21, a2, b1);
        c30 = multiplyAdd(c30, a3, b0);
        c31 = multiplyAdd(c31, a3, b1);
        a += 16;
        b += 32;
      }
      c00 = f32x4.mul(c00, alphas);
      c01 = f32x4.mul(c01, alphas);
      c10 = f32x4.mul(c10, alphas);
      c11 = f32x4.mul(c11, alphas);
      c20 = f32x4.mul(c20, alphas);
      c21 = f32x4.mul(c21, alphas);
      c30 = f32x4.mul(c30, alphas);
      c31 = f32x4.mul(c31, alphas);
      const c = C + <usize>i * step + floats(j);
      if (j + 8 <= N) {
        put(c, add, c00, c01);
        if (rows > 1) put(c + step, add, c10, c11);
        if (rows > 2) put(c + 2 * step, add, c20, c21);
        if (rows > 3) put(c + 3 * step, add, c30, c31);
        continue;
      }
      // at the right edge, a whole vector would overwrite the next row
      put(edge, 0, c00, c01);
      put(edge + 32, 0, c10, c11);
      put(edge + 64, 0, c20, c21);
      put(edge + 96, 0, c30, c31);
      for (let row = 0; row < rows; row++)
        for (let jj = 0; jj < N - j; jj++) {
          const to = c + <usize>row * step + floats(jj);
          const value = load<f32>(edge + floats(row * 8 + jj));
          store<f32>(to, add ? load<f32>(to) + value : value);
        }
    }
  }
}

/**
 * `batch` products whose operands are `strideA`, `strideB` and `strideC` floats apart. With a
 * stride of 0, all products share the operand.
 */
export function gemmBatched(
  batch: i32,
  strideA: i32,
  strideB: i32,
  strideC: i32,
  transposeA: i32,
  transposeB: i32,
  M: i32,
  N: i32,
  K: i32,
  A: usize,
  lda: i32,
  B: usize,
  ldb: i32,
  C: usize,
  ldc: i32,
  scratch: usize,
): void {
  for (let b = 0; b < batch; b++)
    gemm(
      transposeA,
      transposeB,
      M,
      N,
      K,
      A + floats(b * strideA),
      lda,
      B + floats(b * strideB),
      ldb,
      C + floats(b * strideC),
      ldc,
      scratch,
      1,
      0,
    );
}
