/**
 * Seeded streams of numbers for first weights and for sampling. The same seed gives the same
 * numbers on every machine and backend.
 */

/** A stream of uniform numbers in [0, 1) (the `mulberry32` generator). */
export function uniforms(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** `n` normally distributed numbers with mean 0 (Box and Muller's method). */
export function gaussians(n: number, deviation: number, uniform: () => number): Float32Array {
  const values = new Float32Array(n);
  for (let i = 0; i < n; i += 2) {
    const radius = deviation * Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    values[i] = radius * Math.cos(angle);
    if (i + 1 < n) values[i + 1] = radius * Math.sin(angle);
  }
  return values;
}
