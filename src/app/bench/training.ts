/**
 * Measures `bench training`: GRPO steps of the student that runs start from, and the work that they
 * consist of, on one core. Times are of the processor, so that other programs on the machine matter
 * little.
 */
import { setImmediate } from "node:timers/promises";
import { startBackend } from "../../compute/backend.ts";
import { createRandom } from "../../environment/random.ts";
import type { Architecture } from "../../model/transformer/architecture.ts";
import { openDecoder } from "../../model/transformer/decoder.ts";
import { loadModel, type StoredModel } from "../../model/modelFolder.ts";
import { packGroups } from "../../model/transformer/packedBatch.ts";
import { openStudent } from "../../model/student.ts";
import {
  computeGradients,
  disposeGradients,
  initializeModel,
  meanLoss,
  type Model,
} from "../../model/transformer/transformer.ts";
import { rollout } from "../../policy/rollout.ts";
import { defaultProfile } from "../../reward/profiles.ts";
import { defaultGrpoSettings, type GrpoConfig } from "../../run/config.ts";
import { createRunConfig } from "../../run/createRunConfig.ts";
import type { GrpoStep } from "../../run/metrics.ts";
import { synthesize } from "../../synthesis/pipeline/run/synthesize.ts";
import { openGrpo } from "../../train/grpo/grpo.ts";
import { createAdamW } from "../../train/optimizer.ts";
import { createSingleReplica } from "../../train/replicas.ts";
import { createAttemptScorer } from "../../train/grpo/scoredAttempt.ts";
import {
  createTrainingGroup,
  packAttempts,
  splitIntoBatches,
  type TrainingGroup,
} from "../../train/trainingGroup.ts";
import type { Task } from "../../trajectory/task.ts";
import type { AppContext } from "../context.ts";
import { readStart, type Start } from "../experiment.ts";
import { findStartModel } from "../resources.ts";
import { readProcessorSeconds, timeWork, type AsyncWork, type BenchmarkRow } from "./benchmark.ts";

export const runCount = 5;

export async function* measureTraining(context: AppContext): AsyncGenerator<BenchmarkRow> {
  const { signal } = context;
  await startBackend("wasm", { programs: context.dist });
  const model = initializeModel(dense, 1);
  yield* measureWork(createDenseWork(model), signal);
  const decoding = createDecodingWork(model);
  yield* measureWork(decoding, signal);
  decoding.dispose();
  model.dispose();
  yield* measureSteps(context);
}

/** A row with what is done in a second of the processor. */
async function* measureWork(
  { name, unit, amount, repeat, work }: AsyncWork,
  signal: AbortSignal,
): AsyncGenerator<BenchmarkRow> {
  const runs: number[] = [];
  // compiles
  await work();
  while (runs.length < runCount) {
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
    runs.push((amount * repeat) / (await timeWork(work, repeat)).processor);
  }
  yield { name, unit, runs };
}

/** The model and the batch of `training.dense`. */
export const dense: Architecture = {
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
export const denseSequences = 4;
export const denseLength = 256;

/** Sequences that are sampled, the tokens of each that are given, and those that are chosen. */
export const decoded = { sequences: 16, prompt: 128, steps: 64 };

/** A pass forward and backward in which every token is a target. */
export function createDenseWork(model: Model): AsyncWork {
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
  return {
    name: "training.dense",
    unit: "tokens/s",
    amount: denseSequences * denseLength,
    repeat: 4,
    work: async () => {
      const { gradients } = await computeGradients(model, packed, meanLoss);
      // the last one to be computed: a graphics card may not be ready before it is read
      await gradients.get("embedding")!.data();
      disposeGradients(gradients);
    },
  };
}

/** Sixteen sequences that grow from 128 to 192 tokens. */
export function createDecodingWork(model: Model): AsyncWork & { dispose(): void } {
  const { sequences, steps } = decoded;
  const random = createRandom(2);
  const prompt = Array.from({ length: decoded.prompt }, () => random.integer(dense.vocabulary));
  const decoder = openDecoder(model, { slots: sequences });
  return {
    name: "training.decoding",
    unit: "tokens/s",
    amount: sequences * steps,
    // in a shorter run, what V8 does in other threads would count for much
    repeat: 8,
    work: async () => {
      const slots = Array.from({ length: sequences }, () => decoder.open());
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
    },
    dispose: () => decoder.dispose(),
  };
}

/** The student that steps are measured with, and new tasks on the servers that it knows. */
export async function prepareSteps(context: AppContext): Promise<{
  readonly start: Start;
  readonly tasks: readonly Task[];
}> {
  const start = await readStart(findStartModel(context.resources));
  const servers = [...context.catalog.servers.keys()].filter(it =>
    Object.hasOwn(start.model.config.saw.servers, it),
  );
  const count = (runCount + 1) * defaultGrpoSettings.prompts;
  return { start, tasks: await synthesizeTasks(servers, count, context) };
}

/** Whole steps with the default settings: attempts in live sessions, rewards and learning. */
async function* measureSteps(context: AppContext): AsyncGenerator<BenchmarkRow> {
  const { catalog, signal, showProgress } = context;
  const { start, tasks } = await prepareSteps(context);
  const stored = start.model;
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
      profile: defaultProfile,
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
  yield* measureWork(
    createBatchWork(model, await recordStep(start, tasks, model, context)),
    signal,
  );
  model.dispose();
  reference.dispose();
}

/** The attempts of one step of the default size. */
export const recordStep = (
  { model: stored }: Start,
  tasks: readonly Task[],
  model: Model,
  context: AppContext,
): Promise<TrainingGroup[]> => {
  const { prompts, group } = defaultGrpoSettings;
  return recordAttempts(stored, model, { tasks: tasks.slice(0, prompts), group }, context);
};

/** The gradients of a step's attempts, packed. */
export function createBatchWork(model: Model, groups: readonly TrainingGroup[]): AsyncWork {
  const batches = splitIntoBatches(groups).map(packAttempts);
  return {
    name: "training.batch",
    unit: "attempts/s",
    amount: groups.flatMap(it => it.attempts).length,
    repeat: 1,
    work: async () => {
      for (const it of batches)
        disposeGradients((await computeGradients(model, it, meanLoss)).gradients);
    },
  };
}

interface AttemptOptions {
  readonly tasks: readonly Task[];
  /** Attempts at each task. */
  readonly group: number;
  /** The advantage of an attempt by its number in the group; by default none. */
  readonly getAdvantage?: (number: number) => number;
  /** Whether the KL term is measured on all groups. */
  readonly isMeasured?: boolean;
}

/** A step's attempts. Those that end without a token of the student's are left out. */
export async function recordAttempts(
  { chat }: StoredModel,
  model: Model,
  { tasks, group: size, getAdvantage = () => 0, isMeasured = false }: AttemptOptions,
  { catalog, signal }: Pick<AppContext, "catalog" | "signal">,
): Promise<TrainingGroup[]> {
  const student = openStudent(model, chat, { name: "student", temperature: 1, seed: 1 });
  const scoreRollout = createAttemptScorer({ catalog, profile: defaultProfile, chat });
  const groups = await Promise.all(
    tasks.map(task =>
      Promise.all(
        Array.from({ length: size }, async (_, i) => {
          const id = `${task.id}/${i}`;
          const scored = scoreRollout(await rollout(task, student, catalog, { id, signal }));
          return scored && { ...scored, advantage: getAdvantage(i) };
        }),
      ),
    ),
  );
  student.dispose();
  return groups
    .map(group => group.filter(it => it !== undefined))
    .filter(group => group.some(it => it.logprobs.length > 0))
    .map((group, number) => createTrainingGroup(group, { number, isMeasured }));
}

/** Tasks on some servers. */
export async function synthesizeTasks(
  servers: readonly string[],
  count: number,
  { catalog, resources, signal }: Pick<AppContext, "catalog" | "resources" | "signal">,
): Promise<Task[]> {
  const tasks: Task[] = [];
  const options = { seed: 1, servers, menu: "chain", preset: "student", split: "train" } as const;
  for await (const it of synthesize({ catalog, resources, signal, ...options })) {
    await setImmediate();
    if (it.kind === "rejected") continue;
    tasks.push(it.task);
    if (tasks.length === count) break;
  }
  return tasks;
}
