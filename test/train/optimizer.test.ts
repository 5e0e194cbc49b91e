/** AdamW: steps worked out by hand, clipping, decay, stored states, and both implementations. */
import * as tf from "@tensorflow/tfjs-core";
import { beforeAll, describe, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import {
  initializeModel,
  type Gradients,
  type Model,
} from "../../src/model/transformer/transformer.ts";
import { createAdamW } from "../../src/train/optimizer.ts";
import { checkClose, programs, randomArray } from "../compute/numbers.ts";
import { tiny } from "../model/tiny.ts";

/** Gradients with one value for all entries of a parameter, by name; 0 for other parameters. */
const fillGradients = (model: Model, values: Readonly<Record<string, number>>): Gradients =>
  new Map([...model.parameters].map(([name, it]) => [name, tf.fill(it.shape, values[name] ?? 0)]));

const createRandomGradients = (model: Model, seed: number, size: number): Gradients =>
  new Map(
    [...model.parameters].map(([name, it], i) => [
      name,
      tf.tensor(
        randomArray(it.size, seed + i).map(x => x * size),
        it.shape,
      ),
    ]),
  );

const getValues = (model: Model, name: string) => [...model.parameters.get(name)!.dataSync()];

describe.each(["wasm", "cpu"] as const)("AdamW on %s", name => {
  beforeAll(() => startBackend(name, { programs }));

  // norm has 16 entries at 1; a gradient of 0.1 in each has the norm 0.4, which is not clipped
  test("first step: 1 - 0.01 · 0.1 / (√0.1² + 0) = 0.99, second: m = 0.9·0.01 + 0.1·(-0.2) = -0.011, v = 0.98·0.0002 + 0.02·0.04 = 0.000996", async () => {
    const model = initializeModel(tiny, 1);
    const optimizer = createAdamW(model, {
      beta1: 0.9,
      beta2: 0.98,
      epsilon: 0,
      weightDecay: 0,
      clipNorm: 10,
    });
    const first = await optimizer.step(fillGradients(model, { norm: 0.1 }), 0.01);
    expect(first.norm).toBeCloseTo(0.4, 6);
    for (const it of getValues(model, "norm")) expect(it).toBeCloseTo(0.99, 6);
    await optimizer.step(fillGradients(model, { norm: -0.2 }), 0.01);
    const move = (0.01 * (-0.011 / (1 - 0.9 ** 2))) / Math.sqrt(0.000996 / (1 - 0.98 ** 2));
    for (const it of getValues(model, "norm")) expect(it).toBeCloseTo(0.99 - move, 6);
    optimizer.dispose();
    model.dispose();
  });

  test("a gradient of norm 4 clipped to 1 moves weights like a quarter of it, and the reported norm is 4", async () => {
    const stepWith = async (gradient: number) => {
      const model = initializeModel(tiny, 1);
      // with an epsilon of 1, the step depends on the size of the gradient
      const optimizer = createAdamW(model, { epsilon: 1, clipNorm: 1 });
      const { norm } = await optimizer.step(fillGradients(model, { norm: gradient }), 0.01);
      return { norm, values: getValues(model, "norm") };
    };
    expect((await stepWith(1)).norm).toBeCloseTo(4, 6);
    checkClose((await stepWith(1)).values, (await stepWith(0.25)).values, 1e-7);
    expect((await stepWith(1)).values[0]).toBeLessThan(1);
  });

  test("weight decay scales matrices by 1 - rate · decay, but neither the embedding nor scales", async () => {
    const model = initializeModel(tiny, 1);
    const before = new Map([...model.parameters.keys()].map(it => [it, getValues(model, it)]));
    await createAdamW(model, { weightDecay: 0.5 }).step(fillGradients(model, {}), 0.1);
    const getRatios = (name: string) =>
      getValues(model, name).map((it, i) => it / before.get(name)![i]!);
    for (const it of getRatios("layers.0.attention.qkv")) expect(it).toBeCloseTo(1 - 0.1 * 0.5, 6);
    for (const it of [...getRatios("embedding"), ...getRatios("layers.1.feed.norm")])
      expect(it).toBe(1);
  });

  test("a restored optimizer continues exactly as an uninterrupted one", async () => {
    const [uninterrupted, interrupted] = [initializeModel(tiny, 1), initializeModel(tiny, 1)];
    const only = createAdamW(uninterrupted);
    for (let i = 0; i < 4; i++)
      await only.step(createRandomGradients(uninterrupted, 10 * i, 0.1), 0.01);
    const first = createAdamW(interrupted);
    for (let i = 0; i < 2; i++)
      await first.step(createRandomGradients(interrupted, 10 * i, 0.1), 0.01);
    const state = await first.state();
    first.dispose();
    expect(state.step).toBe(2);
    const second = createAdamW(interrupted);
    second.restore(state);
    for (let i = 2; i < 4; i++)
      await second.step(createRandomGradients(interrupted, 10 * i, 0.1), 0.01);
    for (const parameter of uninterrupted.parameters.keys())
      expect(getValues(interrupted, parameter)).toEqual(getValues(uninterrupted, parameter));
  });

  test("after undo, weights and state are those of remember, as often as it is called", async () => {
    const [model, other] = [initializeModel(tiny, 1), initializeModel(tiny, 1)];
    const [optimizer, only] = [createAdamW(model), createAdamW(other)];
    for (let i = 0; i < 3; i++) {
      const gradients = createRandomGradients(model, 10 * i, 0.1);
      optimizer.remember();
      await optimizer.step(createRandomGradients(model, 99, 1), 0.1);
      await optimizer.step(gradients, 0.1);
      optimizer.undo();
      await optimizer.step(gradients, 0.01);
      await only.step(gradients, 0.01);
    }
    expect(await optimizer.state()).toEqual(await only.state());
    for (const parameter of model.parameters.keys())
      expect(getValues(model, parameter)).toEqual(getValues(other, parameter));
  });

  test("a gradient that is not finite changes nothing, and its norm says so", async () => {
    const model = initializeModel(tiny, 1);
    const optimizer = createAdamW(model);
    const before = getValues(model, "norm");
    expect((await optimizer.step(fillGradients(model, { norm: NaN }), 0.01)).norm).toBeNaN();
    expect(getValues(model, "norm")).toEqual(before);
    expect((await optimizer.state()).step).toBe(0);
  });

  test("a state of another model is refused", async () => {
    const [model, other] = [initializeModel(tiny, 1), initializeModel({ ...tiny, width: 32 }, 1)];
    const state = await createAdamW(other).state();
    expect(() => createAdamW(model).restore(state)).toThrow(/numbers for embedding/);
  });

  test("no step leaks a tensor", async () => {
    const model = initializeModel(tiny, 1);
    const before = tf.memory().numTensors;
    const optimizer = createAdamW(model);
    const gradients = createRandomGradients(model, 1, 1);
    optimizer.remember();
    await optimizer.step(gradients, 0.01);
    const after = tf.memory().numTensors;
    for (let i = 0; i < 3; i++) {
      optimizer.remember();
      await optimizer.step(gradients, 0.01);
    }
    optimizer.undo();
    await optimizer.state();
    expect(tf.memory().numTensors).toBe(after);
    optimizer.dispose();
    tf.dispose([...gradients.values()]);
    expect(tf.memory().numTensors).toBe(before);
  });
});

test("the wasm kernel and stock operations compute the same weights", async () => {
  const trainWith = async (name: "cpu" | "wasm") => {
    await startBackend(name, { programs });
    const model = initializeModel(tiny, 1);
    const optimizer = createAdamW(model);
    for (let i = 0; i < 5; i++) await optimizer.step(createRandomGradients(model, i, 0.5), 0.01);
    return new Map([...model.parameters.keys()].map(it => [it, getValues(model, it)]));
  };
  const [wasm, cpu] = [await trainWith("wasm"), await trainWith("cpu")];
  for (const [name, it] of cpu) checkClose(wasm.get(name)!, it, 1e-6, name);
});
