/**
 * Measures `bench training`: GRPO steps of the shipped student, and the kernels they consist of, on
 * one core. Times are of the processor, so that other programs on the machine matter little.
 */
import { setImmediate } from "node:timers/promises";
import { startBackend } from "../compute/backend.ts";
import { createRandom } from "../environment/random.ts";
import type { Architecture } from "../model/architecture.ts";
import { openDecoder } from "../model/decoder.ts";
import { loadModel, readModelFolder, type StoredModel } from "../model/modelFolder.ts";
import { packGroups } from "../model/packedBatch.ts";
import {
  computeGradients,
  disposeGradients,
  initializeModel,
  meanLoss,
} from "../model/transformer.ts";
import { provePlusProfile } from "../reward/profiles.ts";
import { defaultGrpoSettings, type GrpoConfig } from "../run/config.ts";
import { createRunConfig } from "../run/createRunConfig.ts";
import type { GrpoStep } from "../run/metrics.ts";
import { synthesize } from "../synthesis/pipeline/synthesize.ts";
import { openGrpo } from "../train/grpo.ts";
import { createAdamW } from "../train/optimizer.ts";
import { createSingleReplica } from "../train/replicas.ts";
import type { Task } from "../trajectory/task.ts";
import type { BenchmarkRow } from "./benchmark.ts";
import type { CliContext } from "./command.ts";
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

export async function* measureTraining(context: CliContext): AsyncGenerator<BenchmarkRow> {
  await startBackend("wasm", { programs: context.dist });
  const model = initializeModel(dense, 1);
  yield await measureDense(model, context);
  yield await measureDecoding(model, context);
  model.dispose();
  yield* measureSteps(context);
}

/** Forward and backward passes in which every token is a target. */
async function measureDense(
  model: ReturnType<typeof initializeModel>,
  { signal }: CliContext,
): Promise<BenchmarkRow> {
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
  const work = () => disposeGradients(computeGradients(model, packed, meanLoss).gradients);
  const runs = await measureRuns(4, work, signal);
  return {
    name: "training.dense",
    unit: "tokens/s",
    runs: runs.map(seconds => (denseSequences * denseLength * 4) / seconds),
  };
}

/** Sixteen sequences that grow from 128 to 192 tokens. */
async function measureDecoding(
  model: ReturnType<typeof initializeModel>,
  { signal }: CliContext,
): Promise<BenchmarkRow> {
  const random = createRandom(2);
  const prompt = Array.from({ length: 128 }, () => random.integer(dense.vocabulary));
  const decoder = openDecoder(model, { slots: decodedSequences });
  const steps = 64;
  const work = () => {
    const slots = Array.from({ length: decodedSequences }, () => decoder.open());
    decoder.feed([{ slot: slots[0]!, ids: prompt }]);
    decoder.copy(slots[0]!, slots.slice(1));
    let last = slots.map(slot => ({ slot, id: 1 }));
    for (let i = 0; i < steps; i++)
      last = decoder.feed(
        last.map(({ slot, id }) => ({
          slot,
          ids: [id],
          choose: { temperature: 1, uniform: random.next() },
        })),
      );
    for (const slot of slots) decoder.release(slot);
  };
  const runs = await measureRuns(2, work, signal);
  decoder.dispose();
  return {
    name: "training.decoding",
    unit: "tokens/s",
    runs: runs.map(seconds => (decodedSequences * steps * 2) / seconds),
  };
}

/** Whole steps with the default settings: attempts in live sessions, rewards and learning. */
async function* measureSteps(context: CliContext): AsyncGenerator<BenchmarkRow> {
  const { catalog, resources, signal, showProgress } = context;
  const stored = readModelFolder(findStartModel(resources));
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
      tokenizer: stored.tokenizer,
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
    const { metrics } = await grpo.step(step, 0);
    signal.throwIfAborted();
    // the first step compiles
    if (step === 1) continue;
    rates.push((metrics as GrpoStep).attempts / (readProcessorSeconds() - start));
    steps.push(metrics as GrpoStep);
  }
  grpo.dispose();
  optimizer.dispose();
  model.dispose();
  reference.dispose();
  yield { name: "training.step", unit: "rollouts/s", runs: rates };
  for (const phase of ["sampling", "environment", "learning"] as const)
    yield {
      name: `training.step.${phase}`,
      unit: "share",
      runs: steps.map(({ seconds }) => seconds[phase] / seconds.total),
    };
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

/** The processor's seconds for each of the runs, after one that compiles. */
async function measureRuns(n: number, work: () => void, signal: AbortSignal): Promise<number[]> {
  const runs: number[] = [];
  work();
  while (runs.length < runCount) {
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
    const start = readProcessorSeconds();
    for (let i = 0; i < n; i++) work();
    runs.push(readProcessorSeconds() - start);
  }
  return runs;
}

function readProcessorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
