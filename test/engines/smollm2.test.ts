/**
 * SmolLM2-135M computed here, against transformers and PEFT: logits, a greedy continuation, a
 * training of adapters, and the adapters that PEFT loads. `npm run test:engines` installs what this
 * needs.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { initializeAdapters } from "../../src/model/adapters.ts";
import { openDecoder } from "../../src/model/decoder.ts";
import { writeAdapters } from "../../src/model/huggingface/peft.ts";
import { loadHuggingFaceModel } from "../../src/model/huggingface/weights.ts";
import { packGroups } from "../../src/model/packedBatch.ts";
import {
  addAdapters,
  computeGradients,
  computeLogits,
  disposeGradients,
  meanLoss,
  type Model,
} from "../../src/model/transformer.ts";
import { readWeights } from "../../src/model/weights.ts";
import { createAdamW } from "../../src/train/optimizer.ts";
import { emptyFolder } from "../cli/program.ts";
import { programs as builtPrograms } from "../compute/numbers.ts";
import { root } from "../contracts/transports.ts";
import { python } from "./environment.ts";

const folder = join(emptyFolder(), "smollm2");
const lora = { rank: 8, alpha: 16, targets: ["q_proj", "k_proj", "v_proj", "o_proj"] };

/** Runs the Python program that writes what transformers computes. */
function runReference(...args: readonly string[]): void {
  const program = join(import.meta.dirname, "smollm2_reference.py");
  const env = {
    ...process.env,
    HF_HUB_OFFLINE: "1",
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONPATH: join(root, "resources/engines"),
  };
  const { status, stderr } = spawnSync(python, [program, ...args], { env, encoding: "utf8" });
  expect(status, stderr).toBe(0);
}

async function readExpected(file: string) {
  const { arrays } = await readWeights(file);
  return (name: string) => arrays.get(name)!.values;
}

/** The logits after every token, (N, vocabulary). */
const computeAllLogits = (model: Model, ids: readonly number[]) =>
  computeLogits(model, packSequence(ids, [...ids.slice(1), 0]));

const packSequence = (ids: readonly number[], targets: readonly number[]) =>
  packGroups([
    { prefix: ids.slice(0, 1), branches: [{ ids: targets, mask: targets.map(() => 1) }] },
  ]);

const largestDifference = (actual: Float32Array, expected: Float32Array): number =>
  actual.reduce((most, it, i) => Math.max(most, Math.abs(it - expected[i]!)), 0);

let model: Model;
let ids: readonly number[];
beforeAll(async () => {
  runReference("model", folder);
  await startBackend("wasm", { programs: builtPrograms });
  model = await loadHuggingFaceModel(folder);
  ids = [...(await readExpected(join(folder, "expected.bin")))("ids")];
}, 600_000);
afterAll(() => model.dispose());

test("logits are those of transformers to 1e-3", async () => {
  const expected = (await readExpected(join(folder, "expected.bin")))("logits");
  const logits = await computeAllLogits(model, ids);
  expect(logits.length).toBe(expected.length);
  expect(largestDifference(logits, expected)).toBeLessThan(1e-3);
});

test("a greedy continuation has the same 100 tokens", async () => {
  const expected = [...(await readExpected(join(folder, "expected.bin")))("greedy")];
  const decoder = openDecoder(model, { slots: 1, context: 256 });
  const slot = decoder.open();
  const tokens: number[] = [];
  for (let next = [...ids]; tokens.length < 100; next = [tokens.at(-1)!]) {
    const choose = { temperature: 0, uniform: 0 };
    const [chosen] = await decoder.feed([{ slot, ids: next, choose }]);
    tokens.push(chosen!.id);
  }
  decoder.dispose();
  expect(expected).toHaveLength(100);
  expect(tokens).toEqual(expected);
}, 300_000);

test("adapters learn the text, and PEFT computes the same logits with them", async () => {
  const base = { ...model, dispose: () => {} };
  const adapted = addAdapters(base, initializeAdapters(model.architecture, lora, 1));
  const optimizer = createAdamW(adapted);
  const losses: number[] = [];
  for (let step = 0; step < 5; step++) {
    const packed = packSequence(ids, ids.slice(1));
    const { loss, gradients } = await computeGradients(adapted, packed, meanLoss);
    await optimizer.step(gradients, 1e-3);
    disposeGradients(gradients);
    losses.push(loss);
  }
  expect(losses.at(-1)!).toBeLessThan(losses[0]! - 0.1);
  const adapters = join(folder, "adapters");
  mkdirSync(adapters);
  await writeAdapters(adapters, {
    architecture: model.architecture,
    config: lora,
    base: folder,
    weights: new Map(
      [...adapted.adapters!.parameters].map(([name, it]) => [
        name,
        { shape: it.shape, read: () => it.data<"float32">() },
      ]),
    ),
  });
  const logits = await computeAllLogits(adapted, ids);
  runReference("adapters", folder, adapters);
  const expected = (await readExpected(join(adapters, "expected.bin")))("logits");
  expect(largestDifference(logits, expected)).toBeLessThan(1e-3);
  optimizer.dispose();
  tf.dispose([...adapted.adapters!.parameters.values()]);
}, 300_000);
