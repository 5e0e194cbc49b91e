/**
 * A quick check that the current backend computes correctly: one matrix product and one gradient,
 * compared with plain JavaScript.
 */
import * as tf from "@tensorflow/tfjs-core";
import { UserError } from "../userError.ts";

const [rows, inner, columns] = [9, 13, 11];
const gatheredRows = [3, 0, 3, 7];

/** Throws a `UserError` if the backend's results differ from those of plain JavaScript. */
export async function checkBackend(): Promise<void> {
  const a = Float32Array.from({ length: rows * inner }, (_, i) => Math.sin(i + 1) / 2);
  const b = Float32Array.from({ length: columns * inner }, (_, i) => Math.cos(i + 1) / 2);
  const [product, gradient] = tf.tidy(() => {
    const matrix = tf.tensor2d(a, [rows, inner]);
    const other = tf.tensor2d(b, [columns, inner]);
    const rowIndices = tf.tensor1d(gatheredRows, "int32");
    return [
      tf.matMul(matrix, other, false, true),
      tf.grad((x: tf.Tensor) => tf.sum(tf.square(tf.gather(x as tf.Tensor2D, rowIndices))))(matrix),
    ] as const;
  });
  const [products, gradients] = await Promise.all([product.data(), gradient.data()]);
  tf.dispose([product, gradient]);
  assertClose("a matrix product", products, computeProduct(a, b));
  assertClose("the gradient of a gather", gradients, computeGradient(a));
}

const computeProduct = (a: Float32Array, b: Float32Array): number[] =>
  Array.from({ length: rows * columns }, (_, at) => {
    let sum = 0;
    for (let k = 0; k < inner; k++)
      sum +=
        (a[Math.floor(at / columns) * inner + k] as number) *
        (b[(at % columns) * inner + k] as number);
    return sum;
  });

/** d Σ x² = 2x, once for each time that the row was gathered. */
const computeGradient = (a: Float32Array): number[] =>
  Array.from(
    a,
    (value, at) => 2 * value * gatheredRows.filter(row => row === Math.floor(at / inner)).length,
  );

function assertClose(name: string, actual: ArrayLike<number>, expected: readonly number[]): void {
  expected.forEach((value, i) => {
    // also catches NaN
    if (!(Math.abs((actual[i] as number) - value) < 1e-4))
      throw new UserError(
        `the backend ${tf.getBackend()} computes ${name} incorrectly: ${actual[i]} instead of ${value}`,
        "use another backend, update the driver of the graphics card, or install the backend again",
      );
  });
}
