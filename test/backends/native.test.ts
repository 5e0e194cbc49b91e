/**
 * A native backend, named by BACKEND and installed in PROVE_BACKENDS: it computes what WebAssembly
 * does, chooses the same tokens, and trains.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { afterAll, expect, test } from "vitest";
import { startBackend, type BackendChoice } from "../../src/compute/backend.ts";
import { initializeAdapters } from "../../src/model/transformer/adapters.ts";
import type { Architecture } from "../../src/model/transformer/architecture.ts";
import { openDecoder } from "../../src/model/transformer/decoder.ts";
import { loadHuggingFaceModel } from "../../src/model/huggingface/weights.ts";
import { packGroups } from "../../src/model/transformer/packedBatch.ts";
import {
  addAdapters,
  computeGradients,
  disposeGradients,
  initializeModel,
  type LossFunction,
  type Model,
} from "../../src/model/transformer/transformer.ts";
import { createAdamW } from "../../src/train/optimizer.ts";
import { checkClose, programs, randomArray } from "../compute/numbers.ts";
import { createTokens, groups, tiny } from "../model/tiny.ts";
import { writeTinyStudent } from "../train/tinyStudent.ts";

const name = process.env["BACKEND"] as BackendChoice;
const backends = process.env["PROVE_BACKENDS"]!;
const folder = mkdtempSync(join(tmpdir(), "prove-"));
afterAll(() => rmSync(folder, { recursive: true }));

const weightedLoss: LossFunction = logprobs =>
  tf.neg(tf.sum(tf.mul(logprobs, tf.tensor1d(randomArray(logprobs.size, 5)))));

/** A step of an optimizer and six tokens, greedily, on a backend. */
async function compute(backend: BackendChoice, architecture: Architecture) {
  await startBackend(backend, { programs, backends });
  const model = initializeModel(architecture, 7);
  const { logprobs, gradients } = await computeGradients(model, packGroups(groups), weightedLoss);
  const values = new Map<string, Float32Array>();
  for (const [key, it] of gradients) values.set(key, await it.data<"float32">());
  const optimizer = createAdamW(model);
  optimizer.remember();
  await optimizer.step(gradients, 0.1);
  optimizer.undo();
  const { norm: gradientNorm } = await optimizer.step(gradients, 0.01);
  disposeGradients(gradients);
  const norm = await model.parameters.get("norm")!.data<"float32">();
  const decoder = openDecoder(model, { slots: 1 });
  const tokens: number[] = [];
  const slot = decoder.open();
  for (let ids = createTokens(20, 3); tokens.length < 6; ids = tokens.slice(-1)) {
    const choose = { temperature: 0, uniform: 0 };
    const [chosen] = await decoder.feed([{ slot, ids, choose }]);
    tokens.push(chosen!.id);
  }
  decoder.dispose();
  optimizer.dispose();
  model.dispose();
  return { logprobs, gradients: values, gradientNorm, norm, tokens };
}

test("log-probabilities, gradients, a step after one that is undone, and the chosen tokens are those of wasm", async () => {
  const expected = await compute("wasm", tiny);
  const actual = await compute(name, tiny);
  checkClose(actual.logprobs, expected.logprobs, 1e-5, "log-probabilities");
  for (const [key, it] of expected.gradients) checkClose(actual.gradients.get(key)!, it, 1e-4, key);
  checkClose([actual.gradientNorm], [expected.gradientNorm], 1e-5, "norm of the gradient");
  checkClose(actual.norm, expected.norm, 1e-5, "norm after a step");
  expect(actual.tokens).toEqual(expected.tokens);
});

/**
 * The tokens that are chosen in slots of different lengths, greedily in every other one. There are
 * more slots than share tensors; some begin with a common prompt, and some get a result in the
 * middle.
 */
async function decode(backend: BackendChoice, load: () => Promise<Model>) {
  await startBackend(backend, { programs, backends });
  const model = await load();
  const decoder = openDecoder(model, { slots: 10 });
  const slots = Array.from({ length: 10 }, () => decoder.open());
  await decoder.feed([{ slot: 5, ids: createTokens(13, 1) }]);
  decoder.copy(5, [6, 7, 8]);
  let last = slots.map(slot => ({ slot, ids: createTokens(1 + slot, slot) }));
  const tokens: number[] = [];
  const logprobs: number[] = [];
  for (let step = 0; step < 4; step++) {
    const choose = (slot: number) => ({
      temperature: 0.7 * (slot % 2),
      uniform: ((3 * slot + step) % 10) / 10 + 0.03,
    });
    const chosen = await decoder.feed(last.map(it => ({ ...it, choose: choose(it.slot) })));
    tokens.push(...chosen.map(it => it.id));
    logprobs.push(...chosen.map(it => it.logprob));
    const result = (slot: number) => (step === 1 && slot % 3 === 1 ? createTokens(6, slot) : []);
    last = chosen.map(({ slot, id }) => ({ slot, ids: [id, ...result(slot)] }));
  }
  decoder.dispose();
  model.dispose();
  return { tokens, logprobs };
}

function createAdapted(): Promise<Model> {
  const adapters = initializeAdapters(tiny, { rank: 2, alpha: 8 }, 1);
  for (const [i, it] of [...adapters.parameters.values()].entries())
    tf.tidy(() => it.assign(tf.tensor(randomArray(it.size, i), it.shape)));
  return Promise.resolve(addAdapters(initializeModel(tiny, 11), adapters));
}

const parity = join(import.meta.dirname, "../model/parity");

test.each([
  ["tiny with adapters", createAdapted],
  ...["llama", "qwen2", "qwen3", "granite"].map(
    it => [it, () => loadHuggingFaceModel(join(parity, it))] as const,
  ),
] as const)(
  "%s: tokens in many slots and their log-probabilities are those of wasm",
  async (_, load) => {
    const expected = await decode("wasm", load);
    const actual = await decode(name, load);
    expect(actual.tokens).toEqual(expected.tokens);
    checkClose(Float32Array.from(actual.logprobs), expected.logprobs, 1e-4, "log-probabilities");
  },
);

test("steps of SFT and GRPO run, and run.json names the backend", async () => {
  const cli = (...args: string[]) =>
    execFileSync(process.execPath, [join(programs, "cli.js"), ...args], {
      cwd: folder,
      encoding: "utf8",
    });
  const tasks = join(folder, "t.tasks.jsonl");
  const servers = ["--servers", "banking", "--count", "20", "--seed", "1"];
  cli("synthesize", "--preset", "student", ...servers, "--out", "t.tasks.jsonl");
  await writeTinyStudent(join(folder, "tiny"), tasks);
  // a student that ships takes more than ten minutes on a software implementation of WebGPU
  const settings = {
    tasks: "t.tasks.jsonl",
    model: "tiny",
    grpo: { prompts: 1, group: 2 },
    sft: { conversations: 2 },
  };
  writeFileSync(join(folder, "t.train.json"), JSON.stringify(settings));
  for (const method of ["sft", "grpo"]) {
    const options = ["--method", method, "--run", method, "--steps", "1", "--workers", "1"];
    cli("train", "--config", "t.train.json", ...options, "--backend", name);
    const run = JSON.parse(readFileSync(join(folder, method, "run.json"), "utf8"));
    expect(run.trainedWith.backend).toBe(name);
    const [line] = readFileSync(join(folder, method, "metrics.jsonl"), "utf8").split("\n");
    expect(Number.isFinite(JSON.parse(line!).loss)).toBe(true);
  }
});
