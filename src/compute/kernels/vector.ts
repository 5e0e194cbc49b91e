// Functions that all kernels use: addresses, sums over lanes, and exp of four lanes. There are no
// static tables, because a table at a fixed address would overwrite the memory of TensorFlow.js.
// Therefore log is imported from JavaScript, and exp is a polynomial.
//
// V8 can merge two vectors of four floats into one of eight (`--experimental-wasm-revectorize`): it
// begins with the stores of two vectors to neighboring addresses, and goes back through the same
// operations on both. A loop that it should merge loads eight floats, then stores them: no store
// may be between the two loads. The second vector is stored first, or V8 stores it twice, in case
// only its address is out of bounds.

// @ts-ignore: decorators of AssemblyScript
@external("env", "log") export declare function log(x: f64): f64;

/** Bytes of n floats. */
@inline export function floats(n: i32): usize {
  return (<usize>n) << 2;
}

/** a · b + sum, rounded once in the relaxed and wide builds. */
@inline export function multiplyAdd(sum: v128, a: v128, b: v128): v128 {
  // @ts-ignore: a compile-time constant
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, sum);
  return f32x4.add(sum, f32x4.mul(a, b));
}


@inline export function sumOf(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) +
    f32x4.extract_lane(v, 1) +
    f32x4.extract_lane(v, 2) +
    f32x4.extract_lane(v, 3)
  );
}


@inline export function maxOf(v: v128): f32 {
  return max(
    max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)),
    max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)),
  );
}

/**
 * exp of each lane with a relative error of about 2e-7 (Cephes' expf), clamped to the range of
 * floats. Adding 1.5 · 2²³ rounds to an integer in the low bits, which a shift makes an exponent.
 * This is faster than instructions that handle NaN.
 */
@inline export function exp(x0: v128): v128 {
  const bound = f32x4.pmax(f32x4.pmin(x0, f32x4.splat(88.0)), f32x4.splat(-87.0));
  const magic = f32x4.splat(12582912.0);
  const rounded = f32x4.add(f32x4.mul(bound, f32x4.splat(1.44269504088896341)), magic);
  const n = f32x4.sub(rounded, magic);
  let x = multiplyAdd(bound, n, f32x4.splat(-0.693359375));
  x = multiplyAdd(x, n, f32x4.splat(2.1219444e-4));
  let y = multiplyAdd(f32x4.splat(1.3981999507e-3), f32x4.splat(1.98756915e-4), x);
  y = multiplyAdd(f32x4.splat(8.3334519073e-3), y, x);
  y = multiplyAdd(f32x4.splat(4.1665795894e-2), y, x);
  y = multiplyAdd(f32x4.splat(1.6666665459e-1), y, x);
  y = multiplyAdd(f32x4.splat(5.0000001201e-1), y, x);
  y = f32x4.add(multiplyAdd(x, y, f32x4.mul(x, x)), f32x4.splat(1.0));
  return f32x4.mul(y, i32x4.shl(i32x4.add(rounded, i32x4.splat(127)), 23));
}


@inline export function expOne(x: f32): f32 {
  return f32x4.extract_lane(exp(f32x4.splat(x)), 0);
}

/** 1 / (1 + exp(-x)) of each lane. */
@inline export function sigmoid(x: v128): v128 {
  return f32x4.div(f32x4.splat(1), f32x4.add(f32x4.splat(1), exp(f32x4.neg(x))));
}

export function maxOfRow(row: usize, n: i32): f32 {
  let m0 = f32x4.splat(-3.0e38),
    m1 = m0,
    m2 = m0,
    m3 = m0;
  let j = 0;
  for (; j + 16 <= n; j += 16) {
    const at = row + floats(j);
    m0 = f32x4.pmax(m0, v128.load(at));
    m1 = f32x4.pmax(m1, v128.load(at, 16));
    m2 = f32x4.pmax(m2, v128.load(at, 32));
    m3 = f32x4.pmax(m3, v128.load(at, 48));
  }
  let most = maxOf(f32x4.pmax(f32x4.pmax(m0, m1), f32x4.pmax(m2, m3)));
  for (; j < n; j++) most = max(most, load<f32>(row + floats(j)));
  return most;
}

/** exp(x - most) of row[0..n) in place. Returns their sum. */
@inline function expOfRow(row: usize, n: i32, most: f32): f32 {
  const mosts = f32x4.splat(most);
  let lanes = f32x4.splat(0);
  let tail: f32 = 0;
  let j = 0;
  for (; j + 8 <= n; j += 8) {
    const at = row + floats(j);
    const left = exp(f32x4.sub(v128.load(at), mosts)),
      right = exp(f32x4.sub(v128.load(at, 16), mosts));
    v128.store(at, right, 16);
    v128.store(at, left);
    lanes = f32x4.add(lanes, f32x4.add(left, right));
  }
  for (; j < n; j++) {
    const e = expOne(load<f32>(row + floats(j)) - most);
    store<f32>(row + floats(j), e);
    tail += e;
  }
  return tail + sumOf(lanes);
}

/** Softmax of row[0..n) in place, without the factor that it returns. */
export function expRow(row: usize, n: i32): f32 {
  return <f32>1.0 / expOfRow(row, n, maxOfRow(row, n));
}

/** Softmax of row[0..n) in place. Returns log Σ exp. */
export function softmaxRow(row: usize, n: i32): f32 {
  const most = maxOfRow(row, n);
  const total = expOfRow(row, n, most);
  const inverse: f32 = 1.0 / total;
  const inverses = f32x4.splat(inverse);
  let j = 0;
  for (; j + 8 <= n; j += 8) {
    const at = row + floats(j);
    const left = f32x4.mul(v128.load(at), inverses),
      right = f32x4.mul(v128.load(at, 16), inverses);
    v128.store(at, right, 16);
    v128.store(at, left);
  }
  for (; j < n; j++) store<f32>(row + floats(j), load<f32>(row + floats(j)) * inverse);
  return most + <f32>log(<f64>total);
}


@inline export function productOf(a: usize, b: usize, n: i32): f32 {
  let lanes = f32x4.splat(0);
  for (let j = 0; j < n; j += 4)
    lanes = multiplyAdd(lanes, v128.load(a + floats(j)), v128.load(b + floats(j)));
  return sumOf(lanes);
}
