/**
 * Training with constrained decoding: the log-probabilities of the trainer are those of the
 * distribution that tokens were sampled from, among the tokens that were allowed.
 */
import * as tf from "@tensorflow/tfjs-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import type { Catalog } from "../../src/environment/catalog.ts";
import { packGroups } from "../../src/model/transformer/packedBatch.ts";
import { openStudent } from "../../src/model/student.ts";
import type { TokenMask } from "../../src/model/textTokens.ts";
import { createCompactFormat } from "../../src/model/student/compactChat.ts";
import type { ChatFormat } from "../../src/model/chatFormat.ts";
import {
  computeGradients,
  computeLogProbabilities,
  disposeGradients,
  initializeModel,
  type Model,
} from "../../src/model/transformer/transformer.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { provePlusProfile } from "../../src/reward/profiles.ts";
import { defaultGrpoSettings, type GrpoConfig } from "../../src/run/config.ts";
import type { GrpoStep } from "../../src/run/metrics.ts";
import { openGrpo } from "../../src/train/grpo/grpo.ts";
import { computeLoss, type LossBatch } from "../../src/train/grpo/groupStep.ts";
import { createAdamW } from "../../src/train/optimizer.ts";
import { createSingleReplica } from "../../src/train/replicas.ts";
import { createAttemptScorer, type GroupAttempt } from "../../src/train/grpo/scoredAttempt.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { listCalls } from "../../src/trajectory/trajectory.ts";
import { programs } from "../compute/numbers.ts";
import {
  createBoxCatalog,
  createBoxTasks,
  createBoxTokenizer,
  getBoxArchitecture,
} from "./boxes.ts";

let catalog: Catalog;
let tasks: Task[];
let chat: ChatFormat;
let model: Model;
beforeAll(async () => {
  await startBackend("wasm", { programs });
  catalog = createBoxCatalog();
  tasks = await createBoxTasks(catalog);
  const tokenizer = createBoxTokenizer(tasks);
  chat = createCompactFormat(tokenizer);
  model = initializeModel(getBoxArchitecture(tokenizer.size), 5);
  // large weights, so that distributions are far from uniform
  tf.tidy(() => {
    const embedding = model.parameters.get("embedding")!;
    embedding.assign(tf.mul(embedding, 6));
  });
});
afterAll(() => model.dispose());

/** Attempts of a student with random weights, as the trainer gets them. */
async function sampleAttempts(temperature: number, count: number): Promise<GroupAttempt[]> {
  const masks = new Map<string, TokenMask[]>();
  const student = openStudent(model, chat, {
    name: "student",
    temperature,
    seed: 3,
    isConstrained: true,
    onMask: (id, mask) => void masks.set(id, [...(masks.get(id) ?? []), mask]),
  });
  const score = createAttemptScorer({ catalog, profile: provePlusProfile, chat });
  const task = tasks[0]!;
  const rollouts = await Promise.all(
    Array.from({ length: count }, (_, i) => rollout(task, student, catalog, { id: `a/${i}` })),
  );
  student.dispose();
  return rollouts.map(it => score(it, masks.get(it.trajectory.header.id))!);
}

const pack = (attempts: readonly GroupAttempt[]) =>
  packGroups([{ prefix: attempts[0]!.opening, branches: attempts.map(it => it.branch) }]);

const getLargest = (values: readonly number[]) => Math.max(...values.map(Math.abs));

describe.each([1, 0.7])("at temperature %d", temperature => {
  test("the ratio of the first minibatch is 1 within 1e-4 at every token", async () => {
    const attempts = await sampleAttempts(temperature, 12);
    const sampled = attempts.flatMap(it => it.logprobs);
    expect(sampled.length).toBeGreaterThan(100);
    expect(sampled.filter(it => it < -0.1).length).toBeGreaterThan(50);
    const computed = await computeLogProbabilities(model, pack(attempts), temperature);
    expect(getLargest(sampled.map((it, i) => Math.exp(computed[i]! - it) - 1))).toBeLessThan(1e-4);
    // which is not so of the distribution over all tokens
    const free = attempts.map(it => ({ ...it, branch: { ...it.branch, allowed: undefined } }));
    const packed = packGroups([
      {
        prefix: free[0]!.opening,
        branches: free.map(({ branch: { ids, mask } }) => ({ ids, mask })),
      },
    ]);
    const other = await computeLogProbabilities(model, packed, temperature);
    expect(getLargest(sampled.map((it, i) => other[i]! - it))).toBeGreaterThan(1);
  });
});

test("every call is one of an offered tool, and the gradient of the loss equals finite differences", async () => {
  const attempts = await sampleAttempts(1, 4);
  const offered = tasks[0]!.menu.map(it => it.name);
  const calls = attempts.flatMap(it => listCalls(it.trajectory));
  for (const it of calls) expect(offered).toContain(it.name);

  const oldLogprobs = Float32Array.from(attempts.flatMap(it => it.logprobs));
  const batch: LossBatch = {
    lengths: attempts.map(it => it.logprobs.length),
    advantages: Float32Array.from(
      attempts.flatMap((it, i) => it.logprobs.map(() => [1, -0.7, 0.4, -0.7][i]!)),
    ),
    oldLogprobs,
    // a reference that differs from the policy, so that the KL term has a gradient
    reference: {
      tokens: [...oldLogprobs.keys()],
      logprobs: oldLogprobs.map((it, i) => (it === 0 ? 0 : it + 0.3 * Math.sin(i))),
      scale: 1,
    },
  };
  const settings = { ...defaultGrpoSettings, kl: 0.5 };
  const size = { tokens: oldLogprobs.length, attempts: attempts.length, longest: 128 };
  const packed = pack(attempts);
  const { gradients } = await computeGradients(model, packed, lp =>
    computeLoss(lp, batch, settings, size),
  );
  const measure = async () => {
    const logprobs = await computeLogProbabilities(model, packed);
    return tf.tidy(() =>
      computeLoss(tf.tensor1d(logprobs), batch, settings, size).dataSync<"float32">(),
    )[0]!;
  };
  for (const name of ["embedding", "layers.0.attention.qkv", "layers.1.feed.down", "norm"]) {
    const variable = model.parameters.get(name)!;
    const values = (variable.dataSync() as Float32Array).slice();
    const gradient = (gradients.get(name)!.dataSync() as Float32Array).slice();
    // along the gradient itself, where the slope is its length
    const length = Math.hypot(...gradient);
    const measureAt = async (by: number) => {
      const moved = values.map((it, i) => it + (by * gradient[i]!) / length);
      tf.tidy(() => variable.assign(tf.tensor(moved, variable.shape)));
      return measure();
    };
    const step = 2e-3;
    const slope =
      (8 * ((await measureAt(step)) - (await measureAt(-step))) -
        ((await measureAt(2 * step)) - (await measureAt(-2 * step)))) /
      (12 * step);
    await measureAt(0);
    expect(length, name).toBeGreaterThan(1e-3);
    expect(Math.abs(slope / length - 1), name).toBeLessThan(0.02);
  }
  disposeGradients(gradients);
});

test("steps of GRPO at which nothing moves have no clipped tokens and no divergence from the start, and free sampling has another entropy", async () => {
  const takeSteps = async (constrained: boolean): Promise<GrpoStep[]> => {
    const config: GrpoConfig = {
      format: "prove/run@1",
      version: "0",
      began: "2026-03-02T09:00:00Z",
      tasks: "",
      split: "train",
      seed: 3,
      backend: "wasm",
      workers: 1,
      saveEvery: 1000,
      profile: "prove-plus",
      keepGroups: 0,
      method: "grpo",
      steps: 1,
      grpo: {
        ...defaultGrpoSettings,
        prompts: 3,
        group: 6,
        minibatches: 1,
        constrained,
        clip: { low: 1e-4, high: 1e-4 },
      },
    };
    const optimizer = createAdamW(model);
    const method = openGrpo(
      {
        group: createSingleReplica({}),
        model,
        chat,
        optimizer,
        catalog,
        tasks,
        reference: model,
        profile: provePlusProfile,
      },
      // a rate at which nothing moves
      { ...config, grpo: { ...config.grpo, learningRate: 1e-12 } },
    );
    const steps: GrpoStep[] = [];
    for (let step = 1; step <= 4; step++)
      steps.push((await method.step(step, 0))!.metrics as GrpoStep);
    method.dispose();
    optimizer.dispose();
    return steps;
  };
  const [constrained, free] = [await takeSteps(true), await takeSteps(false)];
  // the divergence is measured on other groups at each step
  const divergences = constrained.flatMap(it => it.kl ?? []);
  expect(divergences).not.toEqual([]);
  for (const it of divergences) expect(it).toBeLessThan(1e-8);
  for (const [i, it] of constrained.entries()) {
    expect(it.gradientNorm).toBeGreaterThan(0);
    expect(it.clipShare).toBe(0);
    expect(it.errors).toMatchObject({ syntax: 0, tool: 0 });
    expect(it.entropy).toBeLessThan(free[i]!.entropy);
    expect(free[i]!.errors.syntax + free[i]!.errors.tool).toBeGreaterThan(0);
  }
});
