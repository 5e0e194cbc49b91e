/**
 * The main thread of a trainer: holds the lock of the run folder, serves clients on the socket,
 * starts the replicas and writes their results to files, in order. It computes nothing, so that it
 * can always answer.
 */
import { dirname } from "node:path";
import type { Catalog } from "../environment/catalog.ts";
import {
  checkTools,
  createServerDigest,
  readModelFolder,
  type StoredModel,
} from "../model/modelFolder.ts";
import type {
  TrainerEvent,
  TrainerRequest,
  TrainerState,
  TrainerStatus,
} from "../protocol/trainer.ts";
import { findAlarms, formatAlarm, replaceInvalidNumbers } from "../run/alarms.ts";
import { createEndEvent } from "../run/attach.ts";
import { getBackendsFolder } from "../run/backends.ts";
import type { RunConfig } from "../run/config.ts";
import {
  appendMetrics,
  getCheckpointFolder,
  discardAfter,
  findLatestCheckpoint,
  readMetrics,
  readRun,
  removeUnfinishedFiles,
  writeEnd,
  writeTrainedWith,
  checkTasksFile,
  type RunEnd,
} from "../run/folder.ts";
import { sortAttempts, writeGroups, type GroupLine } from "../run/group.ts";
import { acquireTrainerLock } from "../run/locks.ts";
import type { StepMetrics } from "../run/metrics.ts";
import { openEventWriter } from "../run/tensorboard.ts";
import { UserError } from "../userError.ts";
import {
  countTrainable,
  createTrainedConfig,
  readAdaptedDigest,
  readSpentSeconds,
  remedyOfInvalidNumbers,
  saveCheckpoint,
} from "./checkpoint.ts";
import type {
  ProgressMessage,
  ReplicaCommand,
  ReplicaMessage,
  ReplicaSetup,
  SaveMessage,
  StepMessage,
} from "./loop.ts";
import { checkBackend } from "./plan.ts";
import { startReplicas, type ReplicaGroup } from "./replicas.ts";
import { formatStepProgress } from "./stepProgress.ts";
import { openTrainerSocket, type TrainerSocket } from "./trainerSocket.ts";
import { loadTrainingSet } from "./trainingSet.ts";

/** Milliseconds that replicas have to abandon or complete their step, and to end. */
const stopTimeout = 20_000;

/**
 * Trains the run in a folder to its end, and resolves with how it ended. A failure is also written
 * to the folder and sent to all clients.
 */
export async function runTrainer(options: TrainerOptions): Promise<RunEnd> {
  const trainer = new Trainer(options);
  return await trainer.run();
}

interface TrainerOptions {
  /** The run's folder. */
  readonly folder: string;
  readonly catalog: Catalog;
  /** Folders of fixtures; the first match counts. */
  readonly fixtures: readonly string[];
  /** The path of the trainer program, which the workers load. */
  readonly program: string;
}

class Trainer {
  readonly #folder: string;
  readonly #catalog: Catalog;
  readonly #fixtures: readonly string[];
  readonly #program: string;
  #state: TrainerState = "starting";
  #activity = "starting";
  #step = 0;
  #spent = 0;
  #warnings: readonly string[] = [];
  #config: RunConfig | undefined;
  #socket: TrainerSocket | undefined;
  #releaseLock: (() => void) | undefined;
  #replicas: ReplicaGroup<ReplicaCommand> | undefined;
  /** Aborted when a stop is requested. */
  readonly #stopping = new AbortController();
  #hasBegun = false;
  /** All steps of the run so far. */
  #steps: StepMetrics[] = [];

  constructor({ folder, catalog, fixtures, program }: TrainerOptions) {
    this.#folder = folder;
    this.#catalog = catalog;
    this.#fixtures = fixtures;
    this.#program = program;
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
      end = describeFailure(error, this.#step, this.#hasBegun);
      this.#state = "failed";
    }
    this.#publish(createEndEvent(end));
    try {
      writeEnd(this.#folder, end);
    } catch (error) {
      console.error(error); // the disk may be full; clients have received the end already
    }
    this.#releaseLock?.();
    await this.#socket.close();
    return end;
  }

  async #train(config: RunConfig): Promise<RunEnd> {
    try {
      const { setup, model } = await this.#prepare(config);
      this.#stopping.signal.throwIfAborted();
      return await this.#runReplicas(setup, model);
    } catch (error) {
      if (error !== this.#stopping.signal.reason) throw error;
      return { by: "stop", step: this.#step };
    }
  }

  /** What the replicas start with, and the model that is trained, without its weights. */
  async #prepare(config: RunConfig): Promise<{ setup: ReplicaSetup; model: StoredModel }> {
    const checkpoint = findLatestCheckpoint(this.#folder);
    const spent = readSpentSeconds(checkpoint.folder, checkpoint.step);
    this.#step = checkpoint.step;
    this.#spent = spent;
    const reference = getCheckpointFolder(this.#folder, 0);
    const [start, referenceModel] = [checkpoint.folder, reference].map(readModelFolder) as [
      StoredModel,
      StoredModel,
    ];
    checkBackend(start, config.backend, getBackendsFolder());
    await checkTasksFile(this.#folder, config.tasks);
    this.#activity = "reading tasks";
    const { taskTopics, warnings, ...trainingSet } = await loadTrainingSet(
      config,
      this.#catalog,
      referenceModel,
      { onTask: count => this.#reportReadTasks(count), signal: this.#stopping.signal },
    );
    for (const it of warnings) console.error(it);
    this.#warnings = warnings;
    this.#publish({ kind: "status", status: this.#getStatus() });
    checkTools(
      start,
      createServerDigest(this.#catalog.servers),
      taskTopics.flatMap(it => it.servers.map(server => server.name)),
    );
    const model = {
      ...start,
      config: {
        ...createTrainedConfig(referenceModel.config, config, taskTopics, this.#catalog),
        ...(await readAdaptedDigest(start)),
      },
    };
    // only now: a run that cannot be resumed is left as it is
    removeUnfinishedFiles(this.#folder);
    discardAfter(this.#folder, checkpoint.step);
    this.#steps = [...readMetrics(this.#folder).lines];
    const setup: ReplicaSetup = {
      config,
      programFolder: dirname(this.#program),
      backendsFolder: getBackendsFolder(),
      fixtureFolders: this.#fixtures,
      from: checkpoint.folder,
      reference,
      step: checkpoint.step,
      spent,
      ...trainingSet,
      outcomes: this.#steps.flatMap(it =>
        it.method === "grpo" && it.outcomes ? [{ step: it.step, outcomes: it.outcomes }] : [],
      ),
    };
    return { setup, model };
  }

  #reportReadTasks(count: number): void {
    this.#activity = `reading tasks: ${count}`;
    if (count % 500 === 0) this.#publish({ kind: "status", status: this.#getStatus() });
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
    const output: RunOutput = {
      stepParts: [],
      progress: new Map(),
      pendingSaves: [],
      count,
      events,
      model,
      by: "stop",
    };
    // messages are handled in the order in which they arrive, one at a time
    let lastWrite: Promise<void> = Promise.resolve();
    let failure: unknown;
    const write = async (previous: Promise<void>, rank: number, message: ReplicaMessage) => {
      await previous;
      if (failure !== undefined) return;
      try {
        await this.#handleMessage(rank, message, output);
      } catch (error) {
        failure = error;
        await this.#replicas?.terminate();
      }
    };
    const onMessage = (rank: number, message: ReplicaMessage) => {
      lastWrite = write(lastWrite, rank, message);
    };
    this.#activity = "starting the workers";
    this.#replicas = startReplicas<ReplicaSetup, ReplicaCommand, ReplicaMessage>({
      program: this.#program,
      count,
      // a single replica keeps its gradients to itself
      maxFloats: count > 1 ? countTrainable(model) : 0,
      setup,
      onMessage,
    });
    if (this.#stopping.signal.aborted) this.#handleRequest("stop");
    const [ended] = await Promise.allSettled([this.#replicas.done]);
    await lastWrite; // what was reported before a failure is kept
    if (ended.status === "rejected") {
      if (failure !== undefined) console.error(failure);
      throw ended.reason;
    }
    if (failure !== undefined) throw failure;
    return { by: output.by, step: this.#step };
  }

  async #handleMessage(rank: number, message: ReplicaMessage, output: RunOutput): Promise<void> {
    switch (message.kind) {
      case "ready":
        this.#hasBegun = true;
        if (!this.#stopping.signal.aborted) this.#state = "training";
        for (const note of message.notes) console.error(note);
        writeTrainedWith(this.#folder, {
          backend: message.backend,
          device: message.device,
          notes: [...message.notes],
          ...(this.#warnings.length > 0 ? { aboutTasks: [...this.#warnings] } : {}),
        });
        this.#warnings = [...this.#warnings, ...message.notes];
        this.#activity = `training on ${message.backend}`;
        return this.#publish({ kind: "status", status: this.#getStatus() });
      case "stepped": {
        output.stepParts.push(message);
        const parts = output.stepParts.filter(it => it.step === message.step);
        if (parts.length < output.count) return;
        output.stepParts = output.stepParts.filter(it => it.step !== message.step);
        this.#recordStep(parts, output.events);
        for (const save of output.pendingSaves.splice(0))
          if (save.step <= message.step) await this.#saveCheckpoint(save, output.model);
          else output.pendingSaves.push(save);
        return;
      }
      case "save":
        // rank 0 may be ahead of the others; a step is recorded before its checkpoint
        if (message.step > this.#step) output.pendingSaves.push(message);
        else await this.#saveCheckpoint(message, output.model);
        return;
      case "progress":
        output.progress.set(rank, message);
        return this.#reportProgress(message, [...output.progress.values()]);
      case "paused":
      case "resumed":
        this.#state = message.kind === "paused" ? "paused" : "training";
        return this.#publish({ kind: "status", status: this.#getStatus() });
      case "ended":
        output.by = message.by;
        return;
      default:
        throw new Error(`unknown message of a replica ${JSON.stringify(message satisfies never)}`);
    }
  }

  #reportProgress({ step, progress }: ProgressMessage, replicas: readonly ProgressMessage[]): void {
    // a replica that is ahead of the others reports the step after the next one
    if (step !== this.#step + 1) return;
    const same = replicas.filter(it => it.step === step && it.progress.doing === progress.doing);
    const part = formatStepProgress(same.map(it => it.progress));
    this.#activity = `${this.#nameStep(step)}: ${part}`;
    this.#publish({ kind: "status", status: this.#getStatus() });
  }

  #nameStep(step: number): string {
    const { steps } = this.#config!;
    return steps === undefined ? `step ${step}` : `step ${step} of ${steps}`;
  }

  #recordStep(
    parts: readonly StepMessage[],
    events: (seconds: number, metrics: StepMetrics) => void,
  ): void {
    const { metrics, step, spent } = parts.find(it => it.metrics)!;
    const groups: readonly GroupLine[] = parts.flatMap(it => it.groups);
    // before the metrics: when a client sees the step there, it can open its attempts
    if (groups.length > 0) writeGroups(this.#folder, step, sortAttempts(groups));
    const recorded = this.#raiseAlarms(metrics!);
    appendMetrics(this.#folder, recorded);
    events(Date.now() / 1000, recorded);
    this.#step = step;
    this.#spent = spent;
    this.#activity = this.#nameStep(step);
    this.#publish({ kind: "stepped", metrics: recorded });
    const fatal = recorded.alarms?.find(it => it.kind === "not-a-number");
    if (fatal) throw new UserError(formatAlarm(step, fatal), remedyOfInvalidNumbers);
  }

  /** Adds a step to the run's steps, with the alarms that it raises first. */
  #raiseAlarms(metrics: StepMetrics): StepMetrics {
    const finite = replaceInvalidNumbers(metrics);
    const raised = new Set(this.#steps.flatMap(it => it.alarms ?? []).map(it => it.kind));
    const alarms = findAlarms([...this.#steps, finite]).filter(it => !raised.has(it.kind));
    const recorded = alarms.length > 0 ? { ...finite, alarms: [...alarms] } : metrics;
    for (const it of alarms) console.error(formatAlarm(metrics.step, it));
    this.#steps.push(recorded);
    return recorded;
  }

  async #saveCheckpoint(message: SaveMessage, model: StoredModel): Promise<void> {
    const folder = await saveCheckpoint(this.#folder, message, model);
    this.#publish({ kind: "saved", step: message.step, folder });
  }

  #handleRequest(request: TrainerRequest): void {
    if (request === "status") return;
    if (request !== "stop") return this.#replicas?.send(request);
    this.#stopping.abort(new Error("the training is stopped"));
    this.#state = "stopping";
    this.#replicas?.send("stop");
    this.#replicas?.interrupt();
    // if that takes longer, the steps after the last checkpoint are repeated on resume
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
      warnings: this.#warnings,
      memory: {
        resident: process.memoryUsage.rss(),
        peak: process.resourceUsage().maxRSS * 1024,
      },
    };
  }

  #publish(event: TrainerEvent): void {
    this.#socket?.publish(event);
  }
}

/** What the messages of the replicas are collected in and written to. */
interface RunOutput {
  /** The parts of steps that not all replicas have completed. */
  stepParts: StepMessage[];
  /** How far each replica is, by its rank. */
  readonly progress: Map<number, ProgressMessage>;
  /**
   * Checkpoints of steps that not all replicas have reported. There can be several, because the
   * messages of one replica can all arrive before those of another.
   */
  readonly pendingSaves: SaveMessage[];
  /** Why the run ended. */
  by: "steps" | "time" | "stop";
  /** How many replicas there are. */
  readonly count: number;
  readonly events: (seconds: number, metrics: StepMetrics) => void;
  readonly model: StoredModel;
}

/** `hasBegun`: whether the first step of this training has begun. */
function describeFailure(error: unknown, step: number, hasBegun: boolean): RunEnd {
  // an error of a worker is the cause of another error
  const userError = [error, (error as Error).cause].find(
    it => it instanceof UserError || (it as Error | undefined)?.name === "UserError",
  ) as UserError | undefined;
  if (userError) {
    const { what, remedy } = userError;
    return { by: "failed", step, what, remedy, ...(hasBegun ? {} : { isRefused: true }) };
  }
  return {
    by: "failed",
    step,
    what: `the training failed: ${(error as Error).message}`,
    remedy: "trainer.log in the run folder has the details; the run can be resumed",
  };
}
