// Copies and sums of whole rows: the embedding and its gradient.
import { floats } from "./vector";

/** out[i] = x[index[i]] for rows of `width` floats. */
export function gatherRows(n: i32, width: i32, x: usize, index: usize, out: usize): void {
  for (let i = 0; i < n; i++)
    memory.copy(
      out + floats(i * width),
      x + floats(load<i32>(index + floats(i)) * width),
      floats(width),
    );
}

/** out[segment[i]] += x[i], starting at zero. Rows without a valid segment are ignored. */
export function segmentSum(
  n: i32,
  width: i32,
  segments: i32,
  x: usize,
  segment: usize,
  out: usize,
): void {
  memory.fill(out, 0, floats(segments * width));
  for (let i = 0; i < n; i++) {
    const s = load<i32>(segment + floats(i));
    if (s >= 0 && s < segments) addTo(width, x + floats(i * width), out + floats(s * width));
  }
}

/** y += x */
export function addTo(n: i32, x: usize, y: usize): void {
  let i = 0;
  for (; i + 4 <= n; i += 4)
    v128.store(y + floats(i), f32x4.add(v128.load(y + floats(i)), v128.load(x + floats(i))));
  for (; i < n; i++) store<f32>(y + floats(i), load<f32>(y + floats(i)) + load<f32>(x + floats(i)));
}
