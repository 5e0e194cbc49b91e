import * as tf from "@tensorflow/tfjs-core";
import { beforeAll, describe, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { UserError } from "../../src/userError.ts";
import { initializeModel, type Gradients, type Model } from "../../src/model/transformer.ts";
import { createAdamW } from "../../src/train/optimizer.ts";
import { checkClose, programs, randomArray } from "../compute/numbers.ts";
import { tiny } from "../model/tiny.ts";

/** The same number as every entry of one parameter's gradient, zero elsewhere. */
const gradientsOf = (model: Model, of: Readonly<Record<string, number>>): Gradients =>
  new Map([...model.parameters].map(([name, it]) => [name, tf.fill(it.shape, of[name] ?? 0)]));

const randomGradients = (model: Model, seed: number, size: number): Gradients =>
  new Map(
    [...model.parameters].map(([name, it], i) => [
      name,
      tf.tensor(
        randomArray(it.size, seed + i).map(x => x * size),
        it.shape,
      ),
    ]),
  );

const values = (model: Model, name: string) => [...model.parameters.get(name)!.dataSync()];

describe.each(["wasm", "cpu"] as const)("AdamW on %s", name => {
  beforeAll(() => startBackend(name, { programs }));

  // norm has 16 entries at 1; a gradient of 0.1 in each has the norm 0.4, which is not clipped
  test("first step: 1 - 0.01 · 0.1 / (√0.1² + 0) = 0.99, second: m = 0.9·0.01 + 0.1·(-0.2) = -0.011, v = 0.98·0.0002 + 0.02·0.04 = 0.000996", () => {
    const model = initializeModel(tiny, 1);
    const optimizer = createAdamW(model, {
      beta1: 0.9,
      beta2: 0.98,
      epsilon: 0,
      weightDecay: 0,
      clipNorm: 10,
    });
    const first = optimizer.step(gradientsOf(model, { norm: 0.1 }), 0.01);
    expect(first.norm).toBeCloseTo(0.4, 6);
    for (const it of values(model, "norm")) expect(it).toBeCloseTo(0.99, 6);
    optimizer.step(gradientsOf(model, { norm: -0.2 }), 0.01);
    const move = (0.01 * (-0.011 / (1 - 0.9 ** 2))) / Math.sqrt(0.000996 / (1 - 0.98 ** 2));
    for (const it of values(model, "norm")) expect(it).toBeCloseTo(0.99 - move, 6);
    optimizer.dispose();
    model.dispose();
  });

  test("a gradient of norm 4 clipped to 1 moves weights as its quarter does, and the norm told is 4", () => {
    const stepWith = (gradient: number) => {
      const model = initializeModel(tiny, 1);
      // an epsilon of 1 lets the size of the gradient show in the step
      const optimizer = createAdamW(model, { epsilon: 1, clipNorm: 1 });
      const { norm } = optimizer.step(gradientsOf(model, { norm: gradient }), 0.01);
      return { norm, values: values(model, "norm") };
    };
    expect(stepWith(1).norm).toBeCloseTo(4, 6);
    checkClose(stepWith(1).values, stepWith(0.25).values, 1e-7);
    expect(stepWith(1).values[0]).toBeLessThan(1);
  });

  test("decay draws matrices, by rate times decay, but neither the embedding nor scales", () => {
    const model = initializeModel(tiny, 1);
    const before = new Map([...model.parameters.keys()].map(it => [it, values(model, it)]));
    createAdamW(model, { weightDecay: 0.5 }).step(gradientsOf(model, {}), 0.1);
    const kept = (name: string) => values(model, name).map((it, i) => it / before.get(name)![i]!);
    for (const it of kept("layers.0.attention.qkv")) expect(it).toBeCloseTo(1 - 0.1 * 0.5, 6);
    for (const it of [...kept("embedding"), ...kept("layers.1.feed.norm")]) expect(it).toBe(1);
  });

  test("restored, it goes on as if it had never stopped", () => {
    const [whole, broken] = [initializeModel(tiny, 1), initializeModel(tiny, 1)];
    const steady = createAdamW(whole);
    for (let i = 0; i < 4; i++) steady.step(randomGradients(whole, 10 * i, 0.1), 0.01);
    const first = createAdamW(broken);
    for (let i = 0; i < 2; i++) first.step(randomGradients(broken, 10 * i, 0.1), 0.01);
    const state = first.state();
    first.dispose();
    expect(state.step).toBe(2);
    const second = createAdamW(broken);
    second.restore(state);
    for (let i = 2; i < 4; i++) second.step(randomGradients(broken, 10 * i, 0.1), 0.01);
    for (const parameter of whole.parameters.keys())
      expect(values(broken, parameter)).toEqual(values(whole, parameter));
  });

  test("a gradient that is not finite is a mistake and changes nothing", () => {
    const model = initializeModel(tiny, 1);
    const optimizer = createAdamW(model);
    const before = values(model, "norm");
    expect(() => optimizer.step(gradientsOf(model, { norm: NaN }), 0.01)).toThrow(UserError);
    expect(values(model, "norm")).toEqual(before);
    expect(optimizer.state().step).toBe(0);
  });

  test("a state of another model is refused", () => {
    const [model, other] = [initializeModel(tiny, 1), initializeModel({ ...tiny, width: 32 }, 1)];
    expect(() => createAdamW(model).restore(createAdamW(other).state())).toThrow(
      /numbers for embedding/,
    );
  });

  test("no step leaves a tensor behind", () => {
    const model = initializeModel(tiny, 1);
    const before = tf.memory().numTensors;
    const optimizer = createAdamW(model);
    const gradients = randomGradients(model, 1, 1);
    optimizer.step(gradients, 0.01);
    const after = tf.memory().numTensors;
    for (let i = 0; i < 3; i++) optimizer.step(gradients, 0.01);
    optimizer.state();
    expect(tf.memory().numTensors).toBe(after);
    optimizer.dispose();
    tf.dispose([...gradients.values()]);
    expect(tf.memory().numTensors).toBe(before);
  });
});

test("wasm in place and stock operations move weights alike", async () => {
  const moved = async (name: "cpu" | "wasm") => {
    await startBackend(name, { programs });
    const model = initializeModel(tiny, 1);
    const optimizer = createAdamW(model);
    for (let i = 0; i < 5; i++) optimizer.step(randomGradients(model, i, 0.5), 0.01);
    return new Map([...model.parameters.keys()].map(it => [it, values(model, it)]));
  };
  const [fast, plain] = [await moved("wasm"), await moved("cpu")];
  for (const [name, it] of plain) checkClose(fast.get(name)!, it, 1e-6, name);
});
