// AdamW in place, and the squared norm of a gradient.
import { floats } from "./vector";

/** Σ x², in double precision. */
export function sumSquares(n: i32, x: usize): f64 {
  let sum: f64 = 0;
  for (let i = 0; i < n; i++) {
    const value = <f64>load<f32>(x + floats(i));
    sum += value * value;
  }
  return sum;
}

/**
 * first = β₁ first + (1 - β₁) g, second = β₂ second + (1 - β₂) g², weight = weight · (1 - rate ·
 * decay) - rate · (first / correct1) / (√(second / correct2) + ε), for g = gradient · scale.
 */
export function adamW(
  n: i32,
  weight: usize,
  gradient: usize,
  first: usize,
  second: usize,
  rate: f32,
  beta1: f32,
  beta2: f32,
  epsilon: f32,
  decay: f32,
  correct1: f32,
  correct2: f32,
  scale: f32,
): void {
  const kept: f32 = 1 - rate * decay,
    pace: f32 = rate / correct1,
    grow: f32 = <f32>1.0 / correct2;
  let i = 0;
  for (; i + 4 <= n; i += 4) {
    const o = floats(i);
    const g = f32x4.mul(v128.load(gradient + o), f32x4.splat(scale));
    const m = f32x4.add(
      f32x4.mul(f32x4.splat(beta1), v128.load(first + o)),
      f32x4.mul(f32x4.splat(1 - beta1), g),
    );
    const v = f32x4.add(
      f32x4.mul(f32x4.splat(beta2), v128.load(second + o)),
      f32x4.mul(f32x4.splat(1 - beta2), f32x4.mul(g, g)),
    );
    const root = f32x4.add(f32x4.sqrt(f32x4.mul(v, f32x4.splat(grow))), f32x4.splat(epsilon));
    v128.store(first + o, m);
    v128.store(second + o, v);
    v128.store(
      weight + o,
      f32x4.sub(
        f32x4.mul(f32x4.splat(kept), v128.load(weight + o)),
        f32x4.div(f32x4.mul(f32x4.splat(pace), m), root),
      ),
    );
  }
  for (; i < n; i++) {
    const o = floats(i);
    const g: f32 = load<f32>(gradient + o) * scale;
    const m: f32 = beta1 * load<f32>(first + o) + (1 - beta1) * g;
    const v: f32 = beta2 * load<f32>(second + o) + (1 - beta2) * g * g;
    store<f32>(first + o, m);
    store<f32>(second + o, v);
    store<f32>(
      weight + o,
      kept * load<f32>(weight + o) - (pace * m) / (sqrt<f32>(v * grow) + epsilon),
    );
  }
}
