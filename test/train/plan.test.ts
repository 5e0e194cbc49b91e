/** What a training is estimated to need, and which settings are proposed if it does not fit. */
import { expect, test } from "vitest";
import { formatPrepareCommand } from "../../src/engine/target.ts";
import { countParameters } from "../../src/model/transformer/architecture.ts";
import { countSlots } from "../../src/model/student.ts";
import { createRunConfig } from "../../src/run/createRunConfig.ts";
import { formatPlan, summarizePlan, type TrainingPlan } from "../../src/run/trainingPlan.ts";
import {
  countMeasuredTokens,
  countStepTokens,
  countTrained,
  estimateMemory,
  listProposals,
} from "../../src/train/plan.ts";
import { tiny } from "../model/tiny.ts";

const model = { architecture: tiny, context: 64 };
const lengths = {
  tasks: 9,
  opening: 40,
  longestOpening: 50,
  tools: 30,
  mostTools: 35,
  conversation: 60,
  longest: 90,
  sampled: 12,
};
const common = { startedAt: new Date("2026-03-02T09:00:00Z"), tasks: "", workers: 1 };
const grpo = createRunConfig({ ...common, grpo: { prompts: 4, group: 8 } });
const sft = createRunConfig({ ...common, method: "sft", sft: { conversations: 4 } });
const lora = { rank: 2, alpha: 4, targets: ["q_proj"] };

test("tokens of a step: the attempts of a group share its opening", () => {
  expect(countStepTokens(grpo, lengths)).toEqual({
    learned: 4 * (40 + 8 * 20),
    sampled: 4 * 8 * 12,
    batch: 2000,
  });
  expect(countStepTokens(sft, lengths)).toEqual({
    learned: 240,
    sampled: 0,
    batch: 240,
  });
});

test("memory: weights, gradients and optimizer follow from what is trained", () => {
  const parameters = countParameters(tiny);
  const estimate = (run: typeof grpo) => estimateMemory(model, run, lengths, true);
  expect(estimate(sft)).toMatchObject({
    weights: 4 * parameters,
    gradients: 4 * parameters,
    optimizer: 8 * parameters,
    sampling: 0,
  });
  // a KL term needs the weights of the start
  expect(estimate(grpo).weights).toBe(8 * parameters);
  const withoutKl = createRunConfig({ ...common, grpo: { kl: 0 } });
  expect(estimate(withoutKl).weights).toBe(4 * parameters);
  const adapted = { ...grpo, lora };
  expect(estimate(adapted).weights).toBe(4 * parameters);
  const trained = countTrained(model, adapted);
  expect(trained).toBe(tiny.layers * 2 * (tiny.width + tiny.heads * tiny.headWidth));
  const memory = estimate(adapted);
  expect(memory).toMatchObject({ gradients: 8 * trained, optimizer: 8 * trained });
  expect(memory.sampling).toBeGreaterThan(4 * parameters);
  // three pages instead of two for each conversation
  const longer = estimateMemory(model, adapted, { ...lengths, longest: 129 }, true);
  const { layers, kvHeads, headWidth } = tiny;
  expect(longer.sampling - memory.sampling).toBe(32 * 64 * 4 * 2 * layers * kvHeads * headWidth);
  // other backends copy only matrices to which adapters are added
  const estimateElsewhere = (run: typeof grpo) => estimateMemory(model, run, lengths, false);
  expect(estimateElsewhere(grpo).sampling).toBeGreaterThan(0);
  expect(estimateElsewhere(adapted).sampling).toBeGreaterThan(estimateElsewhere(grpo).sampling);
  const elsewhere = estimateElsewhere(adapted);
  expect(elsewhere.total).toBe(
    elsewhere.weights + elsewhere.gradients + elsewhere.optimizer + elsewhere.activations,
  );
  const { total, ...parts } = memory;
  expect(total).toBe(Object.values(parts).reduce((sum, it) => sum + it, 0));
});

test("memory elsewhere: scores of attention for each pair of tokens of a batch", () => {
  // the shape of the student, where the tensors of a pass were measured on tensorflow
  const sizes = { ...tiny, vocabulary: 512, width: 128, layers: 4, heads: 4, kvHeads: 2 };
  const student = { architecture: { ...sizes, headWidth: 32, hidden: 384 }, context: 1024 };
  const estimate = (conversation: number, run: typeof sft | typeof lowRank) =>
    estimateMemory(
      student,
      run,
      { ...lengths, opening: 10, conversation, longest: conversation, sampled: conversation / 3 },
      false,
    ).activations /
    2 ** 20;
  const one = createRunConfig({ ...common, method: "sft", sft: { conversations: 1 } });
  const lowRank = { ...one, lora: { rank: 8, alpha: 16 } };
  const measured = [
    [one, 250, 114],
    [one, 500, 305],
    [one, 1000, 946],
    [lowRank, 500, 363],
    [lowRank, 1000, 1066],
  ] as const;
  for (const [run, tokens, megabytes] of measured) {
    const ratio = estimate(tokens, run) / megabytes;
    expect(ratio, `${tokens} tokens`).toBeGreaterThan(0.9);
    expect(ratio, `${tokens} tokens`).toBeLessThan(1.1);
  }
});

test("the speed is measured in the length of conversations, of large layers in a part of it", () => {
  const count = (width: number, length: number) =>
    countMeasuredTokens({ ...tiny, width, hidden: 3 * width, context: 4096 }, length);
  expect(count(576, 900)).toBe(900);
  expect(count(576, 1700)).toBeGreaterThan(1500);
  expect(count(2560, 3000)).toBe(512);
  expect(count(128, 5000)).toBe(4095);
});

test("conversations at a time: fewer on wasm, which can address less memory", () => {
  // of SmolLM2-135M
  const sizes = { ...tiny, layers: 30, kvHeads: 3, headWidth: 64 };
  expect([true, false].map(isWasm => countSlots(sizes, 4096, isWasm))).toEqual([2, 11]);
  expect([true, false].map(isWasm => countSlots(sizes, 512, isWasm))).toEqual([22, 64]);
});

test("the nearest settings come first, and adapters last", () => {
  expect(listProposals({ ...sft, workers: 2 }).map(it => it.label)).toEqual([
    "one worker",
    "sft.conversations 2",
    "sft.conversations 1",
    "--lora 8",
    "--lora 8 and sft.conversations 1",
  ]);
  expect(listProposals({ ...grpo, workers: 2 }).map(it => it.label)).toEqual([
    "one worker",
    "--lora 8",
  ]);
});

test("as text", () => {
  const plan: TrainingPlan = {
    model: "SmolLM2-135M",
    parameters: 134_515_008,
    trained: 2_442_240,
    method: "grpo",
    lengths,
    tokens: { learned: 800, sampled: 384, batch: 2000 },
    memory: {
      weights: 538_060_032,
      gradients: 1,
      optimizer: 1,
      activations: 2 ** 30,
      sampling: 2 ** 30,
      total: 3 * 2 ** 30,
    },
    workers: 1,
    backend: "wasm",
    device: "the processor",
    notes: ["backend tensorflow was passed over: it found no graphics card"],
    limit: 2 ** 32,
    fits: true,
    seconds: 240,
  };
  expect(summarizePlan(plan)).toBe(
    "135 M parameters, 2.4 M trained · about 4 minutes a step · 3.0 GB of 4.0 GB for a worker on wasm",
  );
  expect(formatPlan(plan)).toContain("  weights        514 MB");
  expect(formatPlan(plan)).toContain(
    "  backend        wasm, the processor; backend tensorflow was passed over: it found no graphics card",
  );
  const { seconds: _, ...rest } = plan;
  const large = { ...rest, fits: false, proposal: "--lora 8" };
  expect(summarizePlan(large)).toMatch(/does not fit: needs 3\.0 GB .*; --lora 8 fits/);
  expect(formatPlan({ ...rest, fits: false }).at(-1)).toMatch(/no setting makes it fit\.$/);
  const prepare = formatPrepareCommand({ tasks: "/t/my.tasks.jsonl", model: "/my models/m" });
  expect(formatPlan({ ...rest, fits: false, prepare }).at(-1)).toBe(
    "  prove-rl engine prepare trl --tasks /t/my.tasks.jsonl --model '/my models/m' --out trl",
  );
});
