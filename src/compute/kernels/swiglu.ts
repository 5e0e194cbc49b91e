// SwiGLU: silu(gate) · up, where a row has its gates first and then its ups. Sizes are
// multiples of 4.
import { floats, sigmoid } from "./vector";

export function swiglu(N: i32, hidden: i32, gateUp: usize, out: usize): void {
  for (let i = 0; i < N; i++) {
    const gates = gateUp + floats(i * 2 * hidden),
      ups = gates + floats(hidden),
      to = out + floats(i * hidden);
    let j = 0;
    for (; j + 8 <= hidden; j += 8) {
      const gate = gates + floats(j),
        up = ups + floats(j);
      const left = gated(v128.load(gate), v128.load(up)),
        right = gated(v128.load(gate, 16), v128.load(up, 16));
      v128.store(to + floats(j), right, 16);
      v128.store(to + floats(j), left);
    }
    if (j < hidden)
      v128.store(to + floats(j), gated(v128.load(gates + floats(j)), v128.load(ups + floats(j))));
  }
}

/** silu(gate) · up */
@inline function gated(gate: v128, up: v128): v128 {
  return f32x4.mul(f32x4.mul(gate, sigmoid(gate)), up);
}

/** d silu(g) = s + g·s - g·s·s for s = sigmoid(g). */
export function swigluGradient(
  N: i32,
  hidden: i32,
  gateUp: usize,
  dout: usize,
  dgateUp: usize,
): void {
  for (let i = 0; i < N; i++) {
    const gates = gateUp + floats(i * 2 * hidden),
      ups = gates + floats(hidden);
    const dgates = dgateUp + floats(i * 2 * hidden),
      dups = dgates + floats(hidden),
      by = dout + floats(i * hidden);
    let j = 0;
    for (; j + 8 <= hidden; j += 8) {
      const gate = gates + floats(j),
        up = ups + floats(j),
        d = by + floats(j);
      const g0 = v128.load(gate),
        g1 = v128.load(gate, 16);
      const d0 = v128.load(d),
        d1 = v128.load(d, 16);
      const u0 = f32x4.mul(d0, v128.load(up)),
        u1 = f32x4.mul(d1, v128.load(up, 16));
      const s0 = sigmoid(g0),
        s1 = sigmoid(g1);
      const silu0 = f32x4.mul(g0, s0),
        silu1 = f32x4.mul(g1, s1);
      v128.store(dups + floats(j), f32x4.mul(d1, silu1), 16);
      v128.store(dups + floats(j), f32x4.mul(d0, silu0));
      v128.store(dgates + floats(j), f32x4.mul(u1, slope(s1, silu1)), 16);
      v128.store(dgates + floats(j), f32x4.mul(u0, slope(s0, silu0)));
    }
    if (j < hidden) {
      const gate = v128.load(gates + floats(j)),
        d = v128.load(by + floats(j));
      const s = sigmoid(gate),
        silu = f32x4.mul(gate, s);
      v128.store(dups + floats(j), f32x4.mul(d, silu));
      v128.store(
        dgates + floats(j),
        f32x4.mul(f32x4.mul(d, v128.load(ups + floats(j))), slope(s, silu)),
      );
    }
  }
}

/** d silu(g) of a gate with this sigmoid and silu. */
@inline function slope(s: v128, silu: v128): v128 {
  return f32x4.add(s, f32x4.sub(silu, f32x4.mul(silu, s)));
}
