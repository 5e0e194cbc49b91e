/**
 * Converts numbers to and from 16 bits: IEEE 754 binary16, for Nodes without Float16Array, and
 * bfloat16, which is the upper half of 32 bits.
 */

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** Rounds to nearest, ties to even. Numbers that are too large become infinite. */
export function toFloat16(values: Float32Array): Uint16Array {
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < halves.length; i++) halves[i] = encodeFloat16(values[i] as number);
  return halves;
}

export function fromFloat16(halves: Uint16Array): Float32Array {
  decoded ??= Float32Array.from({ length: 2 ** 16 }, (_, half) => decodeFloat16(half));
  const values = new Float32Array(halves.length);
  for (let i = 0; i < values.length; i++) values[i] = decoded[halves[i] as number] as number;
  return values;
}

/** The number that each of the 65,536 halves stands for: faster than decoding every weight. */
let decoded: Float32Array | undefined;

function encodeFloat16(value: number): number {
  single[0] = value;
  const word = bits[0] as number;
  const sign = (word >>> 16) & 0x8000;
  const exponent = (word >>> 23) & 0xff;
  const fraction = word & 0x7fffff;
  if (exponent === 0xff) return sign | 0x7c00 | (fraction ? 0x200 : 0);
  const scaled = exponent - 127 + 15;
  if (scaled >= 0x1f) return sign | 0x7c00;
  // below 2^-14 the number is subnormal: the leading 1 is explicit and the fraction shifted
  const shift = scaled <= 0 ? 14 - scaled : 13;
  if (shift > 24) return sign;
  const whole = scaled <= 0 ? fraction | 0x800000 : fraction;
  const truncated = (scaled <= 0 ? 0 : scaled << 10) | (whole >>> shift);
  const rest = whole & ((1 << shift) - 1);
  const middle = 1 << (shift - 1);
  // rounding up may carry into the exponent, which is correct
  return sign | (truncated + (rest > middle || (rest === middle && (truncated & 1) === 1) ? 1 : 0));
}

function decodeFloat16(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Rounds to nearest, ties to even. */
export function toBfloat16(values: Float32Array): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < halves.length; i++) {
    const word = words[i] as number;
    halves[i] = (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return halves;
}

export function fromBfloat16(halves: Uint16Array): Float32Array {
  const words = new Uint32Array(halves.length);
  for (let i = 0; i < words.length; i++) words[i] = (halves[i] as number) << 16;
  return new Float32Array(words.buffer);
}
