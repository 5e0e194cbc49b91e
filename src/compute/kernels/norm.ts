// RMSNorm and its gradient. Widths are multiples of 4.
import { floats, multiplyAdd, sumOf } from "./vector";

/** 1 / root mean square of n floats. */
@inline export function inverseRms(x: usize, n: i32, epsilon: f32): f32 {
  let squares = f32x4.splat(0);
  for (let j = 0; j < n; j += 4) {
    const v = v128.load(x + floats(j));
    squares = multiplyAdd(squares, v, v);
  }
  return <f32>1.0 / sqrt<f32>(sumOf(squares) / <f32>n + epsilon);
}

/**
 * y = x · scale · weight, where scale (N) is 1 / root mean square of each row, which the gradient
 * uses.
 */
export function rmsNorm(
  N: i32,
  width: i32,
  epsilon: f32,
  x: usize,
  weight: usize,
  y: usize,
  scale: usize,
): void {
  for (let i = 0; i < N; i++) {
    const from = x + floats(i * width),
      to = y + floats(i * width);
    const r = inverseRms(from, width, epsilon);
    store<f32>(scale + floats(i), r);
    const rs = f32x4.splat(r);
    for (let j = 0; j < width; j += 4)
      v128.store(
        to + floats(j),
        f32x4.mul(f32x4.mul(v128.load(from + floats(j)), rs), v128.load(weight + floats(j))),
      );
  }
}

/**
 * With x̂ = x · scale and g = dy · weight: dx = (g - x̂ · mean(g · x̂)) · scale, dweight = Σ dy ·
 * x̂.
 */
export function rmsNormGradient(
  N: i32,
  width: i32,
  x: usize,
  weight: usize,
  scale: usize,
  dy: usize,
  dx: usize,
  dweight: usize,
): void {
  memory.fill(dweight, 0, floats(width));
  for (let i = 0; i < N; i++) {
    const from = x + floats(i * width),
      by = dy + floats(i * width),
      to = dx + floats(i * width);
    const rs = f32x4.splat(load<f32>(scale + floats(i)));
    let products = f32x4.splat(0);
    for (let j = 0; j < width; j += 4) {
      const unit = f32x4.mul(v128.load(from + floats(j)), rs),
        d = v128.load(by + floats(j)),
        dw = dweight + floats(j);
      products = multiplyAdd(products, f32x4.mul(d, v128.load(weight + floats(j))), unit);
      v128.store(dw, multiplyAdd(v128.load(dw), d, unit));
    }
    const mean = f32x4.splat(sumOf(products) / <f32>width);
    for (let j = 0; j < width; j += 4) {
      const unit = f32x4.mul(v128.load(from + floats(j)), rs);
      const g = f32x4.mul(v128.load(by + floats(j)), v128.load(weight + floats(j)));
      v128.store(to + floats(j), f32x4.mul(f32x4.sub(g, f32x4.mul(unit, mean)), rs));
    }
  }
}
