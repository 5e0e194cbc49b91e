// Log-probabilities of target tokens from rows of logits, and sampling of new tokens.
import { exp, expOne, floats, log, maxOfRow, sumOf } from "./vector";

/** Σ exp((x - most) · inverse) over a row. The scratch has room for eight floats. */
function sumExp(row: usize, n: i32, most: f32, inverse: f32, scratch: usize): f32 {
  const mosts = f32x4.splat(most),
    inverses = f32x4.splat(inverse);
  let left = f32x4.splat(0),
    right = left;
  let tail: f32 = 0;
  let j = 0;
  for (; j + 8 <= n; j += 8) {
    const at = row + floats(j);
    left = f32x4.add(left, exp(f32x4.mul(f32x4.sub(v128.load(at), mosts), inverses)));
    right = f32x4.add(right, exp(f32x4.mul(f32x4.sub(v128.load(at, 16), mosts), inverses)));
  }
  for (; j < n; j++) tail += expOne((load<f32>(row + floats(j)) - most) * inverse);
  // V8 merges only vectors that are stored
  v128.store(scratch, right, 16);
  v128.store(scratch, left);
  return tail + sumOf(f32x4.add(v128.load(scratch), v128.load(scratch, 16)));
}

/**
 * logits (M, V) and targets (M) to log-probabilities (M) and log Σ exp (M). The scratch has room
 * for eight floats.
 */
export function logProbabilities(
  M: i32,
  V: i32,
  logits: usize,
  target: usize,
  logprob: usize,
  logSum: usize,
  scratch: usize,
): void {
  for (let i = 0; i < M; i++) {
    const row = logits + floats(i * V);
    const most = maxOfRow(row, V);
    const whole: f32 = most + <f32>log(<f64>sumExp(row, V, most, 1, scratch));
    store<f32>(logSum + floats(i), whole);
    store<f32>(logprob + floats(i), load<f32>(row + floats(load<i32>(target + floats(i)))) - whole);
  }
}

/** dlogits = d · (onehot(target) - softmax(logits)) */
export function logProbabilitiesGradient(
  M: i32,
  V: i32,
  logits: usize,
  target: usize,
  logSum: usize,
  d: usize,
  dlogits: usize,
): void {
  for (let i = 0; i < M; i++) {
    const row = logits + floats(i * V),
      to = dlogits + floats(i * V);
    const by = load<f32>(d + floats(i));
    if (by == 0) {
      memory.fill(to, 0, floats(V));
      continue;
    }
    const whole = load<f32>(logSum + floats(i));
    const wholes = f32x4.splat(whole),
      negative = f32x4.splat(-by);
    let j = 0;
    for (; j + 8 <= V; j += 8) {
      const at = row + floats(j);
      const left = f32x4.mul(negative, exp(f32x4.sub(v128.load(at), wholes))),
        right = f32x4.mul(negative, exp(f32x4.sub(v128.load(at, 16), wholes)));
      v128.store(to + floats(j), right, 16);
      v128.store(to + floats(j), left);
    }
    for (; j < V; j++) store<f32>(to + floats(j), -by * expOne(load<f32>(row + floats(j)) - whole));
    const chosen = to + floats(load<i32>(target + floats(i)));
    store<f32>(chosen, load<f32>(chosen) + by);
  }
}

/** The first token whose logit is `most`. */
function firstAt(row: usize, V: i32, most: f32): i32 {
  for (let j = 0; j < V; j++) if (load<f32>(row + floats(j)) == most) return j;
  return 0;
}

/**
 * Samples one token per row: at temperature 0 the most likely one, else the token at which the
 * cumulative sum of exp reaches `uniform` · Σ. Log-probabilities are at the temperature of the
 * sampling, at 1 for the most likely token. The scratch has room for eight floats.
 */
export function sampleRows(
  M: i32,
  V: i32,
  logits: usize,
  temperature: usize,
  uniform: usize,
  id: usize,
  logprob: usize,
  scratch: usize,
): void {
  for (let i = 0; i < M; i++) {
    const row = logits + floats(i * V);
    const most = maxOfRow(row, V);
    const heat = load<f32>(temperature + floats(i));
    const inverse: f32 = heat > 0 ? <f32>1.0 / heat : <f32>1.0;
    const sum: f32 = sumExp(row, V, most, inverse, scratch);
    let chosen = -1;
    if (heat > 0) {
      let left: f32 = load<f32>(uniform + floats(i)) * sum;
      let j = 0;
      // four tokens at a time, up to the four that contain the sampled one
      for (; j + 4 <= V; j += 4) {
        const four = sumOf(
          exp(
            f32x4.mul(
              f32x4.sub(v128.load(row + floats(j)), f32x4.splat(most)),
              f32x4.splat(inverse),
            ),
          ),
        );
        if (left < four) break;
        left -= four;
      }
      for (; j < V; j++) {
        left -= expOne((load<f32>(row + floats(j)) - most) * inverse);
        if (left < 0) {
          chosen = j;
          break;
        }
      }
    }
    // greedy, or rounding has left a remainder after the last token
    if (chosen < 0) chosen = firstAt(row, V, most);
    store<i32>(id + floats(i), chosen);
    store<f32>(
      logprob + floats(i),
      (load<f32>(row + floats(chosen)) - most) * inverse - <f32>log(<f64>sum),
    );
  }
}
