/**
 * The transformer: kernels against stock operations, gradients against finite differences, packing,
 * saved precision, and sizes or batches that are refused.
 */
import * as tf from "@tensorflow/tfjs-core";
import { beforeAll, describe, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { countParameters, type Architecture } from "../../src/model/transformer/architecture.ts";
import {
  packGroups,
  type PackedBatch,
  type PackedGroup,
} from "../../src/model/transformer/packedBatch.ts";
import { fromFloat16, toFloat16 } from "../../src/model/weights.ts";
import {
  disposeGradients,
  computeGradients,
  initializeModel,
  computeLogits,
  createModel,
  computeLogProbabilities,
  type LossFunction,
} from "../../src/model/transformer/transformer.ts";
import { UserError } from "../../src/userError.ts";
import { checkClose, programs, randomArray } from "../compute/numbers.ts";
import { constrainBranches, separateBranches, groups, tiny, createTokens } from "./tiny.ts";

/** A different weight for each target, so that swapped gradients are noticed. */
const weightedLoss: LossFunction = logprobs =>
  tf.neg(tf.sum(tf.mul(logprobs, tf.tensor1d(randomArray(logprobs.size, 5)))));

/** Computes loss, log-probabilities and gradients of a batch on a backend, as plain numbers. */
async function compute(name: "cpu" | "wasm", architecture: Architecture, packed: PackedBatch) {
  await startBackend(name, { programs });
  const model = initializeModel(architecture, 7);
  const result = await computeGradients(model, packed, weightedLoss);
  const gradients = new Map([...result.gradients].map(([key, it]) => [key, it.dataSync()]));
  disposeGradients(result.gradients);
  model.dispose();
  return { loss: result.loss, logprobs: result.logprobs, gradients };
}

function checkEqual(
  actual: Awaited<ReturnType<typeof compute>>,
  expected: Awaited<ReturnType<typeof compute>>,
): void {
  checkClose(actual.logprobs, expected.logprobs, 2e-6, "log-probabilities");
  expect(actual.loss).toBeCloseTo(expected.loss, 4);
  for (const [name, gradient] of expected.gradients)
    checkClose(actual.gradients.get(name)!, gradient, 2e-5, name);
}

describe("the wasm kernels compute the loss and every gradient like stock operations", () => {
  const check = (title: string, architecture: Architecture, batch: readonly PackedGroup[]) =>
    test(title, async () => {
      const packed = packGroups(batch);
      checkEqual(
        await compute("wasm", architecture, packed),
        await compute("cpu", architecture, packed),
      );
    });

  check("odd lengths, shared prompts", tiny, groups);
  check("one key and value head, one layer", { ...tiny, kvHeads: 1, layers: 1 }, groups);
  check("as many key and value heads as queries", { ...tiny, heads: 2 }, groups);
  check("one sequence of two tokens", tiny, [
    { prefix: createTokens(1, 1), branches: [{ ids: createTokens(1, 2), mask: [1] }] },
  ]);
  check("a vocabulary of 37, wider heads", { ...tiny, headWidth: 32, width: 32 }, groups);
  check("a vocabulary of 40", { ...tiny, vocabulary: 40 }, groups);
  check("with tokens that cannot be chosen", tiny, constrainBranches(groups, 21));
});

describe("gradients equal finite differences", () => {
  beforeAll(() => startBackend("cpu", { programs }));

  test.each([
    ["", groups],
    [", with tokens that cannot be chosen", constrainBranches(groups, 22)],
  ])("at two entries of every parameter%s", async (_, all) => {
    const packed = packGroups([all[0]!, all[2]!]);
    const model = initializeModel(tiny, 3);
    const computeLoss = async () => {
      const logprobs = await computeLogProbabilities(model, packed);
      return -randomArray(logprobs.length, 5).reduce(
        (sum, weight, i) => sum + weight * logprobs[i]!,
        0,
      );
    };
    const { gradients } = await computeGradients(model, packed, weightedLoss);
    const [slopes, expected]: [number[], number[]] = [[], []];
    for (const [name, variable] of model.parameters) {
      const values = (variable.dataSync() as Float32Array).slice();
      const gradient = gradients.get(name)!.dataSync() as Float32Array;
      // the entry with the largest gradient and the middle one
      const steepest = gradient.reduce(
        (best, it, i) => (Math.abs(it) > Math.abs(gradient[best]!) ? i : best),
        0,
      );
      for (const at of [steepest, Math.floor(values.length / 2)]) {
        const computeLossAt = async (by: number) => {
          const copy = values.slice();
          copy[at]! += by;
          tf.tidy(() => variable.assign(tf.tensor(copy, variable.shape)));
          return computeLoss();
        };
        // four points, because the norm after the embedding makes small entries nonlinear
        const step = 3e-3;
        slopes.push(
          (8 * ((await computeLossAt(step)) - (await computeLossAt(-step))) -
            ((await computeLossAt(2 * step)) - (await computeLossAt(-2 * step)))) /
            (12 * step),
        );
        expected.push(gradient[at]!);
        await computeLossAt(0);
      }
    }
    slopes.forEach((it, i) => expect(Math.abs(it - expected[i]!), `slope ${i}`).toBeLessThan(1e-3));
  });
});

test("a beginning that branches share is computed once", () => {
  const prefix = createTokens(5, 1);
  const ids = createTokens(20, 2);
  const mask = ids.map(() => 1);
  const parted = [...ids.slice(0, 12), ...createTokens(6, 3)];
  const pack = (...branches: number[][]) =>
    packGroups([
      { prefix, branches: branches.map(it => ({ ids: it, mask: mask.slice(0, it.length) })) },
    ]);
  expect(pack(ids).ids.length).toBe(24);
  expect(pack(ids, ids).ids.length).toBe(24);
  expect(pack(ids, parted).ids.length).toBe(24 + 5);
  expect(pack(ids, parted).places.length).toBe(20 + 18);
});

describe("tokens that cannot be chosen", () => {
  const group = (branches: readonly { ids: number[]; allowed: number[][] }[]): PackedGroup => ({
    prefix: [3, 4],
    branches: branches.map(({ ids, allowed }) => ({
      ids,
      mask: ids.map(() => 1),
      allowed: allowed.map(it =>
        Uint8Array.from({ length: tiny.vocabulary }, (_, id) => Number(it.includes(id))),
      ),
    })),
  });

  test.each(["cpu", "wasm"] as const)(
    "on %s, a log-probability is that among the others, and 0 for the only one",
    async name => {
      await startBackend(name, { programs });
      const model = initializeModel(tiny, 7);
      const packed = packGroups([group([{ ids: [5, 6], allowed: [[5, 9, 30], [6]] }])]);
      const logits = await computeLogits(model, packed);
      const sum = [5, 9, 30].reduce((total, id) => total + Math.exp(logits[id]!), 0);
      const logprobs = await computeLogProbabilities(model, packed);
      expect(logprobs[0]).toBeCloseTo(logits[5]! - Math.log(sum), 5);
      expect(logprobs[1]).toBeCloseTo(0, 6);
      model.dispose();
    },
  );

  test("do not mix sequences of equal tokens whose masks differ", () => {
    const [a, b] = [
      { ids: [5, 6], allowed: [[5, 9], [6]] },
      { ids: [5, 6], allowed: [[5, 30], [6]] },
    ];
    expect(packGroups([group([a, a])]).targets.length).toBe(2);
    expect(packGroups([group([a, b])]).targets.length).toBe(4);
  });

  test("are refused as targets", async () => {
    await startBackend("cpu", { programs });
    const model = initializeModel(tiny, 7);
    const packed = packGroups([group([{ ids: [5], allowed: [[6]] }])]);
    await expect(computeLogProbabilities(model, packed)).rejects.toThrow(/its mask does not allow/);
    model.dispose();
  });
});

describe.each(["cpu", "wasm"] as const)("on %s", name => {
  beforeAll(() => startBackend(name, { programs }));

  test("a shared prompt gives the same results as a prompt for each branch", async () => {
    const [together, separate] = [
      await compute(name, tiny, packGroups(groups)),
      await compute(name, tiny, packGroups(separateBranches(groups))),
    ];
    expect(packGroups(groups).ids.length).toBeLessThan(
      packGroups(separateBranches(groups)).ids.length,
    );
    checkEqual(together, separate);
  });

  test("a sequence's log-probabilities do not depend on its neighbours", async () => {
    const model = initializeModel(tiny, 7);
    const alone: number[] = [];
    for (const it of separateBranches(groups))
      alone.push(...(await computeLogProbabilities(model, packGroups([it]))));
    checkClose(await computeLogProbabilities(model, packGroups(groups)), alone, 2e-6);
    model.dispose();
  });

  test("log-probabilities are log softmax of the logits", async () => {
    const model = initializeModel(tiny, 7);
    const packed = packGroups(groups);
    const [logits, logprobs] = [
      await computeLogits(model, packed),
      await computeLogProbabilities(model, packed),
    ];
    const expected = Array.from(packed.places, place => {
      const row = logits.subarray(place * tiny.vocabulary, (place + 1) * tiny.vocabulary);
      const target = packed.targets[place]!;
      return row[target]! - Math.log(row.reduce((sum, it) => sum + Math.exp(it), 0));
    });
    checkClose(logprobs, expected, 2e-6);
    model.dispose();
  });

  test("no step leaks a tensor", async () => {
    const before = tf.memory().numTensors;
    const model = initializeModel(tiny, 7);
    const packed = packGroups(groups);
    const step = async () => {
      const { gradients: all } = await computeGradients(model, packed, weightedLoss);
      disposeGradients(all);
      await computeLogProbabilities(model, packed);
    };
    await step();
    const after = tf.memory().numTensors;
    for (let i = 0; i < 3; i++) await step();
    expect(tf.memory().numTensors).toBe(after);
    model.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe("a model", () => {
  beforeAll(() => startBackend("wasm", { programs }));

  test("the same seed gives the same weights, another seed others", () => {
    const first = (seed: number) => {
      const model = initializeModel(tiny, seed);
      const values = [...model.parameters.get("layers.1.feed.down")!.dataSync()];
      model.dispose();
      return values;
    };
    expect(first(1)).toEqual(first(1));
    expect(first(1)).not.toEqual(first(2));
  });

  test("weights rounded to 16 bits give nearly the same log-probabilities", async () => {
    const model = initializeModel(tiny, 7);
    const rounded = createModel(tiny, name =>
      fromFloat16(toFloat16(model.parameters.get(name)!.dataSync<"float32">())),
    );
    const packed = packGroups(groups);
    const [actual, expected] = [
      await computeLogProbabilities(rounded, packed),
      await computeLogProbabilities(model, packed),
    ];
    checkClose(actual, expected, 1e-3);
    expect(actual).not.toEqual(expected);
    model.dispose();
    rounded.dispose();
  });

  test("its parameter count is the sum over its parameters: 37·16 + 2·(16 + 64·16 + 8 + 8 + 16·32 + 16 + 48·16 + 16·24) + 16 = 6080", () => {
    expect(countParameters(tiny)).toBe(
      37 * 16 + 2 * (16 + 64 * 16 + 8 + 8 + 16 * 32 + 16 + 48 * 16 + 16 * 24) + 16,
    );
    expect(countParameters(tiny)).toBe(6080);
  });

  const refuse = (change: Partial<Architecture>, message: RegExp) =>
    test(`${JSON.stringify(change)} is refused`, () => {
      expect(() => initializeModel({ ...tiny, ...change }, 1)).toThrow(UserError);
      expect(() => initializeModel({ ...tiny, ...change }, 1)).toThrow(message);
    });
  refuse({ layers: 0 }, /layers is 0/);
  refuse({ width: 18 }, /width 18/);
  refuse({ headWidth: 12 }, /headWidth 12/);
  refuse({ kvHeads: 3 }, /4 heads cannot share 3/);
});

describe("a batch with an index out of range is refused", () => {
  beforeAll(() => startBackend("wasm", { programs }));

  const refuse = (title: string, message: RegExp, batch: () => PackedBatch) =>
    test(title, async () => {
      const model = initializeModel(tiny, 1);
      const compute = async () => computeLogProbabilities(model, batch());
      await expect(compute()).rejects.toThrow(message);
      model.dispose();
    });
  refuse("a token outside the vocabulary", /outside the vocabulary of 37/, () =>
    packGroups([{ prefix: [1, 37], branches: [{ ids: [1], mask: [1] }] }]),
  );
  refuse("a target outside the vocabulary", /outside the vocabulary of 37/, () =>
    packGroups([{ prefix: [1], branches: [{ ids: [-1], mask: [1] }] }]),
  );
  refuse("a sequence longer than the context", /context of 96/, () =>
    packGroups([{ prefix: createTokens(97, 1), branches: [{ ids: [1], mask: [1] }] }]),
  );
  refuse("no targets", /without targets/, () =>
    packGroups([{ prefix: [1], branches: [{ ids: [1], mask: [0] }] }]),
  );
  refuse("a first token as a target", /nothing before it/, () =>
    packGroups([{ prefix: [], branches: [{ ids: [1, 2], mask: [1, 1] }] }]),
  );
  refuse("a mask of another length", /a mask of 1/, () =>
    packGroups([{ prefix: [1], branches: [{ ids: [1, 2], mask: [1] }] }]),
  );
});
