/**
 * Measures how fast the current backend is: a forward and backward pass through one layer of a
 * model, and the logits of its tokens.
 */
import * as tf from "@tensorflow/tfjs-core";
import { rmsNorm, swiglu, logProbabilities } from "./operations.ts";

/** Sizes of a model, as in `Architecture`. */
export interface PassSizes {
  readonly vocabulary: number;
  readonly width: number;
  readonly hidden: number;
}

const tokens = 512;
const repeats = 3;

/** Seconds of the fastest of three passes over 512 tokens, after one that compiles kernels. */
export async function measurePass({
  vocabulary,
  width,
  hidden,
}: PassSizes = defaultSizes): Promise<number> {
  const fill = (shape: [number, number]) =>
    tf.randomNormal<tf.Rank.R2>(shape, 0, 1 / Math.sqrt(shape[1]), "float32", 1);
  const inputs = [
    fill([tokens, width]),
    fill([2 * hidden, width]),
    fill([width, hidden]),
    fill([vocabulary, width]),
  ] as const;
  const scale = tf.ones<tf.Rank.R1>([width]);
  const targets = tf.zeros<tf.Rank.R1>([tokens], "int32");
  const pass = tf.grads((...parts: tf.Tensor[]) => {
    const [x, gateUp, down, embedding] = parts as tf.Tensor2D[];
    const product = (a: tf.Tensor2D, b: tf.Tensor2D): tf.Tensor2D => tf.matMul(a, b, false, true);
    const fed = product(swiglu(product(rmsNorm(x!, scale, 1e-6), gateUp!)), down!);
    return tf.sum(logProbabilities(product(tf.add(x!, fed), embedding!), targets));
  });
  let best = Infinity;
  for (let i = 0; i <= repeats; i++) {
    const start = performance.now();
    const gradients = tf.tidy(() => pass([...inputs]));
    // a backend may compute in the background until a result is read
    await gradients.at(-1)!.data();
    tf.dispose(gradients);
    if (i > 0) best = Math.min(best, (performance.now() - start) / 1000);
  }
  tf.dispose([...inputs, scale, targets]);
  return best;
}

/** Those of the small student. */
const defaultSizes: PassSizes = { vocabulary: 2048, width: 128, hidden: 384 };
