/**
 * Measures `bench training`: GRPO steps of the shipped student, and the work they consist of, on
 * one core. Times are of the processor, so that other programs on the machine matter little. With
 * PyTorch, the same work is done there after each run. Then the trainer takes such steps with one
 * worker and with two.
 */
import { startBackend } from "../compute/backend.ts";
import { loadModel } from "../model/modelFolder.ts";
import { computeGradients, disposeGradients, meanLoss, type Model } from "../model/transformer.ts";
import { defaultProfile } from "../reward/profiles.ts";
import { defaultGrpoSettings, type GrpoConfig } from "../run/config.ts";
import { createRunConfig } from "../run/createRunConfig.ts";
import type { GrpoStep } from "../run/metrics.ts";
import { openGrpo } from "../train/grpo/grpo.ts";
import { createAdamW } from "../train/optimizer.ts";
import { createSingleReplica } from "../train/replicas.ts";
import { packAttempts, splitIntoBatches, type TrainingGroup } from "../train/trainingGroup.ts";
import type { BenchmarkRow } from "./benchmark.ts";
import { recordAttempts, synthesizeTasks } from "./benchAttempts.ts";
import { measureDense } from "./benchDense.ts";
import type { Torch } from "./benchTorch.ts";
import { measureWorkers } from "./benchWorkers.ts";
import type { CliContext } from "./command.ts";
import { readStart } from "./experiment.ts";
import { measureWork, readProcessorSeconds } from "./measureWork.ts";
import { findStartModel } from "./resources.ts";

const runCount = 5;

export async function* measureTraining(
  context: CliContext,
  torch?: Torch,
): AsyncGenerator<BenchmarkRow> {
  const { signal } = context;
  await startBackend("wasm", { programs: context.dist });
  yield* measureDense({ torch, runs: runCount, time: "processor", signal });
  yield* measureSteps(context, torch);
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
      others: torch && {
        "torch-sorted": torch.measure({ work: "sorted", ...sent }),
        "torch-trl": torch.measure({ work: "trl", ...sent }),
      },
    },
    { runs: runCount, time: "processor", signal },
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
    // those that the student was trained on
    [...catalog.servers.keys()].filter(it => Object.hasOwn(stored.config.saw.servers, it)),
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
  const attempts = await recordAttempts(
    stored,
    model,
    { tasks: tasks.slice(0, config.grpo.prompts), group: config.grpo.group },
    context,
  );
  yield* measureBatch(model, attempts, context, torch);
  model.dispose();
  reference.dispose();
  yield* measureWorkers(start, tasks, context);
}
