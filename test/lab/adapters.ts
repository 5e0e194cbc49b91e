/**
 * Measures the training of adapters of a model in the format of Hugging Face on one backend, for
 * `backends --model`: steps of the optimizer on sequences of two lengths, sampling, a step of
 * GRPO on live sessions, and the most memory.
 */
import { spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { initializeAdapters } from "../../src/model/transformer/adapters.ts";
import { openDecoder } from "../../src/model/transformer/decoder.ts";
import {
  readHuggingFaceFolder,
  readHuggingFaceSettings,
} from "../../src/model/huggingface/folder.ts";
import { loadHuggingFaceModel } from "../../src/model/huggingface/weights.ts";
import type { StoredModel } from "../../src/model/modelFolder.ts";
import { packGroups } from "../../src/model/transformer/packedBatch.ts";
import {
  needsRecomputation,
  addAdapters,
  computeGradients,
  disposeGradients,
  meanLoss,
  withoutAdapters,
  type Model,
} from "../../src/model/transformer/transformer.ts";
import type { GrpoConfig } from "../../src/run/config.ts";
import { createRunConfigFrom } from "../../src/run/createRunConfig.ts";
import { readStartModel } from "../../src/run/startModel.ts";
import { createConversation } from "../../src/train/sft/corpus.ts";
import { trainOnGroups } from "../../src/train/grpo/groupStep.ts";
import { createAdamW, type Optimizer } from "../../src/train/optimizer.ts";
import { createSingleReplica } from "../../src/train/replicas.ts";
import type { TrainingGroup } from "../../src/train/trainingGroup.ts";
import { findProgram } from "../../src/storage/processes.ts";
import { UserError } from "../../src/userError.ts";
import { recordAttempts, synthesizeTasks } from "../../src/app/bench/training.ts";
import { timeWork, type BenchmarkRow, type WorkTime } from "../../src/app/bench/benchmark.ts";
import type { PeakMemory, Peft } from "./peft.ts";
import type { AppContext } from "../../src/app/context.ts";
import { measureWork, type MeasureOptions } from "./measureWork.ts";

/** The adapters of all linear layers. */
export const measuredRank = 8;

/** The sequences that are trained on, if the model reads as many tokens. Half are targets. */
const sequences = [
  { length: 256, runs: 3 },
  { length: 2000, runs: 1 },
];

/** What is sampled: sequences, the tokens of each that are given, and those that are chosen. */
const sampling = { sequences: 4, prompt: 128, steps: 8 };

/** Tasks of the step of GRPO, the attempts at each, and the most tokens that each may write. */
const grpoStep = { prompts: 2, group: 4, answers: 32 };

export interface ModelOptions {
  /** The model folder. */
  readonly model: string;
  /** The name of the backend that runs, and whether it computes on a graphics card. */
  readonly backend: string;
  readonly hasGpu: boolean;
  readonly peft: Peft | undefined;
}

export async function* measureModel(
  context: AppContext,
  { model: folder, backend, hasGpu, peft }: ModelOptions,
): AsyncGenerator<BenchmarkRow> {
  const { showProgress, signal } = context;
  const start = readStartModel(folder);
  if (start.kind !== "hugging-face" || start.adapters)
    throw new UserError(
      `${folder} is not the folder of a Hugging Face model with all weights`,
      "give the folder of one; new adapters are added to it",
    );
  const settings = readHuggingFaceSettings(folder);
  const answers = Math.min(settings.answers, grpoStep.answers);
  const stored = readHuggingFaceFolder(folder, { ...settings, answers });
  const base = await loadHuggingFaceModel(folder);
  const lora = { rank: measuredRank, alpha: 2 * measuredRank };
  const model = addAdapters(base, initializeAdapters(base.architecture, lora, 1));
  const optimizer = createAdamW(model);
  const name = (row: string) => `training.model.${row}.${backend}`;
  const time = hasGpu ? "clock" : "processor";
  const options = { time, hasClockRows: true, signal } as const;
  for (const [i, { length, runs }] of sequences.entries()) {
    if (length > stored.chat.limits.context) continue;
    showProgress(`${backend}: a sequence of ${length} tokens`);
    const memory = (row: string) => name(`${row}-${length}`);
    const row = { name: name(`learning-${length}`), memory, length };
    const training = { model, optimizer, hasGpu, peft };
    yield* measureLearning(training, row, { ...options, runs, isWarm: i > 0 && !hasGpu });
  }
  showProgress(`${backend}: sampling`);
  yield* measureSampling(model, name("sampling"), { ...options, runs: 3 });
  showProgress(`${backend}: a step of GRPO`);
  yield* measureStep(context, { stored, model, optimizer, name, hasGpu });
  optimizer.dispose();
  model.dispose();
}

/** The name of a row, with that of the backend. */
type NameRow = (row: string) => string;

interface Training {
  readonly model: Model;
  readonly optimizer: Optimizer;
  readonly hasGpu: boolean;
  readonly peft: Peft | undefined;
}

/** Tokens a second, and the most memory up to then, also those of PEFT. */
async function* measureLearning(
  { model, optimizer, hasGpu, peft }: Training,
  { name, memory, length }: { name: string; memory: NameRow; length: number },
  options: MeasureOptions,
): AsyncGenerator<BenchmarkRow> {
  const ids = Array.from({ length }, (_, i) => i % model.architecture.vocabulary);
  const mask = ids.map((_, i) => (i < length / 2 ? 0 : 1));
  const packed = packGroups([{ prefix: [1], branches: [{ ids, mask }] }]);
  const byBlock = needsRecomputation(model, packed);
  let other: PeakMemory | undefined;
  const others = peft && {
    peft: async (repeat: number): Promise<WorkTime> => {
      const measured = await peft.measure({ tokens: length, byBlock }, repeat);
      other = measured.memory;
      return measured;
    },
  };
  const work = () => takeStep(model, optimizer, packed);
  yield* measureWork({ name, unit: "tokens/s", amount: length, repeat: 1, work, others }, options);
  yield* listMemory(memory, readPeakMemory(hasGpu));
  if (other) yield* listMemory(row => `${memory(row)}.peft`, other);
}

async function takeStep(
  model: Model,
  optimizer: Optimizer,
  packed: Parameters<typeof computeGradients>[1],
): Promise<void> {
  const { gradients } = await computeGradients(model, packed, meanLoss);
  await optimizer.step(gradients, 0);
  // the norm has been read, so that all gradients are computed
  disposeGradients(gradients);
}

async function* measureSampling(
  model: Model,
  name: string,
  options: MeasureOptions,
): AsyncGenerator<BenchmarkRow> {
  const { sequences: count, prompt, steps } = sampling;
  const decoder = openDecoder(model, { slots: count, context: prompt + steps });
  const ids = Array.from({ length: prompt }, (_, i) => i % model.architecture.vocabulary);
  const choose = { temperature: 1, uniform: 0.5 };
  const work = async () => {
    const slots = Array.from({ length: count }, () => decoder.open());
    await decoder.feed([{ slot: slots[0]!, ids: ids.slice(1) }]);
    decoder.copy(slots[0]!, slots.slice(1));
    for (let i = 0; i < steps; i++)
      await decoder.feed(slots.map(slot => ({ slot, ids: [ids[i]!], choose })));
    for (const slot of slots) decoder.release(slot);
  };
  const amount = count * steps;
  yield* measureWork({ name, unit: "tokens/s", amount, repeat: 1, work }, options);
  decoder.dispose();
}

interface MeasuredStep {
  readonly stored: StoredModel;
  readonly model: Model;
  readonly optimizer: Optimizer;
  readonly name: NameRow;
  readonly hasGpu: boolean;
}

/**
 * One step of GRPO. Rewards are computed, but advantages are given: a model that has learned
 * nothing earns the same in all attempts, and there would be nothing to learn from.
 */
async function* measureStep(
  context: AppContext,
  { stored, model, optimizer, name, hasGpu }: MeasuredStep,
): AsyncGenerator<BenchmarkRow> {
  const { prompts, group } = grpoStep;
  const { grpo } = createRunConfigFrom(readStartModel(stored.folder), {
    startedAt: new Date(),
    tasks: "",
    lora: { rank: measuredRank },
    steps: 1,
    grpo: { prompts, group },
  }) as GrpoConfig;
  const tasks = (await synthesizeTasks(["banking"], 20, context))
    .filter(it => {
      const { opening } = stored.chat.encode(
        createConversation(context.catalog, it, it.trajectory),
      );
      return opening <= stored.chat.limits.prompt;
    })
    .slice(0, prompts);
  if (tasks.length < prompts)
    throw new UserError(
      `tasks on banking do not fit ${stored.folder}: it reads ${stored.chat.limits.context} tokens`,
      "set a longer context with prove-rl model FOLDER --context N",
    );
  let groups: TrainingGroup[] = [];
  const attempts = {
    tasks,
    group,
    isMeasured: true,
    getAdvantage: (i: number) => 1 - 2 * (i % 2),
  };
  const sampled = await timeWork(async () => {
    groups = await recordAttempts(stored, model, attempts, context);
  });
  const trained = {
    group: createSingleReplica(undefined),
    chat: stored.chat,
    model,
    optimizer,
    reference: withoutAdapters(model),
  };
  const learned = await timeWork(async () => {
    await trainOnGroups(trained, groups, grpo, 0, false);
  });
  for (const [row, seconds] of [
    ["sampling", sampled],
    ["learning", learned],
  ] as const) {
    yield {
      name: name(`step-${row}`),
      unit: "s",
      runs: [hasGpu ? seconds.clock : seconds.processor],
    };
    if (!hasGpu) yield { name: `${name(`step-${row}`)}.clock`, unit: "s", runs: [seconds.clock] };
  }
  const tokens = groups.flatMap(it => it.attempts).reduce((sum, it) => sum + it.logprobs.length, 0);
  yield { name: name("step-tokens"), unit: "tokens", runs: [tokens] };
  yield* listMemory(row => name(`step-${row}`), readPeakMemory(hasGpu));
}

function* listMemory(name: NameRow, { process, device }: PeakMemory): Generator<BenchmarkRow> {
  yield { name: name("memory"), unit: "MB", runs: [process] };
  if (device !== undefined) yield { name: name("card-memory"), unit: "MB", runs: [device] };
}

/** The most memory of this process so far, and what its graphics card has in use. */
function readPeakMemory(hasGpu: boolean): PeakMemory {
  const megabytes = (process.resourceUsage().maxRSS * 1024) / 1e6;
  // cards of other makers have no such program
  const program = hasGpu ? findProgram("nvidia-smi", homedir()) : undefined;
  if (program === undefined) return { process: megabytes };
  const query = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];
  const { status, stdout } = spawnSync(program, query, { encoding: "utf8" });
  if (status !== 0) return { process: megabytes };
  return { process: megabytes, device: (Number(stdout.split("\n")[0]) * 2 ** 20) / 1e6 };
}
