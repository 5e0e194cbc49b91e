/** The wasm backend: matrix products, replaced kernels, and the kernel files. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { beforeAll, describe, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { runningBackend } from "../../src/compute/runningBackend.ts";
import { checkClose, programs, randomArray } from "./numbers.ts";

const startWasmBackend = () => startBackend("wasm", { programs });

test("memory that is full is an error with numbers, and tensors keep their values", async () => {
  await startWasmBackend();
  const before = tf.tensor1d(Array.from({ length: 1000 }, () => 7));
  // almost all that 32 bits can address
  const createLarge = () => runningBackend().memory!.output([1_073_700_000]);
  expect(createLarge).toThrow(/the memory of the backend wasm is full: it has .* 4,295 MB more/);
  expect([...before.dataSync()].every(it => it === 7)).toBe(true);
  before.dispose();
});

describe("matrix products on wasm equal those of plain JavaScript", () => {
  beforeAll(startWasmBackend);

  interface Product {
    readonly a: readonly number[];
    readonly b: readonly number[];
    readonly transposeA?: boolean;
    readonly transposeB?: boolean;
  }

  /** Computes every entry by its definition. */
  function multiply(
    a: tf.Tensor,
    b: tf.Tensor,
    { transposeA = false, transposeB = false }: Product,
  ): number[] {
    const toArrays = (x: tf.Tensor, transposed: boolean) =>
      tf.tidy(() => (transposed ? tf.transpose(x, [0, 2, 1]) : x).arraySync()) as number[][][];
    const [left, right] = [toArrays(a, transposeA), toArrays(b, transposeB)];
    return Array.from(
      { length: Math.max(left.length, right.length) },
      (_, i) => [left[i % left.length]!, right[i % right.length]!] as const,
    ).flatMap(([l, r]) =>
      l.flatMap(row => r[0]!.map((_, j) => row.reduce((sum, it, k) => sum + it * r[k]![j]!, 0))),
    );
  }

  const check = (product: Product) =>
    test(`${product.a.join(" x ")}${product.transposeA ? "ᵀ" : ""} by ${product.b.join(" x ")}${product.transposeB ? "ᵀ" : ""}`, () => {
      const createOperand = (shape: readonly number[], seed: number) =>
        tf.tensor3d(
          randomArray(
            shape.reduce((x, y) => x * y),
            seed,
          ),
          shape as [number, number, number],
        );
      const [a, b] = [createOperand(product.a, 1), createOperand(product.b, 2)];
      const out = tf.matMul(a, b, product.transposeA, product.transposeB);
      checkClose(out.dataSync(), multiply(a, b, product));
      tf.dispose([a, b, out]);
    });

  check({ a: [1, 1, 1], b: [1, 1, 1] });
  check({ a: [1, 7, 5], b: [1, 5, 9] });
  check({ a: [1, 8, 32], b: [1, 32, 16] });
  check({ a: [1, 5, 7], b: [1, 5, 9], transposeA: true });
  check({ a: [1, 7, 5], b: [1, 9, 5], transposeB: true });
  check({ a: [1, 33, 18], b: [1, 31, 33], transposeA: true, transposeB: true });
  check({ a: [3, 6, 10], b: [3, 11, 10], transposeB: true });
  check({ a: [3, 10, 6], b: [1, 10, 3], transposeA: true });
  check({ a: [1, 2, 70], b: [4, 70, 2] });
  check({ a: [1, 6, 500], b: [1, 500, 9] });
  check({ a: [1, 800, 5], b: [1, 11, 800], transposeA: true, transposeB: true });

  test("operands that do not fit are refused", () => {
    const [a, b] = [tf.zeros<tf.Rank.R2>([2, 3]), tf.zeros<tf.Rank.R2>([2, 3])];
    expect(() => tf.matMul(a, b)).toThrow(/inner/);
  });
});

describe("the wasm backend", () => {
  beforeAll(startWasmBackend);

  test("the next product uses a weight that was changed in place", async () => {
    const { memory } = await startWasmBackend();
    const [x, weight] = [tf.ones<tf.Rank.R2>([1, 4]), tf.ones<tf.Rank.R2>([4, 2])];
    expect([...tf.matMul(x, weight).dataSync()]).toEqual([4, 4]);
    memory!.viewOf(weight).fill(2);
    expect([...tf.matMul(x, weight).dataSync()]).toEqual([8, 8]);
  });

  test("a clone shares the values of its original, and outlives it", async () => {
    const { memory } = await startWasmBackend();
    const original = tf.tensor1d([1, 2, 3]);
    const clone = original.clone();
    expect(memory!.addressOf(clone)).toBe(memory!.addressOf(original));
    original.dispose();
    expect([...clone.dataSync()]).toEqual([1, 2, 3]);
    clone.dispose();
  });

  test("the gradient of a row that is gathered twice is added twice, of others it is zero", () => {
    const gradient = tf.grad((x: tf.Tensor) =>
      tf.sum(
        tf.mul(
          tf.gather(x as tf.Tensor2D, tf.tensor1d([2, 0, 2], "int32")),
          tf.tensor2d([[1], [10], [100]]),
        ),
      ),
    );
    expect([...gradient(tf.zeros([4, 3])).dataSync()]).toEqual([
      10, 10, 10, 0, 0, 0, 101, 101, 101, 0, 0, 0,
    ]);
  });

  test("gathers that the kernel does not support use the stock kernel", () => {
    expect([
      ...tf
        .gather(
          tf.tensor2d([
            [1, 2],
            [3, 4],
          ]),
          tf.tensor1d([1, 1], "int32"),
          1,
        )
        .dataSync(),
    ]).toEqual([2, 2, 4, 4]);
    expect([
      ...tf.gather(tf.tensor1d([5, 6, 7], "int32"), tf.tensor1d([2, 0], "int32")).dataSync(),
    ]).toEqual([7, 5]);
  });

  test("the running backend is the one that was started last", async () => {
    await startBackend("cpu", { programs });
    expect(runningBackend().name).toBe("cpu");
    expect(runningBackend().memory).toBeUndefined();
    await startWasmBackend();
    expect(runningBackend().name).toBe("wasm");
    expect(runningBackend().memory).toBeDefined();
  });
});

describe("the kernels as a file", () => {
  // a data section would overwrite the memory of TensorFlow.js
  test.each(["simd", "relaxed", "wide"])("the %s build has no data section", build => {
    const dataSection = 11;
    expect(listSections(readFileSync(join(programs, `kernels-${build}.wasm`)))).not.toContain(
      dataSection,
    );
  });

  /**
   * The ids of the sections of a wasm file: each is an id, a length in LEB128 and as many bytes.
   */
  function listSections(bytes: Buffer): number[] {
    const ids: number[] = [];
    for (let at = 8; at < bytes.length;) {
      ids.push(bytes[at++]!);
      let [length, shift] = [0, 0];
      for (; bytes[at]! & 0x80; shift += 7) length |= (bytes[at++]! & 0x7f) << shift;
      length |= bytes[at++]! << shift;
      at += length;
    }
    return ids;
  }
});
