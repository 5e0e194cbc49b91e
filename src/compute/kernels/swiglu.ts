// SwiGLU: silu(gate) · up, where a row has its gates first and then its ups. Sizes are
// multiples of 4.
import { floats, sigmoid } from "./vector";

export function swiglu(N: i32, hidden: i32, gateUp: usize, out: usize): void {
  for (let i = 0; i < N; i++) {
    const gates = gateUp + floats(i * 2 * hidden),
      ups = gates + floats(hidden),
      to = out + floats(i * hidden);
    for (let j = 0; j < hidden; j += 4) {
      const gate = v128.load(gates + floats(j));
      v128.store(
        to + floats(j),
        f32x4.mul(f32x4.mul(gate, sigmoid(gate)), v128.load(ups + floats(j))),
      );
    }
  }
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
    for (let j = 0; j < hidden; j += 4) {
      const gate = v128.load(gates + floats(j)),
        d = v128.load(by + floats(j));
      const s = sigmoid(gate),
        silu = f32x4.mul(gate, s);
      v128.store(dups + floats(j), f32x4.mul(d, silu));
      v128.store(
        dgates + floats(j),
        f32x4.mul(
          f32x4.mul(d, v128.load(ups + floats(j))),
          f32x4.add(s, f32x4.sub(silu, f32x4.mul(silu, s))),
        ),
      );
    }
  }
}
