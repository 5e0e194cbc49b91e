// The matrix product C = alpha · op(A) · op(B), or C += alpha · op(A) · op(B), in tiles of 4 rows
// by 8 columns, or by 16 where vectors have 256 bits, which fit into sixteen vector registers. B is
// packed into panels of as many columns and A into panels of 4 rows, so that the inner loop reads
// both sequentially, transposed or not.
import { floats, multiplyAdd } from "./vector";

const tileRows: i32 = 4;

/** The columns of a tile, and of a panel: twice as many in the wide build. */
// @ts-ignore: WIDE is set by the compiler
export const tileColumns: i32 = WIDE ? 16 : 8;
const panelBytes: usize = tileColumns << 2;

/**
 * The size, in floats, of the panels that all rows of A are multiplied with before the next ones:
 * they stay in the second-level cache of a core.
 */
const cachedSize: i32 = 64 * 1024;

/** The number of columns of whole panels. */
@inline export function padToPanel(N: i32): i32 {
  return (N + tileColumns - 1) & ~(tileColumns - 1);
}

/** The size, in floats, of op(B) (K, N) in panels. */
export function packedSize(N: i32, K: i32): i32 {
  return padToPanel(N) * K;
}

/** The scratch size, in floats, of a product with a packed operand of inner size K. */
export function packedScratch(K: i32): i32 {
  return 4 * K + 4 * tileColumns;
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
 * Packs op(B) (K, N) into panels of P columns: to[(j / P) · P · K + P · k + j % P], the last one
 * padded with zeros.
 */
export function packB(transposed: i32, K: i32, N: i32, B: usize, ldb: i32, to: usize): void {
  const whole = N & ~(tileColumns - 1);
  const step = floats(ldb);
  for (let j = 0; j < whole; j += tileColumns) {
    let at = to + floats(j * K);
    if (!transposed) {
      let from = B + floats(j);
      for (let k = 0; k < K; k++) {
        const b0 = v128.load(from),
          b1 = v128.load(from, 16);
        v128.store(at, b1, 16);
        v128.store(at, b0);
        if (tileColumns == 16) {
          const b2 = v128.load(from, 32),
            b3 = v128.load(from, 48);
          v128.store(at, b3, 48);
          v128.store(at, b2, 32);
        }
        from += step;
        at += panelBytes;
      }
      continue;
    }
    const from = B + <usize>j * step;
    let k = 0;
    for (; k + 4 <= K; k += 4) {
      let p = from + floats(k);
      for (let jj: usize = 0; jj < panelBytes; jj += 16) {
        storeTransposed(
          at + jj,
          panelBytes,
          v128.load(p),
          v128.load(p + step),
          v128.load(p + 2 * step),
          v128.load(p + 3 * step),
        );
        p += 4 * step;
      }
      at += 4 * panelBytes;
    }
    for (; k < K; k++) {
      for (let jj = 0; jj < tileColumns; jj++)
        store<f32>(at + floats(jj), load<f32>(from + <usize>jj * step + floats(k)));
      at += panelBytes;
    }
  }
  if (whole < N)
    packEdge(
      transposed,
      K,
      N - whole,
      B + floats(transposed ? whole * ldb : whole),
      ldb,
      to + floats(whole * K),
    );
}

/** Packs the last panel, which has fewer columns. */
function packEdge(transposed: i32, K: i32, columns: i32, B: usize, ldb: i32, to: usize): void {
  const step = floats(ldb);
  memory.fill(to, 0, <usize>K * panelBytes);
  for (let k = 0; k < K; k++) {
    let j = 0;
    if (transposed) {
      let from = B + floats(k);
      for (; j < columns; j++) {
        store<f32>(to + floats(j), load<f32>(from));
        from += step;
      }
    } else {
      const from = B + <usize>k * step;
      for (; j + 4 <= columns; j += 4) v128.store(to + floats(j), v128.load(from + floats(j)));
      for (; j < columns; j++) store<f32>(to + floats(j), load<f32>(from + floats(j)));
    }
    to += panelBytes;
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

/**
 * Stores eight results of one row. All loads are before the stores, so that two vectors can become
 * one. The branches store in different orders; otherwise the compiler moves their common store
 * after the branch, and V8 cannot merge it with the other.
 */
@inline function put(to: usize, add: i32, left: v128, right: v128): void {
  if (add) {
    const l = f32x4.add(v128.load(to), left),
      r = f32x4.add(v128.load(to, 16), right);
    v128.store(to, l);
    v128.store(to, r, 16);
  } else {
    v128.store(to, right, 16);
    v128.store(to, left);
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
  const step = floats(ldc);
  const columns = max(tileColumns, (cachedSize / K) & ~(tileColumns - 1));
  for (let from = 0; from < N; from += columns) {
    const end = min(N, from + columns);
    for (let i = 0; i < M; i += tileRows) {
      const rows = min(tileRows, M - i);
      packA(transposeA, i, rows, K, A, lda, panelA);
      for (let j = from; j < end; j += tileColumns) {
        const c = C + <usize>i * step + floats(j);
        const b = panels + floats(j * packedK);
        if (j + tileColumns <= N) {
          multiplyTile(K, panelA, b, alpha, c, step, rows, add);
          continue;
        }
        // at the right edge, a whole vector would overwrite the next row
        multiplyTile(K, panelA, b, alpha, edge, panelBytes, rows, 0);
        copyEdge(rows, N - j, edge, c, step, add);
      }
    }
  }
}

/** Copies or adds the first columns of a tile. */
function copyEdge(rows: i32, columns: i32, tile: usize, to: usize, step: usize, add: i32): void {
  for (let row = 0; row < rows; row++) {
    let j = 0;
    for (; j + 4 <= columns; j += 4) {
      const at = to + floats(j),
        values = v128.load(tile + floats(j));
      v128.store(at, add ? f32x4.add(v128.load(at), values) : values);
    }
    for (; j < columns; j++) {
      const at = to + floats(j),
        value = load<f32>(tile + floats(j));
      store<f32>(at, add ? load<f32>(at) + value : value);
    }
    tile += panelBytes;
    to += step;
  }
}

/** Computes one tile from a panel of A and one of B, and stores its first `rows` rows. */
function multiplyTile(
  K: i32,
  a: usize,
  b: usize,
  alpha: f32,
  c: usize,
  step: usize,
  rows: i32,
  add: i32,
): void {
  let c00 = f32x4.splat(0),
    c01 = c00,
    c10 = c00,
    c11 = c00,
    c20 = c00,
    c21 = c00,
    c30 = c00,
    c31 = c00;
  let c02 = c00,
    c03 = c00,
    c12 = c00,
    c13 = c00,
    c22 = c00,
    c23 = c00,
    c32 = c00,
    c33 = c00;
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
    if (tileColumns == 16) {
      const b2 = v128.load(b, 32),
        b3 = v128.load(b, 48);
      c02 = multiplyAdd(c02, a0, b2);
      c03 = multiplyAdd(c03, a0, b3);
      c12 = multiplyAdd(c12, a1, b2);
      c13 = multiplyAdd(c13, a1, b3);
      c22 = multiplyAdd(c22, a2, b2);
      c23 = multiplyAdd(c23, a2, b3);
      c32 = multiplyAdd(c32, a3, b2);
      c33 = multiplyAdd(c33, a3, b3);
    }
    a += 16;
    b += panelBytes;
  }
  const alphas = f32x4.splat(alpha);
  put(c, add, f32x4.mul(c00, alphas), f32x4.mul(c01, alphas));
  if (tileColumns == 16) put(c + 32, add, f32x4.mul(c02, alphas), f32x4.mul(c03, alphas));
  if (rows == 1) return;
  c += step;
  put(c, add, f32x4.mul(c10, alphas), f32x4.mul(c11, alphas));
  if (tileColumns == 16) put(c + 32, add, f32x4.mul(c12, alphas), f32x4.mul(c13, alphas));
  if (rows == 2) return;
  c += step;
  put(c, add, f32x4.mul(c20, alphas), f32x4.mul(c21, alphas));
  if (tileColumns == 16) put(c + 32, add, f32x4.mul(c22, alphas), f32x4.mul(c23, alphas));
  if (rows == 3) return;
  c += step;
  put(c, add, f32x4.mul(c30, alphas), f32x4.mul(c31, alphas));
  if (tileColumns == 16) put(c + 32, add, f32x4.mul(c32, alphas), f32x4.mul(c33, alphas));
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
