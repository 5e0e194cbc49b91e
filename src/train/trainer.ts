/**
 * The main thread of a trainer: it holds the run folder's lock, listens on the socket, starts the
 * replicas, and writes down what they say, in order. It does no arithmetic, so it can always
 * answer.
 */
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { Catalog } from "../environment/catalog.ts";
import { UserError } from "../userError.ts";
import { countParameters } from "../model/architecture.ts";
import {
  checkTools,
  createServerDigest,
  readModelFolder,
  addSeenTasks,
  writeModelFolder,
  type TaskTopic,
  type ModelConfig,
  type StoredModel,
} from "../model/modelFolder.ts";
import type {
  TrainerEvent,
  TrainerRequest,
  TrainerState,
  TrainerStatus,
} from "../protocol/trainer.ts";
import { createEndEvent } from "../run/attach.ts";
import type { RunConfig } from "../run/config.ts";
import {
  appendMetrics,
  getCheckpointFolder,
  discardAfter,
  findLatestCheckpoint,
  readRun,
  writeCheckpoint,
  writeEnd,
  type RunEnd,
} from "../run/folder.ts";
import { writeGroups, type GroupLine } from "../run/group.ts";
import { acquireTrainerLock } from "../run/trainerLock.ts";
import type { StepMetrics } from "../run/metrics.ts";
import { openEventWriter } from "../run/tensorboard.ts";
import type { ReplicaMessage, ReplicaSetup, ReplicaCommand } from "./loop.ts";
import { writeOptimizer } from "./optimizerFile.ts";
import { startReplicas, type ReplicaGroup } from "./replicas.ts";
import { openTrainerSocket, type TrainerSocket } from "./trainerSocket.ts";
import { loadTrainingSet } from "./trainingSet.ts";
import { readTextFile } from "../storage/readTextFile.ts";

/** How long replicas may take to finish the step they are in once they are told to stop. */
const stopTimeout = 1_500;

/**
 * Trains the run in a folder until it is over. Resolves with how it ended; what went wrong is in
 * the folder and was said to all attached.
 */
export async function runTrainer(
  folder: string,
  catalog: Catalog,
  fixtures: readonly string[],
): Promise<RunEnd> {
  const trainer = new Trainer(folder, catalog, fixtures);
  return await trainer.run();
}

class Trainer {
  readonly #folder: string;
  readonly #catalog: Catalog;
  readonly #fixtures: readonly string[];
  #state: TrainerState = "starting";
  #activity = "starting";
  #step = 0;
  #spent = 0;
  #config: RunConfig | undefined;
  #socket: TrainerSocket | undefined;
  #releaseLock: (() => void) | undefined;
  #replicas: ReplicaGroup<ReplicaCommand> | undefined;
  #isStopping = false;

  constructor(folder: string, catalog: Catalog, fixtures: readonly string[]) {
    this.#folder = folder;
    this.#catalog = catalog;
    this.#fixtures = fixtures;
  }

  async run(): Promise<RunEnd> {
    let end: RunEnd;
    try {
      this.#config = readRun(this.#folder);
      this.#socket = await openTrainerSocket(
        () => this.#getStatus(),
        request => this.#handleRequest(request),
      );
      this.#releaseLock = acquireTrainerLock(this.#folder, this.#socket.address);
    } catch (error) {
      await this.#socket?.close();
      throw error;
    }
    try {
      end = await this.#train(this.#config);
      this.#state = "finished";
    } catch (error) {
      if (!(error instanceof UserError)) console.error(error);
      this.#state = "failed";
      end = describeFailure(error, this.#step);
    }
    this.#publish(createEndEvent(end));
    try {
      writeEnd(this.#folder, end);
    } catch (error) {
      console.error(error); // a disk too full for this line has already been told of
    }
    this.#releaseLock?.();
    await this.#socket.close();
    return end;
  }

  async #train(config: RunConfig): Promise<RunEnd> {
    const checkpoint = findLatestCheckpoint(this.#folder);
    const { spent } = readState(checkpoint.folder, checkpoint.step);
    this.#step = checkpoint.step;
    this.#spent = spent;
    discardAfter(this.#folder, checkpoint.step);
    const start = readModelFolder(checkpoint.folder);
    this.#activity = "reading tasks";
    const { tasks, corpus, taskTopics } = await loadTrainingSet(
      config,
      this.#catalog,
      start.tokenizer,
      n => this.#reportReading(n),
    );
    checkTools(
      start,
      createServerDigest(this.#catalog.servers),
      taskTopics.flatMap(it => it.servers.map(server => server.name)),
    );
    const reference = getCheckpointFolder(this.#folder, 0);
    const model = {
      ...start,
      config: createTrainedConfig(
        readModelFolder(reference).config,
        config,
        taskTopics,
        this.#catalog,
      ),
    };
    const setup: ReplicaSetup = {
      config,
      programFolder: dirname(program),
      fixtureFolders: this.#fixtures,
      from: checkpoint.folder,
      reference,
      step: checkpoint.step,
      spent,
      tasks,
      ...(corpus ? { corpus } : {}),
    };
    return this.#isStopping
      ? { by: "stop", step: this.#step }
      : await this.#runReplicas(setup, model);
  }

  #reportReading(n: number): void {
    this.#activity = `reading tasks: ${n}`;
    if (n % 500 === 0) this.#publish({ kind: "status", status: this.#getStatus() });
  }

  async #runReplicas(setup: ReplicaSetup, model: StoredModel): Promise<RunEnd> {
    const { config } = setup;
    const count = Math.min(
      config.workers,
      config.method === "grpo" ? config.grpo.prompts : config.sft.conversations,
    );
    const events = openEventWriter(this.#folder, {
      seconds: Date.now() / 1000,
      firstStep: setup.step + 1,
    });
    const partialSteps: Extract<ReplicaMessage, { kind: "stepped" }>[] = [];
    let by: "steps" | "time" | "stop" = "stop";
    // what replicas say is written in the order in which it was said, one thing at a time
    let written: Promise<void> = Promise.resolve();
    let trouble: unknown;
    const to: ReplicaInbox = { partialSteps, count, events, model, onOver: it => (by = it) };
    const write = async (before: Promise<void>, said: ReplicaMessage) => {
      await before;
      if (trouble !== undefined) return;
      try {
        await this.#handleMessage(said, to);
      } catch (error) {
        trouble = error;
        await this.#replicas?.terminate();
      }
    };
    const onMessage = (_rank: number, said: ReplicaMessage) => {
      written = write(written, said);
    };
    this.#activity = "starting the workers";
    this.#replicas = startReplicas<ReplicaSetup, ReplicaCommand, ReplicaMessage>({
      program,
      count,
      maxFloats: countParameters(model.config.architecture),
      setup,
      onMessage,
    });
    if (this.#isStopping) this.#handleRequest("stop");
    await this.#replicas.done;
    await written;
    if (trouble !== undefined) throw trouble;
    return { by, step: this.#step };
  }

  async #handleMessage(said: ReplicaMessage, to: ReplicaInbox): Promise<void> {
    switch (said.kind) {
      case "ready":
        if (!this.#isStopping) this.#state = "training";
        for (const note of said.notes) console.error(note);
        this.#activity = `training on ${said.backend}`;
        return this.#publish({ kind: "status", status: this.#getStatus() });
      case "stepped": {
        to.partialSteps.push(said);
        const parts = to.partialSteps.filter(it => it.step === said.step);
        if (parts.length < to.count) return;
        to.partialSteps.splice(
          0,
          to.partialSteps.length,
          ...to.partialSteps.filter(it => it.step !== said.step),
        );
        this.#recordStep(parts, to.events);
        if (to.pendingSave?.step === said.step)
          await this.#saveCheckpoint(to.pendingSave, to.model);
        return;
      }
      case "save":
        // rank 0 may be heard before the others: no checkpoint stands before its step is written
        // down
        if (said.step > this.#step) to.pendingSave = said;
        else await this.#saveCheckpoint(said, to.model);
        return;
      case "paused":
      case "resumed":
        this.#state = said.kind === "paused" ? "paused" : "training";
        return this.#publish({ kind: "status", status: this.#getStatus() });
      case "over":
        return to.onOver(said.by);
      default:
        throw new Error(`a replica said ${JSON.stringify(said satisfies never)}`);
    }
  }

  #recordStep(
    parts: readonly Extract<ReplicaMessage, { kind: "stepped" }>[],
    events: (seconds: number, metrics: StepMetrics) => void,
  ): void {
    const { metrics, step, spent } = parts.find(it => it.metrics)!;
    const groups: readonly GroupLine[] = parts.flatMap(it => it.groups);
    // the attempts first: whoever sees the step in the metrics can open them
    if (groups.length > 0) writeGroups(this.#folder, step, sortByPlace(groups));
    appendMetrics(this.#folder, metrics!);
    events(Date.now() / 1000, metrics!);
    this.#step = step;
    this.#spent = spent;
    const { steps } = this.#config!;
    this.#activity = steps === undefined ? `step ${step}` : `step ${step} of ${steps}`;
    this.#publish({ kind: "stepped", metrics: metrics! });
  }

  async #saveCheckpoint(
    said: Extract<ReplicaMessage, { kind: "save" }>,
    { config, tokenizer }: StoredModel,
  ): Promise<void> {
    const training = config.training.toSpliced(-1, 1, {
      ...config.training.at(-1)!,
      steps: said.step,
      seconds: Math.round(said.spent * 10) / 10,
    });
    const folder = await writeCheckpoint(this.#folder, said.step, async temporary => {
      await writeOptimizer(join(temporary, "optimizer.safetensors"), said.optimizer);
      await writeFile(
        join(temporary, "state.json"),
        `${JSON.stringify({ step: said.step, spent: said.spent })}\n`,
      );
      await writeModelFolder(
        temporary,
        { config: { ...config, training }, tokenizer, weights: said.weights },
        "F32",
      );
    });
    this.#publish({ kind: "saved", step: said.step, folder });
  }

  #handleRequest(request: TrainerRequest): void {
    if (request === "status") return;
    if (request !== "stop") return this.#replicas?.send(request);
    this.#isStopping = true;
    this.#state = "stopping";
    this.#replicas?.send("stop");
    // a step that takes too long is not waited for: what lies past the last checkpoint is done
    // again on resume
    setTimeout(() => void this.#replicas?.terminate(), stopTimeout).unref();
  }

  #getStatus(): TrainerStatus {
    const { steps, seconds, method } = this.#config!;
    return {
      state: this.#state,
      run: this.#folder,
      pid: process.pid,
      method,
      step: this.#step,
      ...(steps === undefined ? {} : { steps }),
      spent: this.#spent,
      ...(seconds === undefined ? {} : { seconds }),
      doing: this.#activity,
    };
  }

  #publish(event: TrainerEvent): void {
    this.#socket?.publish(event);
  }
}

/** Where what replicas say ends up. */
interface ReplicaInbox {
  /** Parts of steps that not all replicas have finished. */
  readonly partialSteps: Extract<ReplicaMessage, { kind: "stepped" }>[];
  /** A checkpoint of a step that not all replicas have told of. */
  pendingSave?: Extract<ReplicaMessage, { kind: "save" }>;
  readonly count: number;
  readonly events: (seconds: number, metrics: StepMetrics) => void;
  readonly model: StoredModel;
  readonly onOver: (by: "steps" | "time" | "stop") => void;
}

/** The program that workers load: this one. */
const program = fileURLToPath(import.meta.url);

/** The attempts of all replicas in the order of their places, whichever replica made them. */
const sortByPlace = (groups: readonly GroupLine[]): readonly GroupLine[] =>
  groups.toSorted((a, b) => getPlace(a) - getPlace(b) || a.attempt - b.attempt);

const getPlace = ({ trajectory }: GroupLine): number =>
  Number(trajectory.header.id.split("/").at(-1)!.split(".")[1]);

/** What the model will say of itself once it has learned from these tasks. */
function createTrainedConfig(
  start: ModelConfig,
  run: RunConfig,
  topics: readonly TaskTopic[],
  catalog: Catalog,
): ModelConfig {
  const entry = {
    method: run.method,
    steps: 0,
    seconds: 0,
    seed: run.seed,
    tasks: topics.length,
    ...(run.method === "grpo" ? { profile: run.profile } : {}),
    from: start.name,
  };
  return {
    ...start,
    saw: addSeenTasks(start.saw, topics, createServerDigest(catalog.servers)),
    training: [...start.training, entry],
  };
}

/** How far a checkpoint is. The first one has no state: nothing lies behind it. */
function readState(folder: string, step: number): { readonly spent: number } {
  if (step === 0) return { spent: 0 };
  try {
    return z
      .object({ spent: z.number() })
      .parse(JSON.parse(readTextFile(join(folder, "state.json"))));
  } catch (cause) {
    throw new UserError(
      `${folder} has no readable state.json`,
      "delete that checkpoint's folder and resume from the one before",
      { cause },
    );
  }
}

function describeFailure(error: unknown, step: number): RunEnd {
  // what a worker threw comes wrapped
  const mistake = [error, (error as Error).cause].find(
    it => it instanceof UserError || (it as Error | undefined)?.name === "UserError",
  ) as UserError | undefined;
  if (mistake) return { by: "failed", step, what: mistake.what, remedy: mistake.remedy };
  return {
    by: "failed",
    step,
    what: `the training failed: ${(error as Error).message}`,
    remedy: "trainer.log in the run folder has the details; the run can be resumed",
  };
}
