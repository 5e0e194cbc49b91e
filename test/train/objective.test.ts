/**
 * The objectives of GRPO: losses and gradients against the formulas of their papers in plain
 * numbers, advantages of small groups, and the course of the learning rate.
 */
import * as tf from "@tensorflow/tfjs-core";
import { beforeAll, describe, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import type { Breakdown, CallEvidence } from "../../src/reward/breakdown.ts";
import { defaultGrpoSettings, type GrpoSettings } from "../../src/run/config.ts";
import { createRunConfig } from "../../src/run/createRunConfig.ts";
import type { objectiveNames } from "../../src/run/config.ts";
import {
  assignAdvantages,
  givesGradient,
  listTokenAdvantages,
} from "../../src/train/grpo/advantages.ts";
import { computeLearningRate } from "../../src/train/grpo/grpo.ts";
import { computeLoss, measureBatch, type LossBatch } from "../../src/train/grpo/groupStep.ts";
import { createSingleReplica } from "../../src/train/replicas.ts";
import type { GroupAttempt } from "../../src/train/grpo/scoredAttempt.ts";
import { checkClose, programs } from "../compute/numbers.ts";

beforeAll(() => startBackend("wasm", { programs }));

const resolve = (grpo: Partial<GrpoSettings>): GrpoSettings => {
  const config = createRunConfig({ startedAt: new Date(0), tasks: "", grpo });
  if (config.method !== "grpo") throw new Error("not GRPO");
  return config.grpo;
};

// three attempts of 2, 4 and 1 tokens; some ratios are far outside of every clip range
const lengths = [2, 4, 1];
const attemptAdvantages = [1.2, -0.7, 0.4];
const oldLogprobs = [-0.5, -1.5, -0.2, -2.1, -0.9, -1.1, -0.6];
const logprobs = [-0.4, -1.9, -0.7, -2.1001, -0.5, -1.8, -0.2];
const refLogprobs = [-0.6, -1.4, -0.3, -2.4, -0.9, -1, -0.7];
const attemptOf = lengths.flatMap((n, i) => Array.from<number>({ length: n }).fill(i));
const batch: LossBatch = {
  lengths,
  advantages: Float32Array.from(attemptOf, it => attemptAdvantages[it]!),
  oldLogprobs: Float32Array.from(oldLogprobs),
  reference: {
    tokens: logprobs.map((_, i) => i),
    logprobs: Float32Array.from(refLogprobs),
    scale: 1,
  },
};
// a minibatch of which these attempts are a part
const limits = { sampled: 128 };
const size = { tokens: 11, attempts: 5, longest: 128 };

const clamp = (ratio: number, low: number, high: number) =>
  Math.min(1 + high, Math.max(1 - low, ratio));
const gain = (ratio: number, a: number, low: number, high: number) =>
  Math.min(ratio * a, clamp(ratio, low, high) * a);
const sum = (values: readonly number[]) => values.reduce((total, it) => total + it, 0);
const tokensOf = (attempt: number) => attemptOf.flatMap((it, t) => (it === attempt ? [t] : []));

/** The losses of the papers. */
const papers: Record<(typeof objectiveNames)[number], (lp: readonly number[]) => number> = {
  prove: lp =>
    sum(
      lp.map((it, t) => {
        const ratio = Math.exp(it - oldLogprobs[t]!);
        const difference = refLogprobs[t]! - it;
        const k3 = Math.exp(difference) - difference - 1;
        return 0.01 * k3 - gain(ratio, attemptAdvantages[attemptOf[t]!]!, 0.2, 0.28);
      }),
    ) / size.tokens,
  dapo: lp =>
    -sum(
      lp.map((it, t) =>
        gain(Math.exp(it - oldLogprobs[t]!), attemptAdvantages[attemptOf[t]!]!, 0.2, 0.28),
      ),
    ) / size.tokens,
  "dr-grpo": lp =>
    -sum(
      lp.map((it, t) =>
        gain(Math.exp(it - oldLogprobs[t]!), attemptAdvantages[attemptOf[t]!]!, 0.2, 0.2),
      ),
    ) /
    (size.attempts * size.longest),
  gspo: lp =>
    -sum(
      lengths.map((n, i) => {
        const ratio = Math.exp(sum(tokensOf(i).map(t => lp[t]! - oldLogprobs[t]!)) / n);
        return gain(ratio, attemptAdvantages[i]!, 3e-4, 4e-4);
      }),
    ) / size.attempts,
};

describe.each(Object.entries(papers))("the objective %s", (objective, paper) => {
  const settings = resolve({ objective: objective as GrpoSettings["objective"] });
  const given = settings.kl > 0 ? batch : { ...batch, reference: undefined! };

  test.each([
    ["far from the old policy", logprobs],
    ["at the old policy", oldLogprobs],
  ])("has the loss and the gradient of its paper, %s", (_name, lp) => {
    const { value, grad } = tf.valueAndGrad((it: tf.Tensor) =>
      computeLoss(it as tf.Tensor1D, given, settings, size),
    )(tf.tensor1d([...lp]));
    expect(value.dataSync()[0]).toBeCloseTo(paper(lp), 5);
    const differences = lp.map((_, t) => {
      const move = (by: number) => paper(lp.map((it, i) => (i === t ? it + by : it)));
      return (move(1e-6) - move(-1e-6)) / 2e-6;
    });
    checkClose(grad.dataSync(), differences, 2e-4);
  });
});

test("tokens outside of the clip range in the direction of their advantage count as clipped", () => {
  const { clipped } = measureBatch(Float32Array.from(logprobs), batch, resolve({}));
  expect(clipped).toEqual([[], [0, 3], [0]]);
  const gspo = measureBatch(Float32Array.from(logprobs), batch, resolve({ objective: "gspo" }));
  expect(gspo.clipped).toEqual([[], [0, 1, 2, 3], [0]]);
});

const call = (validity: number, serves: boolean, overBudget = false): CallEvidence => ({
  call: 0,
  name: "",
  validity,
  named: serves,
  ...(serves ? { serves: { goal: 0, call: 0 } } : {}),
  arguments: [],
  overBudget,
});

/** An attempt with one token for each call and one of text. */
const attempt = (
  total: number,
  {
    success = true,
    calls = [],
    tokens = calls.length + 1,
  }: {
    success?: boolean;
    calls?: CallEvidence[];
    tokens?: number;
  } = {},
) =>
  ({
    breakdown: { total, calls } as unknown as Breakdown,
    success,
    logprobs: Array.from<number>({ length: tokens }).fill(-1),
    callOfToken: [...calls.keys(), -1],
    advantage: 0,
    clipped: [],
  }) as unknown as GroupAttempt;

function getAdvantages(groups: GroupAttempt[][], settings: Partial<GrpoSettings>): number[] {
  assignAdvantages(groups, resolve(settings), createSingleReplica(undefined), {
    seed: 1,
    step: 1,
    limits,
  });
  return groups.flat().map(it => it.advantage);
}

describe("advantages", () => {
  const groups = () => [
    [attempt(1), attempt(3)],
    [attempt(0, { success: false }), attempt(0.5, { success: false })],
    [attempt(2), attempt(2)],
  ];
  test.each([
    [{}, [-1, 1, -1, 1, 0, 0]],
    [{ advantageScale: "none" }, [-1, 1, -0.25, 0.25, 0, 0]],
    [{ objective: "dr-grpo" }, [-1, 1, -0.25, 0.25, 0, 0]],
    [{ failedGroups: 0.5 }, [-1, 1, -0.5, 0.5, 0, 0]],
    [{ failedGroups: 0 }, [-1, 1, 0, 0, 0, 0]],
  ] as const)("%o", (settings, expected) =>
    checkClose(getAdvantages(groups(), settings), expected, 1e-5),
  );

  test("are divided by the deviation of all rewards with batch-std", () => {
    const deviation = Math.sqrt(sum([1, 3, 0, 0.5, 2, 2].map(it => (it - 8.5 / 6) ** 2)) / 6);
    checkClose(
      getAdvantages(groups(), { advantageScale: "batch-std" }),
      [-1, 1, -0.25, 0.25, 0, 0].map(it => it / deviation),
      1e-5,
    );
  });

  test("punish the last 32 tokens before the limit", () => {
    const long = [96, 112, 128].map(tokens => attempt(1, { tokens }));
    const advantages = getAdvantages([long], { advantageScale: "none", overlong: 32 });
    checkClose(advantages, [0.5, 0, -0.5], 1e-5);
    expect(givesGradient(long, resolve({ overlong: 32 }), limits)).toBe(true);
    expect(givesGradient(long, resolve({}), limits)).toBe(false);
  });

  test("per call add how much better a call is than the mean call of its group", () => {
    const good = attempt(2, { calls: [call(1, true), call(1, true)] });
    const bad = attempt(1, { calls: [call(0, false), call(1, true, true)] });
    getAdvantages([[good, bad]], { credit: "call" });
    checkClose(listTokenAdvantages(good), [1.5, 1.5, 1], 1e-5);
    checkClose(listTokenAdvantages(bad), [-1.5, -1.5, -1], 1e-5);
  });

  test("per call need the ratio of each token", () => {
    expect(() => resolve({ credit: "call", objective: "gspo" })).toThrow(
      /grpo\.credit cannot be used: credit per call needs the ratio of each token/,
    );
    expect(() => resolve({ credit: "call", advantages: "shuffled" })).toThrow(/whole attempts/);
  });
});

test("the learning rate rises over five steps, and stays or falls to a twentieth", () => {
  const rate = (decay: GrpoSettings["decay"], step: number, progress: number) =>
    computeLearningRate({ ...defaultGrpoSettings, learningRate: 1, decay }, step, progress);
  expect([1, 5, 100].map(it => rate("constant", it, it / 100))).toEqual([0.2, 1, 1]);
  expect([0.5, 0.9, 1].map(it => rate("linear", 50, it))).toEqual([0.5, 1 - 0.9, 0.05]);
  checkClose(
    [0, 0.5, 1].map(it => rate("cosine", 50, it)),
    [1, 0.525, 0.05],
    1e-6,
  );
});
