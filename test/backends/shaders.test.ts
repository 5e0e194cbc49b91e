/**
 * The kernels on the shaders of WebGPU compute what stock operations do, with sizes that no
 * workgroup divides. Other backends have no such kernels.
 */
import * as tf from "@tensorflow/tfjs-core";
import { beforeAll, expect, test } from "vitest";
import { createLayout } from "../../src/compute/attentionLayout.ts";
import { startBackend } from "../../src/compute/backend.ts";
import * as operations from "../../src/compute/operations.ts";
import { hasKernel, runKernel } from "../../src/compute/runKernel.ts";
import * as stock from "../../src/compute/stockOperations.ts";
import { chooseToken } from "../../src/model/transformer/decoderStep.ts";
import { packGroups } from "../../src/model/transformer/packedBatch.ts";
import { createRopeTables } from "../../src/model/transformer/transformer.ts";
import { checkClose, programs, randomArray } from "../compute/numbers.ts";
import { createTokens, tiny } from "../model/tiny.ts";

beforeAll(async () => {
  await startBackend("webgpu", { programs, backends: process.env["PROVE_BACKENDS"]! });
  // otherwise stock operations would be compared with themselves
  for (const it of ["FusedRmsNorm", "FusedSoftmax"] as const) expect(hasKernel(it)).toBe(true);
});

const random = <R extends tf.Rank>(seed: number, ...shape: number[]) =>
  tf.tensor<R>(randomArray(tf.util.sizeFromShape(shape), seed), shape as tf.ShapeMap[R]);

type Operation = (...inputs: tf.Tensor[]) => tf.Tensor;

/** The output, and the gradients of the inputs for a random gradient of the output. */
async function compute(operation: Operation, inputs: tf.Tensor[]): Promise<Float32Array[]> {
  const y = operation(...inputs);
  const dy = tf.tensor(randomArray(y.size, 99), y.shape);
  const gradients = tf.grads(operation)(inputs, dy);
  return Promise.all([y, ...gradients].map(it => it.data<"float32">()));
}

async function checkOperation(
  fused: Operation,
  reference: Operation,
  inputs: tf.Tensor[],
): Promise<void> {
  const [actual, expected] = [await compute(fused, inputs), await compute(reference, inputs)];
  expect(actual.length).toBe(inputs.length + 1);
  for (const [i, it] of expected.entries())
    checkClose(actual[i]!, it, 1e-5, i === 0 ? "output" : `gradient of input ${i}`);
}

// some take more workgroups than one dimension has
test.each([
  [1, 200],
  [70, 200],
  [32_769, 4],
])("a norm of %i rows of %i numbers", (rows, width) =>
  checkOperation(
    (x, weight) => operations.rmsNorm(x as tf.Tensor2D, weight as tf.Tensor1D, 1e-6),
    (x, weight) => stock.rmsNorm(x, weight as tf.Tensor1D, 1e-6),
    [random(1, rows, width), random(2, width)],
  ),
);

test.each([
  [33, 70],
  [2_100, 1_000],
])("SwiGLU of %i rows of %i numbers", (rows, width) =>
  checkOperation(
    x => operations.swiglu(x as tf.Tensor2D),
    x => stock.swiglu(x as tf.Tensor2D),
    [random(3, rows, 2 * width)],
  ),
);

test("log-probabilities of 40 rows in a vocabulary of 1,003", () => {
  const targets = tf.tensor1d(
    Array.from({ length: 40 }, (_, i) => (i * 331) % 1003),
    "int32",
  );
  return checkOperation(
    x => operations.logProbabilities(x as tf.Tensor2D, targets),
    x => stock.logProbabilities(x as tf.Tensor2D, targets),
    [random(4, 40, 1003)],
  );
});

const heads = { heads: 6, kvHeads: 2, headWidth: 72, epsilon: 1e-6, scale: 0.2 };
const rope = () => createRopeTables({ ...tiny, headWidth: heads.headWidth });

test.each([
  ["without norms", false],
  ["with norms", true],
])("attention of packed conversations with heads of 72 numbers, %s", async (_, isNormed) => {
  const branch = (length: number, seed: number) => ({
    ids: createTokens(length, seed),
    mask: Array.from({ length }, () => 1),
  });
  const layout = createLayout(
    packGroups([{ prefix: createTokens(30, 1), branches: [branch(41, 2), branch(9, 3)] }]),
  );
  const shape = { ...heads, rope: rope(), layout };
  const rows = layout.positions.shape[0];
  const attendWith =
    (attention: typeof operations.attention): Operation =>
    (qkv, query, key) =>
      attention(
        qkv as tf.Tensor2D,
        query && key ? { query: query as tf.Tensor1D, key: key as tf.Tensor1D } : undefined,
        shape,
      );
  const norms = isNormed ? [random(6, 72), random(7, 72)] : [];
  const inputs = [random(5, rows, (6 + 2 * 2) * 72), ...norms];
  await checkOperation(attendWith(operations.attention), attendWith(stock.attention), inputs);
  // kernels free what they compute in between
  const before = tf.backend().numDataIds();
  const differentiate = tf.grads(attendWith(operations.attention));
  tf.tidy(() => void differentiate(inputs));
  expect(tf.backend().numDataIds()).toBe(before);
});

test("splitting heads and attending without a gradient", async () => {
  const positions = tf.tensor1d([5, 0, 17], "int32");
  const qkv = random<tf.Rank.R2>(8, 3, (6 + 2 * 2) * 72);
  const shape = { ...heads, rope: rope() };
  const norms = { query: random<tf.Rank.R1>(9, 72), key: random<tf.Rank.R1>(10, 72) };
  const mask = tf.tensor2d([0, -1e9, -1e9, 0, 0, -1e9, 0, 0, 0], [3, 3]);
  const split = operations.createHeadSplitter(shape.rope, positions)(qkv, norms, shape);
  const actual = operations.attend(split, mask, shape.scale);
  const angles = stock.gatherAngles(shape.rope, positions);
  const expected = stock.attend(stock.splitHeads(qkv, norms, shape, angles), mask, shape.scale);
  checkClose(await actual.data<"float32">(), await expected.data<"float32">(), 1e-5, "values");
});

test("the choice of tokens in a vocabulary of 5,003", async () => {
  const logits = tf.mul(random<tf.Rank.R2>(11, 40, 5003), 6);
  const choices = Array.from({ length: 40 }, (_, i) => ({
    temperature: (i % 4) / 2,
    uniform: (i + 0.5) / 40,
  }));
  const inputs = {
    logits,
    choices: tf.tensor2d(choices.map(it => [it.temperature, it.uniform])),
  };
  const actual = await runKernel("FusedChoose", inputs)[0]!.data<"float32">();
  const values = await logits.data<"float32">();
  const expected = choices.map((it, i) =>
    chooseToken(values.subarray(i * 5003, (i + 1) * 5003), it),
  );
  expect(expected.map((_, i) => actual[2 * i])).toEqual(expected.map(it => it.id));
  const logprobs = expected.map((_, i) => actual[2 * i + 1]!);
  checkClose(
    logprobs,
    expected.map(it => it.logprob),
    1e-5,
    "log-probabilities",
  );
});

test("the choice of the first of the likeliest tokens", async () => {
  const logits = tf.tensor2d([Array.from({ length: 300 }, (_, i) => (i % 100 === 70 ? 2 : 1))]);
  const [chosen] = runKernel("FusedChoose", { logits, choices: tf.tensor2d([[0, 0.9]]) });
  expect((await chosen!.data())[0]).toBe(70);
});

test("tokens whose logits are not numbers", async () => {
  const logits = tf.mul<tf.Tensor2D>(tf.ones([2, 100]), NaN);
  const [chosen] = runKernel("FusedChoose", {
    logits,
    choices: tf.tensor2d([
      [0, 0.5],
      [1, 0.5],
    ]),
  });
  const values = await chosen!.data();
  expect([values[0], values[2]]).toEqual([0, 0]);
  expect([values[1], values[3]]).toEqual([NaN, NaN]);
});

test("the sum of the squares of 40,000 numbers and a total", async () => {
  const x = random(12, 200, 200);
  const [parts] = runKernel("FusedAddSquares", { x, total: tf.scalar(5) });
  const expected = (await x.data<"float32">()).reduce((sum, it) => sum + it * it, 5);
  checkClose(await tf.sum(parts!).data<"float32">(), [expected], 1e-5, "sum");
});

test("freed buffers of many sizes take bounded memory", async () => {
  for (let i = 0; i < 200; i++) {
    const y = tf.tidy(() => tf.square(tf.zeros([2 ** 20 + i])));
    await y.data();
    y.dispose();
  }
  const { numBytesAllocatedInGPU } = tf.memory() as unknown as { numBytesAllocatedInGPU: number };
  // 200 sizes of 4 MB, each of two tensors and a copy to be read, would be 2.5 GB
  expect(numBytesAllocatedInGPU).toBeLessThan(1e9);
});
