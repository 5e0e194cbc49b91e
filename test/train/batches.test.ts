/** A step that is divided into batches has the gradients of all its tokens at once. */
import * as tf from "@tensorflow/tfjs-core";
import { beforeAll, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import type { ChatFormat } from "../../src/model/chatFormat.ts";
import { packGroups } from "../../src/model/transformer/packedBatch.ts";
import {
  computeGradients,
  computeLogProbabilities,
  disposeGradients,
  initializeModel,
  type Gradients,
  type Model,
} from "../../src/model/transformer/transformer.ts";
import type { GrpoConfig, SftConfig } from "../../src/run/config.ts";
import type { SftStep } from "../../src/run/metrics.ts";
import { createRunConfig } from "../../src/run/createRunConfig.ts";
import { tokenPart, type Corpus } from "../../src/train/sft/corpus.ts";
import { trainOnGroups, computeLoss } from "../../src/train/grpo/groupStep.ts";
import type { Optimizer } from "../../src/train/optimizer.ts";
import { createSingleReplica } from "../../src/train/replicas.ts";
import { openSft } from "../../src/train/sft/sft.ts";
import {
  packAttempts,
  splitIntoBatches,
  tokensPerBatch,
  type TrainingGroup,
} from "../../src/train/trainingGroup.ts";
import { checkClose, programs } from "../compute/numbers.ts";
import { createTokens, tiny } from "../model/tiny.ts";

let model: Model;
beforeAll(async () => {
  await startBackend("wasm", { programs });
  model = initializeModel(tiny, 3);
});

/** A context of a training whose optimizer keeps the gradients of the last step. */
function createContext() {
  const steps: Map<string, Float32Array>[] = [];
  const optimizer = {
    step: async (gradients: Gradients) => (steps.push(await readGradients(gradients)), { norm: 1 }),
  } as unknown as Optimizer;
  const chat = { limits: { sampled: 64 } } as ChatFormat;
  return { context: { group: createSingleReplica(undefined), model, chat, optimizer }, steps };
}

async function readGradients(gradients: Gradients): Promise<Map<string, Float32Array>> {
  const values = new Map<string, Float32Array>();
  for (const [name, it] of gradients) values.set(name, await it.data<"float32">());
  return values;
}

async function checkGradients(
  actual: ReadonlyMap<string, Float32Array>,
  { gradients }: { gradients: Gradients },
): Promise<void> {
  for (const [name, it] of await readGradients(gradients))
    checkClose(actual.get(name)!, it, 1e-5, name);
  disposeGradients(gradients);
}

test("a group that has more tokens than a batch is divided", async () => {
  const length = 60;
  const group: TrainingGroup = {
    number: 0,
    isMeasured: false,
    opening: createTokens(20, 1),
    attempts: Array.from({ length: 50 }, (_, number) => ({
      number,
      branch: { ids: createTokens(length, number), mask: Array.from({ length }, () => 1) },
      logprobs: Array.from({ length }, () => -3.5),
      advantages: Array.from({ length }, () => Math.sin(number)),
    })),
  };
  const batches = splitIntoBatches([group]);
  expect(batches.map(it => it.map(part => part.attempts.length))).toEqual([[33], [17]]);
  const divided = batches.flat().flatMap(it => it.attempts);
  expect(divided.toSorted((a, b) => a.number - b.number)).toEqual(group.attempts);

  const common = { startedAt: new Date(0), tasks: "" };
  const { grpo } = createRunConfig({ ...common, grpo: { kl: 0 } }) as GrpoConfig;
  const { context, steps } = createContext();
  await trainOnGroups({ ...context, reference: undefined }, [group], grpo, 0, false);
  const all = {
    lengths: group.attempts.map(() => length),
    advantages: Float32Array.from(group.attempts.flatMap(it => it.advantages)),
    oldLogprobs: Float32Array.from(group.attempts.flatMap(it => it.logprobs)),
  };
  const size = { tokens: 50 * length, attempts: 50, longest: 64 };
  const whole = packAttempts([group]);
  await checkGradients(
    steps[0]!,
    await computeGradients(model, whole, lp => computeLoss(lp, all, grpo, size)),
  );
});

test("a batch counts what attempts have in common once", () => {
  const [common, own] = [createTokens(200, 1), 40];
  const createGroup = (number: number, count: number): TrainingGroup => ({
    number,
    isMeasured: false,
    opening: createTokens(20, number),
    attempts: Array.from({ length: count }, (_, i) => {
      const ids = [...common, ...createTokens(own, 50 * number + i)];
      return {
        number: i,
        branch: { ids, mask: ids.map(() => 1) },
        logprobs: ids.map(() => -3.5),
        advantages: ids.map(() => Math.sin(i)),
      };
    }),
  });
  const countAttempts = (groups: readonly TrainingGroup[]) =>
    splitIntoBatches(groups).map(it => it.map(part => part.attempts.length));
  // three times 540 tokens to compute, or 5,780 if all that the attempts consist of is counted
  const groups = [createGroup(0, 8), createGroup(1, 8), createGroup(2, 8)];
  expect(countAttempts(groups)).toEqual([[8, 8, 8]]);
  expect(countAttempts([createGroup(0, 60)])).toHaveLength(2);
  for (const batch of splitIntoBatches([...groups, createGroup(3, 60)]))
    expect(packAttempts(batch).ids.length).toBeLessThanOrEqual(tokensPerBatch);
});

test("conversations that have more tokens than a batch are divided", async () => {
  const [count, length] = [45, 90];
  expect(count * length).toBeGreaterThan(2 * tokensPerBatch);
  const conversations = Array.from({ length: count }, (_, i) => createTokens(length, i));
  const isTaught = (i: number) => i > 0 && i % 3 !== 0;
  const corpus: Corpus = {
    ids: Uint16Array.from(conversations.flat()),
    parts: Uint8Array.from(conversations.flat(), (_, i) =>
      isTaught(i % length) ? tokenPart.taught : tokenPart.given,
    ),
    starts: Uint32Array.from({ length: count + 1 }, (_, i) => i * length),
    trainingCount: count,
  };
  const common = { startedAt: new Date(0), tasks: "", method: "sft" } as const;
  const { context, steps } = createContext();
  const takeStep = async (given: number, trainingCount = count, progress = 0.1) => {
    const sft = { conversations: trainingCount, given };
    const config = createRunConfig({ ...common, sft }) as SftConfig;
    const method = openSft(context, config, { ...corpus, trainingCount });
    return (await method.step(1, progress))!.metrics as SftStep;
  };
  const metrics = await takeStep(0);
  const branches = conversations.map(ids => ({ ids, mask: ids.map((_, i) => +isTaught(i)) }));
  const packed = packGroups(branches.map(it => ({ prefix: [], branches: [it] })));
  const result = await computeGradients(model, packed, lp => tf.neg(tf.mean(lp)));
  expect(metrics.loss).toBeCloseTo(result.loss, 5);
  await checkGradients(steps[0]!, result);
  // the loss is that of what is taught, even if the rest has the same weight
  expect((await takeStep(1)).loss).toBeCloseTo(result.loss, 5);
  // validation is divided, too
  const kept = branches.slice(1).map(it => ({ prefix: [], branches: [it] }));
  const logprobs = await computeLogProbabilities(model, packGroups(kept));
  const loss = -logprobs.reduce((sum, it) => sum + it, 0) / logprobs.length;
  expect((await takeStep(0, 1, 1)).validation).toBeCloseTo(loss, 5);
});
