/**
 * Adapters and gradients in little memory: what is trained, gradients against finite differences,
 * the decoder, files in the format of PEFT, and gradients that are computed block by block.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLayout } from "../../src/compute/attentionLayout.ts";
import { startBackend } from "../../src/compute/backend.ts";
import { initializeAdapters } from "../../src/model/transformer/adapters.ts";
import type { AdapterConfig } from "../../src/storage/adapterConfig.ts";
import { openDecoder } from "../../src/model/transformer/decoder.ts";
import { writeAdapters, loadHuggingFaceModel } from "../../src/model/huggingface/weights.ts";
import { packGroups } from "../../src/model/transformer/packedBatch.ts";
import {
  computeRecomputedGradients,
  addAdapters,
  computeGradients,
  computeLogProbabilities,
  computeLogits,
  disposeGradients,
  getTrainable,
  initializeModel,
  withoutAdapters,
  type LossFunction,
  type Model,
} from "../../src/model/transformer/transformer.ts";
import { UserError } from "../../src/userError.ts";
import { checkClose, programs, randomArray } from "../compute/numbers.ts";
import { constrainBranches, createTokens, groups, tiny } from "./tiny.ts";

const weightedLoss: LossFunction = logprobs =>
  tf.neg(tf.sum(tf.mul(logprobs, tf.tensor1d(randomArray(logprobs.size, 5)))));

const parity = (family: string) => join(import.meta.dirname, "parity", family);

/** Adds adapters with random values in A and B, so that they change the model. */
function addRandomAdapters(model: Model, config: AdapterConfig): Model {
  const adapters = initializeAdapters(model.architecture, config, 1);
  let seed = 0;
  for (const it of adapters.parameters.values())
    tf.tidy(() => it.assign(tf.mul(tf.tensor(randomArray(it.size, ++seed), it.shape), 0.2)));
  return addAdapters(model, adapters);
}

const lora: AdapterConfig = { rank: 3, alpha: 6, targets: ["q_proj", "v_proj", "down_proj"] };

beforeAll(() => startBackend("wasm", { programs }));

describe("a model with adapters", () => {
  test("has the same log-probabilities before training, and trains only the adapters", async () => {
    const model = initializeModel(tiny, 7);
    const packed = packGroups(groups);
    const before = await computeLogProbabilities(model, packed);
    const adapted = addAdapters(model, initializeAdapters(tiny, lora, 1));
    expect([...(await computeLogProbabilities(adapted, packed))]).toEqual([...before]);
    const { gradients } = await computeGradients(adapted, packed, weightedLoss);
    expect([...gradients.keys()]).toEqual([...getTrainable(adapted).keys()]);
    expect(gradients.size).toBe(2 * 3 * tiny.layers);
    expect([...gradients.keys()].every(it => /\.(q|v|down)_proj\.lora_[AB]$/.test(it))).toBe(true);
    disposeGradients(gradients);
    adapted.dispose();
  });

  test("has gradients equal to finite differences", async () => {
    const model = addRandomAdapters(initializeModel(tiny, 3), lora);
    const packed = packGroups([groups[0]!, groups[2]!]);
    const { gradients } = await computeGradients(model, packed, weightedLoss);
    for (const [name, variable] of getTrainable(model)) {
      const values = await variable.data<"float32">();
      const gradient = await gradients.get(name)!.data<"float32">();
      const at = gradient.reduce(
        (best, it, i) => (Math.abs(it) > Math.abs(gradient[best]!) ? i : best),
        0,
      );
      const computeLossAt = async (by: number) => {
        const copy = values.slice();
        copy[at]! += by;
        tf.tidy(() => variable.assign(tf.tensor(copy, variable.shape)));
        const logprobs = await computeLogProbabilities(model, packed);
        return -randomArray(logprobs.length, 5).reduce((sum, it, i) => sum + it * logprobs[i]!, 0);
      };
      const step = 5e-3;
      const slope = ((await computeLossAt(step)) - (await computeLossAt(-step))) / (2 * step);
      await computeLossAt(0);
      expect(Math.abs(slope - gradient[at]!), name).toBeLessThan(5e-3);
    }
    disposeGradients(gradients);
    model.dispose();
  });

  // the other tests need wasm
  test.each(["cpu", "wasm"] as const)(
    "decodes on %s with merged weights, and without adapters as before",
    async name => {
      await startBackend(name, { programs });
      const base = initializeModel(tiny, 11);
      const model = addRandomAdapters(base, { rank: 2, alpha: 40 });
      const ids = createTokens(12, 8);
      const pack = packGroups([{ prefix: ids, branches: [{ ids: [0], mask: [1] }] }]);
      const choices = [];
      for (const it of [model, withoutAdapters(model)]) {
        const logits = await computeLogits(it, pack);
        const decoder = openDecoder(it, { slots: 1 });
        const choose = { temperature: 0, uniform: 0 };
        const [chosen] = await decoder.feed([{ slot: decoder.open(), ids, choose }]);
        const most = Math.max(...logits);
        expect(chosen!.id).toBe(logits.indexOf(most));
        const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
        expect(chosen!.logprob).toBeCloseTo(-Math.log(sum), 4);
        choices.push(chosen!.logprob);
        decoder.dispose();
      }
      expect(choices[0]).not.toBeCloseTo(choices[1]!, 2);
      model.dispose();
    },
  );

  test("refuses linear layers that it does not have", () => {
    const create = (config: AdapterConfig) => () => initializeAdapters(tiny, config, 1);
    expect(create({ ...lora, targets: ["lm_head"] })).toThrow(/no linear layer lm_head/);
    expect(create({ ...lora, rank: 0 })).toThrow(/rank 0/);
    expect(create({ ...lora, rank: 17 })).toThrow(
      /larger than the linear layer q_proj, which is 32 x 16/,
    );
    expect(create({ ...lora, targets: [] })).toThrow(UserError);
  });
});

describe("gradients that are computed block by block equal those of one pass", () => {
  const check = (title: string, create: () => Model, batch = groups) =>
    test(title, async () => {
      const model = create();
      const packed = packGroups(batch);
      const expected = await computeGradients(model, packed, weightedLoss, 0.8);
      const layout = createLayout(packed);
      const before = tf.memory().numTensors;
      const trainable = getTrainable(model);
      const pass = { packed, layout, temperature: 0.8, trainable };
      const actual = computeRecomputedGradients(model, pass, weightedLoss);
      expect(tf.memory().numTensors - before).toBe(trainable.size + 2);
      checkClose(actual.logprobs.dataSync(), expected.logprobs, 2e-6);
      for (const [name, it] of expected.gradients)
        checkClose(actual.gradients.get(name)!.dataSync(), it.dataSync(), 2e-5, name);
      disposeGradients(expected.gradients);
      disposeGradients(actual.gradients);
      tf.dispose([actual.loss, actual.logprobs]);
      layout.dispose();
      model.dispose();
    });

  check("of all weights", () => initializeModel(tiny, 7));
  check("of adapters", () => addRandomAdapters(initializeModel(tiny, 7), lora));
  check(
    "with tokens that cannot be chosen",
    () => initializeModel(tiny, 7),
    constrainBranches(groups, 21),
  );
  check("with an output layer of its own", () =>
    initializeModel({ ...tiny, hasOutput: true, hasBias: true, hasHeadNorms: false }, 7),
  );
});

describe("adapters in the format of PEFT", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "prove-adapters-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = async (model: Model, base: string) =>
    writeAdapters(folder, {
      architecture: model.architecture,
      config: model.adapters!.config,
      base,
      weights: new Map(
        [...model.adapters!.parameters].map(([name, it]) => [
          name,
          { shape: it.shape, read: () => it.data<"float32">() },
        ]),
      ),
    });

  test.each(["llama", "granite-hybrid"])("of %s are loaded as they were saved", async family => {
    const config = { rank: 4, alpha: 8 };
    const model = addRandomAdapters(await loadHuggingFaceModel(parity(family)), config);
    await write(model, parity(family));
    const loaded = await loadHuggingFaceModel(folder);
    const pack = packGroups([{ prefix: [3, 9, 27], branches: [{ ids: [0], mask: [1] }] }]);
    expect([...(await computeLogits(loaded, pack))]).toEqual([
      ...(await computeLogits(model, pack)),
    ]);
    model.dispose();
    loaded.dispose();
  });

  test("are loaded if their layers are named with their paths", async () => {
    const model = addRandomAdapters(await loadHuggingFaceModel(parity("llama")), lora);
    await write(model, parity("llama"));
    const file = join(folder, "adapter_config.json");
    const written = JSON.parse(readFileSync(file, "utf8")) as { target_modules: string[] };
    const paths = [0, 1].flatMap(layer =>
      written.target_modules.map(
        it => `model.layers.${layer}.${it === "down_proj" ? "mlp" : "self_attn"}.${it}`,
      ),
    );
    writeFileSync(file, JSON.stringify({ ...written, target_modules: paths }));
    const loaded = await loadHuggingFaceModel(folder);
    expect([...getTrainable(loaded).keys()]).toEqual([...getTrainable(model).keys()]);
    model.dispose();
    loaded.dispose();
  });

  test("of another model, or with a variant that is not computed, are refused", async () => {
    const model = addRandomAdapters(await loadHuggingFaceModel(parity("llama")), lora);
    await write(model, parity("qwen3"));
    await expect(loadHuggingFaceModel(folder)).rejects.toThrow(
      /lora_B.weight as \[32, 3\]; this model needs \[64, 3\]/,
    );
    const file = join(folder, "adapter_config.json");
    const written = JSON.parse(readFileSync(file, "utf8")) as object;
    for (const [key, value] of Object.entries({
      use_dora: true,
      use_rslora: true,
      modules_to_save: ["lm_head"],
      // PEFT changes the base model for these, or adds the adapters to some tokens only
      init_lora_weights: "pissa",
      alora_invocation_tokens: [3],
    })) {
      writeFileSync(file, JSON.stringify({ ...written, [key]: value }));
      await expect(loadHuggingFaceModel(folder), key).rejects.toThrow(
        new RegExp(`without further variants: at /${key}`),
      );
    }
    writeFileSync(file, JSON.stringify({ ...written, base_model_name_or_path: "/nowhere" }));
    await expect(loadHuggingFaceModel(folder)).rejects.toThrow(/\/nowhere, which is not there/);
    model.dispose();
  });
});
