/**
 * Measures `bench training`: GRPO steps of the shipped student, and the work they consist of, on
 * one core. Times are of the processor, so that other programs on the machine matter little. With
 * PyTorch, the same work is done there after each run. Then the trainer takes such steps with one
 * worker and with two.
 */
import { setImmediate } from "node:timers/promises";
import { startBackend } from "../compute/backend.ts";
import { createRandom } from "../environment/random.ts";
import type { Architecture } from "../model/architecture.ts";
import { openDecoder } from "../model/decoder.ts";
import { loadModel, type StoredModel } from "../model/modelFolder.ts";
import { packGroups } from "../model/packedBatch.ts";
import { openStudent } from "../model/student.ts";
import {
  computeGradients,
  disposeGradients,
  initializeModel,
  meanLoss,
  type Model,
} from "../model/transformer.ts";
import { rollout } from "../policy/rollout.ts";
import { provePlusProfile } from "../reward/profiles.ts";
import { defaultGrpoSettings, type GrpoConfig } from "../run/config.ts";
import { createRunConfig } from "../run/createRunConfig.ts";
import type { GrpoStep } from "../run/metrics.ts";
import { synthesize } from "../synthesis/pipeline/synthesize.ts";
import { openGrpo } from "../train/grpo.ts";
import { createAdamW } from "../train/optimizer.ts";
import { createAttemptScorer } from "../train/scoredAttempt.ts";
import { createSingleReplica } from "../train/replicas.ts";
import {
  createTrainingGroup,
  packAttempts,
  splitIntoBatches,
  type TrainingGroup,
} from "../train/trainingGroup.ts";
import type { Task } from "../trajectory/task.ts";
import type { BenchmarkRow } from "./benchmark.ts";
import type { Torch, TorchWork } from "./benchTorch.ts";
import { measureWorkers } from "./benchWorkers.ts";
import type { CliContext } from "./command.ts";
import { readStart } from "./experiment.ts";
import { findStartModel } from "./resources.ts";

const runCount = 5;

/** The model and the batch of the row `training.dense`. */
const dense: Architecture = {
  vocabulary: 2048,
  width: 128,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headWidth: 32,
  hidden: 384,
  context: 512,
  ropeBase: 10_000,
};
const denseSequences = 4;
const denseLength = 256;

const decodedSequences = 16;

export async function* measureTraining(
  context: CliContext,
  torch?: Torch,
): AsyncGenerator<BenchmarkRow> {
  await startBackend("wasm", { programs: context.dist });
  const model = initializeModel(dense, 1);
  yield* measureDense(model, context, torch);
  yield* measureDecoding(model, context, torch);
  model.dispose();
  yield* measureSteps(context, torch);
}

/** Forward and backward passes in which every token is a target. */
function measureDense(model: Model, { signal }: CliContext, torch: Torch | undefined) {
  const random = createRandom(1);
  const packed = packGroups(
    Array.from({ length: denseSequences }, () => ({
      prefix: [0],
      branches: [
        {
          ids: Array.from({ length: denseLength }, () => random.integer(dense.vocabulary)),
          mask: Array.from({ length: denseLength }, () => 1),
        },
      ],
    })),
  );
  return measureWork(
    {
      name: "training.dense",
      unit: "tokens/s",
      amount: denseSequences * denseLength,
      repeat: 4,
      work: async () =>
        disposeGradients((await computeGradients(model, packed, meanLoss)).gradients),
      torch: {
        torch: {
          work: "dense",
          architecture: dense,
          sequences: denseSequences,
          length: denseLength,
        },
      },
    },
    torch,
    signal,
  );
}

/** Sixteen sequences that grow from 128 to 192 tokens. */
async function* measureDecoding(model: Model, { signal }: CliContext, torch: Torch | undefined) {
  const random = createRandom(2);
  const prompt = Array.from({ length: 128 }, () => random.integer(dense.vocabulary));
  const decoder = openDecoder(model, { slots: decodedSequences });
  const steps = 64;
  const work = async () => {
    const slots = Array.from({ length: decodedSequences }, () => decoder.open());
    await decoder.feed([{ slot: slots[0]!, ids: prompt }]);
    decoder.copy(slots[0]!, slots.slice(1));
    let last = slots.map(slot => ({ slot, id: 1 }));
    for (let i = 0; i < steps; i++)
      last = await decoder.feed(
        last.map(({ slot, id }) => ({
          slot,
          ids: [id],
          choose: { temperature: 1, uniform: random.next() },
        })),
      );
    for (const slot of slots) decoder.release(slot);
  };
  yield* measureWork(
    {
      name: "training.decoding",
      unit: "tokens/s",
      amount: decodedSequences * steps,
      repeat: 2,
      work,
      torch: {
        torch: {
          work: "decoding",
          architecture: dense,
          sequences: decodedSequences,
          prompt: prompt.length,
          steps,
        },
      },
    },
    torch,
    signal,
  );
  decoder.dispose();
}

/**
 * The gradients of a step's attempts, packed, and in PyTorch both sorted by length and in the
 * layout of TRL.
 */
async function* measureBatch(
  model: Model,
  groups: readonly TrainingGroup[],
  { signal }: CliContext,
  torch: Torch | undefined,
) {
  const batches = splitIntoBatches(groups).map(packAttempts);
  const work = async () => {
    for (const it of batches)
      disposeGradients((await computeGradients(model, it, meanLoss)).gradients);
  };
  const sent = {
    architecture: model.architecture,
    groups: groups.map(group => ({
      prefix: group.opening,
      branches: group.attempts.map(it => it.branch),
    })),
  };
  yield* measureWork(
    {
      name: "training.batch",
      unit: "attempts/s",
      amount: groups.flatMap(it => it.attempts).length,
      repeat: 1,
      work,
      torch: { "torch-sorted": { work: "sorted", ...sent }, "torch-trl": { work: "trl", ...sent } },
    },
    torch,
    signal,
  );
}

/** Whole steps with the default settings: attempts in live sessions, rewards and learning. */
async function* measureSteps(
  context: CliContext,
  torch: Torch | undefined,
): AsyncGenerator<BenchmarkRow> {
  const { catalog, resources, signal, showProgress } = context;
  const start = await readStart(findStartModel(resources));
  const stored = start.model;
  const tasks = await synthesizeTasks(
    stored,
    (runCount + 1) * defaultGrpoSettings.prompts,
    context,
  );
  const [model, reference] = [await loadModel(stored), await loadModel(stored)];
  const config = {
    ...createRunConfig({
      startedAt: new Date(),
      tasks: "",
      seed: 1,
      steps: runCount + 1,
      method: "grpo",
      // the student stays the same
      grpo: { learningRate: 1e-12 },
    }),
  } as GrpoConfig;
  const optimizer = createAdamW(model);
  const grpo = openGrpo(
    {
      group: createSingleReplica(undefined),
      model,
      chat: stored.chat,
      optimizer,
      catalog,
      tasks,
      reference,
      profile: provePlusProfile,
    },
    config,
  );
  const steps: GrpoStep[] = [];
  const rates: number[] = [];
  for (let step = 1; step <= runCount + 1; step++) {
    showProgress(`training: step ${step} of ${runCount + 1}`);
    const start = readProcessorSeconds();
    const { metrics } = (await grpo.step(step, 0))!;
    signal.throwIfAborted();
    // the first step compiles
    if (step === 1) continue;
    rates.push((metrics as GrpoStep).attempts / (readProcessorSeconds() - start));
    steps.push(metrics as GrpoStep);
  }
  grpo.dispose();
  optimizer.dispose();
  yield { name: "training.step", unit: "rollouts/s", runs: rates };
  for (const phase of ["sampling", "environment", "learning"] as const)
    yield {
      name: `training.step.${phase}`,
      unit: "share",
      runs: steps.map(({ seconds }) => (seconds[phase] ?? 0) / seconds.total),
    };
  const attempts = await recordAttempts(
    stored,
    model,
    tasks.slice(0, config.grpo.prompts),
    context,
  );
  yield* measureBatch(model, attempts, context, torch);
  model.dispose();
  reference.dispose();
  yield* measureWorkers(start, tasks, context);
}

/** A step's attempts. Those that end without a token of the student's are left out. */
async function recordAttempts(
  { chat }: StoredModel,
  model: Model,
  tasks: readonly Task[],
  { catalog }: CliContext,
): Promise<TrainingGroup[]> {
  const student = openStudent(model, chat, { name: "student", temperature: 1, seed: 1 });
  const scoreRollout = createAttemptScorer({ catalog, profile: provePlusProfile, chat });
  const groups = await Promise.all(
    tasks.map(task =>
      Promise.all(
        Array.from({ length: defaultGrpoSettings.group }, async (_, i) =>
          scoreRollout(task, await rollout(task, student, catalog, { id: `${task.id}/${i}` })),
        ),
      ),
    ),
  );
  student.dispose();
  return groups
    .map(group => group.filter(it => it !== undefined))
    .filter(group => group.some(it => it.logprobs.length > 0))
    .map((group, number) => createTrainingGroup(group, { number, isMeasured: false }));
}

/** Tasks on the servers that the student was trained on. */
async function synthesizeTasks(
  { config }: StoredModel,
  count: number,
  { catalog, resources, signal }: CliContext,
): Promise<Task[]> {
  const tasks: Task[] = [];
  const servers = [...catalog.servers.keys()].filter(it => Object.hasOwn(config.saw.servers, it));
  const options = { seed: 1, servers, menu: "chain", preset: "student", split: "train" } as const;
  for await (const it of synthesize({ catalog, resources, signal, ...options })) {
    await setImmediate();
    if (it.kind === "rejected") continue;
    tasks.push(it.task);
    if (tasks.length === count) break;
  }
  return tasks;
}

interface Measured {
  readonly name: string;
  readonly unit: string;
  /** How much of the unit the work is. */
  readonly amount: number;
  /** How many times it is done in a run. */
  readonly repeat: number;
  readonly work: () => Promise<void>;
  /** The same work in PyTorch, by the end of its rows' names. */
  readonly torch: Readonly<Record<string, TorchWork>>;
}

/** Rows of our runs, and with PyTorch of its runs and the ratios of each run. */
async function* measureWork(
  { name, unit, amount, repeat, work, torch: compared }: Measured,
  torch: Torch | undefined,
  signal: AbortSignal,
): AsyncGenerator<BenchmarkRow> {
  const own: number[] = [];
  const others = new Map(torch ? Object.keys(compared).map(it => [it, [] as number[]]) : []);
  // compiles
  await work();
  while (own.length < runCount) {
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
    const start = readProcessorSeconds();
    for (let i = 0; i < repeat; i++) await work();
    own.push((amount * repeat) / (readProcessorSeconds() - start));
    for (const [other, rates] of others)
      rates.push((amount * repeat) / (await torch!.measureSeconds(compared[other]!, repeat)));
  }
  yield { name, unit, runs: own };
  for (const [other, rates] of others) {
    yield { name: `${name}.${other}`, unit, runs: rates };
    yield { name: `${name}.of-${other}`, unit: "ratio", runs: own.map((it, i) => it / rates[i]!) };
  }
}

function readProcessorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
