/**
 * The training loop of a replica: loads the model, takes steps until the run ends, and sends the
 * results to the main thread, which writes the files and serves clients. All replicas run the loop
 * in parallel, and their weights stay equal.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Catalog } from "../environment/catalog.ts";
import { startBackend } from "../compute/backend.ts";
import { initializeAdapters } from "../model/transformer/adapters.ts";
import { loadAdapters } from "../model/huggingface/weights.ts";
import { loadModel, readModelFolder, copyWeights, type StoredModel } from "../model/modelFolder.ts";
import {
  addAdapters,
  getTrainable,
  withoutAdapters,
  type Model,
} from "../model/transformer/transformer.ts";
import type { Architecture } from "../model/transformer/architecture.ts";
import type { NamedArray } from "../model/weights.ts";
import { profiles } from "../reward/profiles.ts";
import { backends, type RunConfig } from "../run/config.ts";
import type { GroupLine } from "../run/group.ts";
import type { StepMetrics } from "../run/metrics.ts";
import type { Corpus } from "./sft/corpus.ts";
import { openGrpo, type GrpoContext, type MakeVariant, type StepOutcomes } from "./grpo/grpo.ts";
import type { MethodContext, TrainingMethod } from "./trainingMethod.ts";
import { readOptimizer, createAdamW, type OptimizerState } from "./optimizer.ts";
import type { Replica } from "./replicas.ts";
import { openSft } from "./sft/sft.ts";
import { StepReporter, type StepProgress } from "./stepProgress.ts";
import { openSharedTasks, type SharedTasks, type FixtureFile } from "./trainingSet.ts";

/** What the main thread gives each replica to start with. */
export interface ReplicaSetup {
  readonly config: RunConfig;
  /** The folder of the built programs, and folders of fixtures, the first match winning. */
  readonly programFolder: string;
  readonly fixtureFolders: readonly string[];
  /** The folder of native backends, which has those that are installed. */
  readonly backendsFolder: string;
  /** The model folder to begin from, and the reference model of the KL term. */
  readonly from: string;
  readonly reference: string;
  /** Steps and seconds of training before this start. */
  readonly step: number;
  readonly spent: number;
  /** For `grpo`: the tasks to attempt. */
  readonly tasks: SharedTasks;
  /** The index of each task in its split. */
  readonly places: readonly number[];
  /** The fixture files of the tasks' servers. */
  readonly fixtures: readonly FixtureFile[];
  /** For `sft`: the conversations to learn from. */
  readonly corpus?: Corpus;
  /** For `grpo` with a curriculum: the outcomes of the steps before this start. */
  readonly outcomes: readonly StepOutcomes[];
}

/** A message from the main thread to the replicas. */
export type ReplicaCommand = "pause" | "resume" | "stop";

/** A completed step: the attempts of one replica and, from rank 0, the metrics of all. */
export interface StepMessage {
  readonly kind: "stepped";
  readonly step: number;
  readonly spent: number;
  readonly metrics?: StepMetrics;
  readonly groups: readonly GroupLine[];
}

/** A checkpoint to be written. */
export interface SaveMessage {
  readonly kind: "save";
  readonly step: number;
  readonly spent: number;
  readonly weights: ReadonlyMap<string, NamedArray>;
  readonly optimizer: OptimizerState;
}

/** The first step begins: the backend is started, and the model is loaded. */
interface ReadyMessage {
  readonly kind: "ready";
  readonly backend: string;
  readonly device: string;
  readonly notes: readonly string[];
}

/** How far the next step of a replica is. */
export interface ProgressMessage {
  readonly kind: "progress";
  readonly step: number;
  readonly progress: StepProgress;
}

/**
 * A message to the main thread. All replicas send `stepped` and `progress`; only rank 0 sends the
 * others.
 */
export type ReplicaMessage =
  | ReadyMessage
  | StepMessage
  | ProgressMessage
  | SaveMessage
  | { readonly kind: "paused" | "resumed" }
  | { readonly kind: "ended"; readonly by: "steps" | "time" | "stop" };

/** Trains until all steps are done, the time is used up or the main thread sends `stop`. */
export async function train(
  replica: Replica<ReplicaSetup, ReplicaCommand, ReplicaMessage>,
  catalog: Catalog,
  makeVariant: MakeVariant,
): Promise<void> {
  const { setup, rank } = replica;
  const { config } = setup;
  const stored = readModelFolder(setup.from);
  const ready = await startSharedBackend(replica, stored.config.architecture);
  const model = await loadTrainableModel(stored, config);
  const optimizer = createAdamW(model);
  if (setup.step > 0)
    optimizer.restore(await readOptimizer(join(setup.from, "optimizer.safetensors")));
  let { step, spent } = setup;
  const reporter = new StepReporter(progress =>
    replica.send({ kind: "progress", step: step + 1, progress }),
  );
  const { report } = reporter;
  const context: MethodContext = { group: replica, model, chat: stored.chat, optimizer, report };
  const method = await openMethod(context, setup, { catalog, makeVariant });
  if (ready) replica.send(ready);
  const save = async (step: number, spent: number) => {
    if (rank === 0)
      replica.send({
        kind: "save",
        step,
        spent,
        weights: await copyWeights(model),
        optimizer: await optimizer.state(),
      });
  };

  let savedStep = step;
  const end = async (by: "steps" | "time" | "stop") => {
    if (savedStep < step) await save(step, spent);
    if (rank === 0) replica.send({ kind: "ended", by });
  };
  for (;;) {
    const decision = await decideNext(replica);
    const by = decision === "stop" ? "stop" : findStopReason(config, step, spent);
    if (by) {
      await end(by);
      break;
    }
    const result = await method.step(step + 1, computeProgress(config, step + 1, spent));
    if (!result) {
      await end("stop");
      break;
    }
    const { metrics, groups } = result;
    reporter.endStep();
    step++;
    spent = replica.broadcast(spent + metrics.seconds.total);
    replica.send({
      kind: "stepped",
      step,
      spent,
      ...(rank === 0 ? { metrics } : {}),
      groups: config.keepGroups > 0 && step % config.keepGroups === 0 ? groups : [],
    });
    if (step % config.saveEvery !== 0) continue;
    // replicas whose weights differ would train different models
    replica.assertSame(await sampleWeights(model));
    await save(step, spent);
    savedStep = step;
  }
  method.dispose();
  optimizer.dispose();
  model.dispose();
}

/**
 * Starts the backend of the run. If it is to be the fastest one, the first replica chooses it for
 * all: replicas whose backends differ would compute different weights. Only for it, the result is
 * the message about the choice.
 */
async function startSharedBackend(
  replica: Replica<ReplicaSetup, ReplicaCommand, ReplicaMessage>,
  sizes: Architecture,
): Promise<ReadyMessage | undefined> {
  const { programFolder: programs, backendsFolder, config } = replica.setup;
  const options = { programs, backends: backendsFolder, sizes };
  if (replica.rank === 0) {
    const { name, device, notes } = await startBackend(config.backend, options);
    replica.broadcast(backends.indexOf(name));
    return { kind: "ready", backend: name, device, notes };
  }
  await startBackend(backends[replica.broadcast(0)]!, options);
  return undefined;
}

async function openMethod(
  context: MethodContext,
  setup: ReplicaSetup,
  environment: Pick<GrpoContext, "catalog" | "makeVariant">,
): Promise<TrainingMethod> {
  const { config, places, corpus, outcomes } = setup;
  if (config.method === "sft") return openSft(context, config, corpus!);
  const profile = profiles.find(it => it.name === config.profile);
  if (!profile) throw new Error(`no reward profile ${config.profile}`);
  // now instead of when a task first needs one: they may change during the training
  for (const { server, name } of setup.fixtures) environment.catalog.getFixture(server, name);
  const reference =
    config.grpo.kl > 0 ? await loadReference(context.model, setup.reference) : undefined;
  const method = openGrpo(
    {
      ...context,
      ...environment,
      tasks: openSharedTasks(setup.tasks),
      places,
      reference,
      profile,
      outcomes,
    },
    config,
  );
  return {
    step: (step, progress) => method.step(step, progress),
    dispose: () => (method.dispose(), reference?.dispose()),
  };
}

/** The model, with the adapters that the run trains if it trains some. */
async function loadTrainableModel(stored: StoredModel, { seed }: RunConfig): Promise<Model> {
  const model = await loadModel(stored);
  const { adapters, config } = stored;
  return adapters && !adapters.hasWeights
    ? addAdapters(model, initializeAdapters(config.architecture, adapters.config, seed))
    : model;
}

/**
 * The reference model of the KL term: the weights that the run began with. With adapters it shares
 * those of the base model.
 */
async function loadReference(model: Model, folder: string): Promise<Model> {
  const stored = readModelFolder(folder);
  if (!model.adapters || !stored.adapters) return await loadModel(stored);
  const base = withoutAdapters(model);
  if (!stored.adapters.hasWeights) return base;
  return addAdapters(base, await loadAdapters(folder, model.architecture));
}

const decisions = ["continue", "stop"] as const;
type Decision = (typeof decisions)[number];

/** What all replicas do next. Rank 0 decides; while it is paused, the others wait for it. */
async function decideNext(
  replica: Replica<ReplicaSetup, ReplicaCommand, ReplicaMessage>,
): Promise<Decision> {
  let decision: Decision = "continue";
  if (replica.rank === 0) decision = await receiveCommands(replica);
  else while (replica.receive() !== undefined); // rank 0 decides for all
  return decisions[replica.broadcast(decisions.indexOf(decision))]!;
}

/** Follows the commands that have arrived, and waits while the training is paused. */
async function receiveCommands(
  replica: Replica<ReplicaSetup, ReplicaCommand, ReplicaMessage>,
): Promise<Decision> {
  let isPaused = false;
  for (;;) {
    const command = replica.receive();
    if (command === "stop") return "stop";
    if (command === undefined) {
      if (!isPaused) return "continue";
      await sleep(50);
    } else if (isPaused !== (command === "pause")) {
      isPaused = command === "pause";
      replica.send({ kind: isPaused ? "paused" : "resumed" });
    }
  }
}

const findStopReason = (
  { steps, seconds }: RunConfig,
  step: number,
  spent: number,
): "steps" | "time" | undefined =>
  steps !== undefined && step >= steps
    ? "steps"
    : seconds !== undefined && spent >= seconds
      ? "time"
      : undefined;

/** The part of the run that is done after this step, from 0 to 1. */
const computeProgress = ({ steps, seconds }: RunConfig, step: number, spent: number): number =>
  Math.min(
    1,
    Math.max(steps === undefined ? 0 : step / steps, seconds === undefined ? 0 : spent / seconds),
  );

/** One matrix of the weights that are trained: if replicas differ, it differs. */
const sampleWeights = (model: Model): Promise<Float32Array> =>
  [...getTrainable(model)]
    .find(([name]) => name === "layers.0.attention.qkv" || name.endsWith("lora_B"))![1]
    .data<"float32">();
