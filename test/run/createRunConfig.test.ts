/** The configuration of a run: defaults, choices, and values that cannot be used. */
import { describe, expect, test } from "vitest";
import { defaultGrpoSettings, defaultSftSettings, runConfig } from "../../src/run/config.ts";
import { createRunConfig, type RunOptions } from "../../src/run/createRunConfig.ts";

const base = { startedAt: new Date("2026-03-02T09:00:00Z"), tasks: "/t.tasks.jsonl" };

test("without choices a run has the defaults", () => {
  const { version: _, ...config } = createRunConfig(base);
  expect(config).toEqual({
    format: "prove/run@1",
    began: "2026-03-02T09:00:00.000Z",
    tasks: "/t.tasks.jsonl",
    split: "train",
    seed: 1,
    backend: "auto",
    workers: 2,
    steps: 200,
    saveEvery: 50,
    keepGroups: 1,
    profile: "prove-plus",
    method: "grpo",
    grpo: defaultGrpoSettings,
  });
});

test("choices replace defaults, one setting of a method at a time", () => {
  expect(
    createRunConfig({ ...base, seconds: 60, from: "early", grpo: { learningRate: 1e-3 } }),
  ).toMatchObject({
    seconds: 60,
    from: "early",
    grpo: { ...defaultGrpoSettings, learningRate: 1e-3 },
  });
  expect(createRunConfig({ ...base, seconds: 60 }).steps).toBeUndefined();
  expect(createRunConfig({ ...base, method: "sft", sft: { given: 0.5 } })).toMatchObject({
    sft: { ...defaultSftSettings, given: 0.5 },
  });
});

test("an objective sets what is not set explicitly", () => {
  const resolve = (grpo: Parameters<typeof createRunConfig>[0]["grpo"]) =>
    createRunConfig({ ...base, grpo });
  expect(resolve({ objective: "dapo", overlong: 0 })).toMatchObject({
    grpo: { ...defaultGrpoSettings, objective: "dapo", kl: 0, resample: 16, overlong: 0 },
  });
  expect(resolve({ kl: 0.1, objective: "gspo" })).toMatchObject({
    grpo: { ratio: "sequence", normalization: "attempts", kl: 0.1, clip: { high: 4e-4 } },
  });
});

test("a run of an earlier version has the settings it was trained with", () => {
  const run = createRunConfig(base);
  const grpo = {
    prompts: 4,
    group: 4,
    learningRate: 1e-4,
    kl: 0.02,
    clip: { low: 0.1, high: 0.3 },
    minibatches: 2,
    temperature: 1,
    advantages: "group",
  };
  expect(runConfig.parse({ ...run, grpo })).toEqual({
    ...run,
    grpo: { ...defaultGrpoSettings, ...grpo },
  });
});

describe("an invalid value is named in the error", () => {
  test.each([
    [{ backend: "abacus" }, /the run's backend cannot be used/],
    [{ workers: 0 }, /the run's workers cannot be used/],
    [{ steps: Number.NaN }, /the run's steps cannot be used/],
    [{ profile: "mine" }, /there is no reward profile mine: choose one of paper, prove-plus/],
  ])("%o", (choice, message) =>
    expect(() => createRunConfig({ ...base, ...choice } as RunOptions)).toThrow(message),
  );
});
