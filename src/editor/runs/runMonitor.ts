/**
 * Monitors one run: reads its files and, while a trainer works on it, follows the trainer's
 * messages. When the trainer has exited, the files are read again.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { RunStatus } from "../../protocol/runPage.ts";
import type { TrainerEvent, TrainerRequest, TrainerStatus } from "../../protocol/trainer.ts";
import { attachTrainer, type Attachment } from "../../run/attach.ts";
import type { RunConfig } from "../../run/config.ts";
import { readEngineLock, readTrainerProcess } from "../../run/locks.ts";
import { readEvaluation, writeEvaluation, type RunEvaluation } from "../../run/evaluation.ts";
import { listCheckpoints, readEnd, readMetrics, readRun, type RunEnd } from "../../run/folder.ts";
import type { StepMetrics } from "../../run/metrics.ts";
import { findDeathError, getLogFile } from "../../run/start.ts";
import { UserError } from "../../userError.ts";
import { formatCount } from "../shared/text.ts";
import { getEngineLog } from "./engineProcess.ts";

export type RunChange =
  | { readonly kind: "status" }
  | { readonly kind: "steps"; readonly steps: readonly StepMetrics[] }
  | { readonly kind: "checkpoint"; readonly step: number }
  | { readonly kind: "evaluated"; readonly evaluation: RunEvaluation }
  | { readonly kind: "finished"; readonly by: "steps" | "time" | "stop" }
  | { readonly kind: "failed"; readonly error: UserError };

/** What the process of an engine that this window has started does. */
type EngineState = "training" | "stopping";

export class RunMonitor {
  readonly folder: string;
  readonly #listeners = new Set<(change: RunChange) => void>();
  #config: RunConfig;
  #steps: readonly StepMetrics[] = [];
  #checkpoints: readonly number[] = [];
  #evaluation: RunEvaluation | undefined;
  #trainerStatus: TrainerStatus | undefined;
  #end: RunEnd | undefined;
  #attachment: Attachment | undefined;
  #attaching: Promise<boolean> | undefined;
  #queuePosition: number | undefined;
  /** Whether this window is starting a trainer. */
  #isStarting = false;
  /** The process that trains the run or is about to, when the files were read. */
  #trainer: ReturnType<typeof readTrainerProcess>;
  #isDisposed = false;
  #engineState: EngineState | undefined;
  /** The process of the engine, if another window has started it. */
  #otherEngine: number | undefined;
  /** The last step when the engine was started. */
  #engineStart = 0;
  /** Why the folder can no longer be read. */
  #readProblem: string | undefined;

  /** Throws a `UserError` if the folder is not a run folder. */
  constructor(folder: string) {
    this.folder = folder;
    this.#config = readRun(folder);
    this.readFiles();
  }

  get config(): RunConfig {
    return this.#config;
  }

  get steps(): readonly StepMetrics[] {
    return this.#steps;
  }

  get checkpoints(): readonly number[] {
    return this.#checkpoints;
  }

  /** What the student did on held-out tasks, if that was measured. */
  get evaluation(): RunEvaluation | undefined {
    return this.#evaluation;
  }

  get isAttached(): boolean {
    return this.#attachment !== undefined;
  }

  get status(): RunStatus {
    if (this.#trainerStatus) return this.#createActiveStatus(this.#trainerStatus);
    const step = this.#lastStep;
    const { steps } = this.#config;
    const description =
      this.#readProblem !== undefined
        ? { state: "unreadable" as const, activity: this.#readProblem }
        : this.#describeFiles(step);
    return { ...description, step, ...(steps === undefined ? {} : { steps }) };
  }

  #describeFiles(step: number): Pick<RunStatus, "state" | "activity"> {
    const { engine } = this.#config;
    if (this.#queuePosition !== undefined) return describeQueued(this.#queuePosition);
    if (engine !== undefined && this.#engineState !== undefined)
      return this.#describeEngineProcess(engine, this.#engineState);
    if (engine !== undefined && this.#otherEngine !== undefined)
      return {
        state: "training",
        activity: `step ${step}, trained by process ${this.#otherEngine} of another window`,
      };
    if (this.#isStarting) return { state: "starting", activity: "starting the trainer" };
    if (this.#end) return describeEnd(this.#end, step);
    if (engine !== undefined)
      return describeEngine(engine, step, existsSync(getEngineLog(this.folder)));
    const isConnecting = this.#attachment !== undefined || this.#attaching !== undefined;
    if (this.#trainer && (isConnecting || this.#trainer.isStarting))
      return { state: "starting", activity: "connecting to its trainer" };
    if (this.#trainer)
      return {
        state: "unknown",
        activity: `process ${this.#trainer.pid} trains it, which this window cannot follow`,
      };
    return step === 0 && !existsSync(getLogFile(this.folder))
      ? { state: "ready", activity: "prepared, not started yet" }
      : describeInterruption(step);
  }

  /** Says that this window is about to start a trainer, or that it no longer is. */
  setStarting(isStarting: boolean): void {
    this.#isStarting = isStarting;
    this.#notify({ kind: "status" });
  }

  /** The place in the queue of trainings, counted from 1. */
  get queuePosition(): number | undefined {
    return this.#queuePosition;
  }

  setQueuePosition(position: number | undefined): void {
    if (position === this.#queuePosition) return;
    this.#queuePosition = position;
    this.#notify({ kind: "status" });
  }

  /** Sets what the process of an engine does; undefined once it has ended. */
  setEngineState(state: EngineState | undefined): void {
    if (this.#engineState === undefined) this.#engineStart = this.#lastStep;
    this.#engineState = state;
    try {
      this.readFiles();
    } catch (error) {
      // the folder was deleted, which the list of runs finds
      if (!(error instanceof UserError)) throw error;
    }
    this.#notify({ kind: "status" });
  }

  onChange(listener: (change: RunChange) => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  /**
   * Reads the files of the run again, which TRL or verl may have written to. Throws a
   * `UserError` if they cannot be read; what was read before is kept.
   */
  readFiles(): void {
    const hadProblem = this.#readProblem !== undefined;
    try {
      this.#config = readRun(this.folder);
      this.#readProblem = undefined;
    } catch (error) {
      if (error instanceof UserError) this.#setReadProblem(error);
      throw error;
    }
    if (hadProblem) this.#notify({ kind: "status" });
    const known = this.#lastStep;
    this.#steps = readMetrics(this.folder).lines;
    const added = this.#steps.filter(it => it.step > known);
    this.#checkpoints = listCheckpoints(this.folder);
    this.#evaluation = readEvaluation(this.folder);
    this.#end = readEnd(this.folder);
    const otherEngine = this.#findOtherEngine();
    const trainer = readTrainerProcess(this.folder);
    const hasOtherChanged =
      otherEngine !== this.#otherEngine ||
      trainer?.pid !== this.#trainer?.pid ||
      trainer?.isStarting !== this.#trainer?.isStarting;
    this.#otherEngine = otherEngine;
    this.#trainer = trainer;
    if (hasOtherChanged) this.#notify({ kind: "status" });
    if (added.length === 0) return;
    this.#notify({ kind: "steps", steps: added });
    this.#notify({ kind: "status" });
  }

  #findOtherEngine(): number | undefined {
    return this.#config.engine === undefined || this.#engineState !== undefined
      ? undefined
      : readEngineLock(this.folder);
  }

  #setReadProblem({ what }: UserError): void {
    const reason = existsSync(this.folder) ? what : "its folder was deleted or moved";
    const problem = `${reason}; what is shown was read before`;
    if (problem === this.#readProblem) return;
    this.#readProblem = problem;
    this.#notify({ kind: "status" });
  }

  /** Writes an evaluation into the run's folder, in place of an earlier one. */
  storeEvaluation(evaluation: RunEvaluation): void {
    writeEvaluation(this.folder, evaluation);
    this.#evaluation = evaluation;
    this.#notify({ kind: "evaluated", evaluation });
  }

  /** Attaches to the run's trainer. The result is false if no trainer is running. */
  attach(): Promise<boolean> {
    if (this.#attachment) return Promise.resolve(true);
    return (this.#attaching ??= this.#attach().finally(() => (this.#attaching = undefined)));
  }

  /** Sends a request to the trainer. Throws a `UserError` if no trainer is running. */
  async request(request: TrainerRequest): Promise<void> {
    if (!(await this.attach()))
      throw new UserError(
        `no trainer is running for ${basename(this.folder)}`,
        "resume the training to continue it",
      );
    this.#trainerStatus = await this.#attachment!.request(request);
    this.#notify({ kind: "status" });
  }

  /** Detaches from the trainer, which keeps running. */
  dispose(): void {
    this.#isDisposed = true;
    this.#listeners.clear();
    this.#attachment?.close();
  }

  async #attach(): Promise<boolean> {
    const attachment = await attachTrainer(this.folder);
    if (!attachment) return false;
    this.#attachment = attachment;
    void this.#followTrainer(attachment);
    return true;
  }

  async #followTrainer(attachment: Attachment): Promise<void> {
    let hasEnded = false;
    for await (const event of attachment.events) {
      hasEnded ||= event.kind === "finished" || event.kind === "failed";
      this.#handleEvent(event);
    }
    // a process that dies closes its connections before it is gone: its files say later that it is
    const error =
      hasEnded || this.#isDisposed ? undefined : await findDeathError(this.folder, attachment.pid);
    this.#attachment = undefined;
    this.#trainerStatus = undefined;
    try {
      this.readFiles();
    } catch (error) {
      // the folder was deleted, which the list of runs finds
      if (!(error instanceof UserError)) throw error;
    }
    this.#notify({ kind: "status" });
    if (error) this.#notify({ kind: "failed", error });
  }

  #handleEvent(event: TrainerEvent): void {
    switch (event.kind) {
      case "status":
        this.#trainerStatus = event.status;
        return this.#notify({ kind: "status" });
      case "stepped":
        // it may have been read from the file already
        if (event.metrics.step > this.#lastStep) {
          this.#steps = [...this.#steps, event.metrics];
          this.#notify({ kind: "steps", steps: [event.metrics] });
        }
        return this.#notify({ kind: "status" });
      case "saved":
        this.#checkpoints = listCheckpoints(this.folder);
        return this.#notify({ kind: "checkpoint", step: event.step });
      case "finished":
        return this.#notify({ kind: "finished", by: event.by });
      case "failed":
        return this.#notify({ kind: "failed", error: new UserError(event.what, event.remedy) });
      default:
        throw new Error(`unknown message of the trainer ${JSON.stringify(event satisfies never)}`);
    }
  }

  #describeEngineProcess(
    engine: NonNullable<RunConfig["engine"]>,
    state: EngineState,
  ): Pick<RunStatus, "state" | "activity"> {
    const title = engineTitles[engine];
    if (state === "stopping") return { state, activity: `${title} is ending` };
    const step = this.#lastStep;
    if (step <= this.#engineStart)
      return {
        state: "starting",
        activity: `${title} is loading the model and taking the first step`,
      };
    const { steps } = this.#config;
    return { state, activity: `step ${step}${steps === undefined ? "" : ` of ${steps}`}` };
  }

  get #lastStep(): number {
    return this.#steps.at(-1)?.step ?? 0;
  }

  /** The trainer sends its status when the state changes; metrics may be newer. */
  #createActiveStatus(status: TrainerStatus): RunStatus {
    const { state, steps, seconds } = status;
    const step = Math.max(status.step, this.#lastStep);
    const stepSeconds = this.#steps.reduce((sum, it) => sum + it.seconds.total, 0);
    const total = steps === undefined ? "" : ` of ${steps}`;
    return {
      state,
      activity: step > status.step ? `step ${step}${total}` : status.doing,
      step,
      elapsedSeconds: Math.max(status.spent, stepSeconds),
      ...(steps === undefined ? {} : { steps }),
      ...(seconds === undefined ? {} : { limitSeconds: seconds }),
    };
  }

  #notify(change: RunChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

export const engineTitles = { trl: "TRL", verl: "verl" } as const;

/**
 * A run of TRL or verl without an end. `wasStarted`: by an editor, with which the training ends.
 * Whether one that was started elsewhere goes on cannot be told from its files.
 */
function describeEngine(
  engine: NonNullable<RunConfig["engine"]>,
  step: number,
  wasStarted: boolean,
): Pick<RunStatus, "state" | "activity"> {
  const title = engineTitles[engine];
  if (wasStarted) return describeInterruption(step);
  return step === 0
    ? { state: "ready", activity: `prepared for ${title}, not started yet` }
    : { state: "unknown", activity: `step ${step}, trained with ${title} outside this editor` };
}

const describeInterruption = (step: number): Pick<RunStatus, "state" | "activity"> => ({
  state: "interrupted",
  activity: `ended unexpectedly ${step === 0 ? "before its first step" : `after step ${step}`}`,
});

const describeQueued = (position: number): Pick<RunStatus, "state" | "activity"> => ({
  state: "queued",
  activity:
    position === 1 ? "starts when the training before it has ended" : `${position} in the queue`,
});

/** The status of a run whose files say how its training ended. */
function describeEnd(end: RunEnd, step: number): Pick<RunStatus, "state" | "activity"> {
  switch (end.by) {
    case "stop":
      return { state: "stopped", activity: `stopped after step ${step}` };
    case "steps":
      return { state: "finished", activity: `${formatCount(step, "step")} done` };
    case "time":
      return { state: "finished", activity: `${step} steps in its time` };
    case "failed":
      return { state: "failed", activity: `${end.what}: ${end.remedy}` };
    default:
      throw new Error(`unknown end of a run ${JSON.stringify(end satisfies never)}`);
  }
}
