/**
 * A replica's life: bring up the model, take steps until the run is over, hand over what is to be
 * kept. All replicas run it side by side and stay equal. It writes no files and answers no socket:
 * the trainer's main thread does.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Catalog } from "../environment/catalog.ts";
import { startBackend } from "../compute/backend.ts";
import { loadModel, readModelFolder, copyWeights } from "../model/modelFolder.ts";
import type { NamedArray } from "../model/weights.ts";
import { profiles } from "../reward/profiles.ts";
import type { RunConfig } from "../run/config.ts";
import type { GroupLine } from "../run/group.ts";
import type { StepMetrics } from "../run/metrics.ts";
import type { Task } from "../trajectory/task.ts";
import type { Corpus } from "./corpus.ts";
import { openGrpo } from "./grpo.ts";
import type { MethodContext, TrainingMethod } from "./trainingMethod.ts";
import { readOptimizer } from "./optimizerFile.ts";
import { createAdamW, type OptimizerState } from "./optimizer.ts";
import type { Replica } from "./replicas.ts";
import { openSft } from "./sft.ts";

/** What a replica is handed. */
export interface ReplicaSetup {
  readonly config: RunConfig;
  /** The folder of the built programs, and folders of fixtures, the first match winning. */
  readonly programFolder: string;
  readonly fixtureFolders: readonly string[];
  /** The model folder to begin from, and the one that the KL term holds on to. */
  readonly from: string;
  readonly reference: string;
  /** Steps and seconds that lie behind it. */
  readonly step: number;
  readonly spent: number;
  /** For `grpo`: what to attempt. For `sft`: what to read. */
  readonly tasks: readonly Task[];
  readonly corpus?: Corpus;
}

/** What the main thread tells replicas. */
export type ReplicaCommand = "pause" | "resume" | "stop";

/** What replicas say. All of them say `stepped`, rank 0 with the metrics; the rest is rank 0's. */
export type ReplicaMessage =
  | { readonly kind: "ready"; readonly backend: string; readonly notes: readonly string[] }
  | {
      readonly kind: "stepped";
      readonly step: number;
      readonly spent: number;
      readonly metrics?: StepMetrics;
      readonly groups: readonly GroupLine[];
    }
  | {
      readonly kind: "save";
      readonly step: number;
      readonly spent: number;
      readonly weights: ReadonlyMap<string, NamedArray>;
      readonly optimizer: OptimizerState;
    }
  | { readonly kind: "paused" | "resumed" }
  | { readonly kind: "over"; readonly by: "steps" | "time" | "stop" };

/** Trains until the steps are done, the time is up or it is told to stop. */
export async function train(
  replica: Replica<ReplicaSetup, ReplicaCommand, ReplicaMessage>,
  catalog: Catalog,
): Promise<void> {
  const { setup, rank } = replica;
  const { config } = setup;
  const backend = await startBackend(config.backend, { programs: setup.programFolder });
  if (rank === 0) replica.send({ kind: "ready", backend: backend.name, notes: backend.notes });
  const stored = readModelFolder(setup.from);
  const model = await loadModel(stored);
  const optimizer = createAdamW(model);
  if (setup.step > 0)
    optimizer.restore(await readOptimizer(join(setup.from, "optimizer.safetensors")));
  const ground: MethodContext = { group: replica, model, tokenizer: stored.tokenizer, optimizer };
  const method = await openMethod(ground, setup, catalog);
  const save = (step: number, spent: number) => {
    if (rank === 0)
      replica.send({
        kind: "save",
        step,
        spent,
        weights: copyWeights(model),
        optimizer: optimizer.state(),
      });
  };

  let { step, spent } = setup;
  let saved = step;
  for (;;) {
    const order = await nextOrder(replica);
    const by = order === "stop" ? "stop" : findStopReason(config, step, spent);
    if (by) {
      if (saved < step) save(step, spent);
      if (rank === 0) replica.send({ kind: "over", by });
      break;
    }
    step++;
    const { metrics, groups } = await method.step(step, computeProgress(config, step, spent));
    spent = replica.broadcast(spent + metrics.seconds.total);
    replica.send({
      kind: "stepped",
      step,
      spent,
      ...(rank === 0 ? { metrics } : {}),
      groups: config.keepGroups > 0 && step % config.keepGroups === 0 ? groups : [],
    });
    if (step % config.saveEvery !== 0) continue;
    // replicas that have drifted apart would be learning two models
    replica.assertSame(sampleWeights(model));
    save(step, spent);
    saved = step;
  }
  method.dispose();
  optimizer.dispose();
  model.dispose();
}

async function openMethod(
  ground: MethodContext,
  setup: ReplicaSetup,
  catalog: Catalog,
): Promise<TrainingMethod> {
  const { config, tasks, corpus } = setup;
  if (config.method === "sft") return openSft(ground, config, corpus!);
  const profile = profiles.find(it => it.name === config.profile);
  if (!profile) throw new Error(`no reward profile ${config.profile}`);
  const reference = await loadModel(readModelFolder(setup.reference));
  const method = openGrpo({ ...ground, catalog, tasks, reference, profile }, config);
  return {
    step: (step, progress) => method.step(step, progress),
    dispose: () => (method.dispose(), reference.dispose()),
  };
}

const orderCodes = ["go", "stop"] as const;

/** What all replicas are to do next. While paused, rank 0 listens and the others wait for it. */
async function nextOrder(
  replica: Replica<ReplicaSetup, ReplicaCommand, ReplicaMessage>,
): Promise<"go" | "stop"> {
  let order: "go" | "stop" = "go";
  let isPaused = false;
  if (replica.rank === 0)
    for (;;) {
      const told = replica.receive();
      if (told === "stop") {
        order = "stop";
        break;
      }
      if (told === "pause" || told === "resume") {
        if (isPaused !== (told === "pause"))
          replica.send({ kind: told === "pause" ? "paused" : "resumed" });
        isPaused = told === "pause";
      }
      if (told === undefined && !isPaused) break;
      if (told === undefined) await sleep(50);
    }
  else while (replica.receive() !== undefined); // rank 0 decides for all
  return orderCodes[replica.broadcast(orderCodes.indexOf(order))]!;
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

/** How much of the run is done once this step is, from 0 to 1. */
const computeProgress = ({ steps, seconds }: RunConfig, step: number, spent: number): number =>
  Math.min(
    1,
    Math.max(steps === undefined ? 0 : step / steps, seconds === undefined ? 0 : spent / seconds),
  );

/** Enough of the weights to see a difference. */
const sampleWeights = (model: Awaited<ReturnType<typeof loadModel>>): Float32Array =>
  model.parameters.get("layers.0.attention.qkv")!.dataSync() as Float32Array;
