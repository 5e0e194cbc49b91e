/**
 * One run as it stands: what its files say and, while a trainer holds it, what the trainer says.
 * Reads the files first and again whenever the trainer has gone, because they are the truth. Knows
 * no views.
 */
import type { TrainerFact, TrainerRequest, TrainerStatus } from "../../protocol/trainer.ts";
import type { RunStatus } from "../../protocol/runPage.ts";
import { attach, type Attachment } from "../../run/attach.ts";
import type { RunConfig } from "../../run/config.ts";
import { checkpointsOf, readEnd, readMetrics, readRun, type RunEnd } from "../../run/folder.ts";
import type { StepMetrics } from "../../run/metrics.ts";
import { UserError } from "../../userError.ts";

export type RunChange =
  | { readonly kind: "stood" }
  | { readonly kind: "stepped"; readonly steps: readonly StepMetrics[] }
  | { readonly kind: "saved"; readonly step: number }
  | { readonly kind: "finished"; readonly by: "steps" | "time" | "stop" }
  | { readonly kind: "failed"; readonly error: UserError };

export class RunMonitor {
  readonly folder: string;
  readonly #listeners = new Set<(change: RunChange) => void>();
  #config: RunConfig;
  #steps: readonly StepMetrics[] = [];
  #checkpoints: readonly number[] = [];
  #trainerStatus: TrainerStatus | undefined;
  #end: RunEnd | undefined;
  #attachment: Attachment | undefined;
  #attaching: Promise<boolean> | undefined;

  /** Throws a `Mistake` where the folder holds no run. */
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

  get isAttached(): boolean {
    return this.#attachment !== undefined;
  }

  get status(): RunStatus {
    const status = this.#trainerStatus;
    if (status) {
      const { state, steps, seconds } = status;
      // a status is said when the state changes; steps come in between
      const step = Math.max(status.step, this.#steps.at(-1)?.step ?? 0);
      const spent = Math.max(
        status.spent,
        this.#steps.reduce((sum, it) => sum + it.seconds.total, 0),
      );
      const doing =
        step > status.step
          ? `step ${step}${steps === undefined ? "" : ` of ${steps}`}`
          : status.doing;
      return {
        state,
        activity: doing,
        step,
        elapsedSeconds: spent,
        ...(steps === undefined ? {} : { steps }),
        ...(seconds === undefined ? {} : { limitSeconds: seconds }),
      };
    }
    const step = this.#steps.at(-1)?.step ?? 0;
    const { steps } = this.#config;
    return { ...this.#describeEnd(step), step, ...(steps === undefined ? {} : { steps }) };
  }

  onChange(listener: (change: RunChange) => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  /** Reads the files as they are now. */
  readFiles(): void {
    this.#config = readRun(this.folder);
    this.#steps = readMetrics(this.folder).lines;
    this.#checkpoints = checkpointsOf(this.folder);
    this.#end = readEnd(this.folder);
  }

  /** Attaches to the run's trainer, if one is at work; says whether one is. */
  attach(): Promise<boolean> {
    if (this.#attachment) return Promise.resolve(true);
    return (this.#attaching ??= this.#attach().finally(() => (this.#attaching = undefined)));
  }

  /** Asks the trainer. Throws a `Mistake` where none is at work. */
  async request(ask: TrainerRequest): Promise<void> {
    if (!(await this.attach()))
      throw new UserError(
        `no trainer is at work on ${this.folder}`,
        "resume the training to go on with it",
      );
    this.#trainerStatus = await this.#attachment!.request(ask);
    this.#notify({ kind: "stood" });
  }

  /** Lets the trainer go on by itself. */
  dispose(): void {
    this.#listeners.clear();
    this.#attachment?.close();
  }

  async #attach(): Promise<boolean> {
    const attachment = await attach(this.folder);
    if (!attachment) return false;
    this.#attachment = attachment;
    void this.#followMessages(attachment);
    return true;
  }

  async #followMessages(attachment: Attachment): Promise<void> {
    for await (const fact of attachment.facts) this.#handleMessage(fact);
    this.#attachment = undefined;
    this.#trainerStatus = undefined;
    this.readFiles();
    this.#notify({ kind: "stood" });
  }

  #handleMessage(fact: TrainerFact): void {
    switch (fact.kind) {
      case "status":
        this.#trainerStatus = fact.status;
        return this.#notify({ kind: "stood" });
      case "stepped":
        if (fact.metrics.step > (this.#steps.at(-1)?.step ?? 0))
          this.#steps = [...this.#steps, fact.metrics];
        this.#notify({ kind: "stepped", steps: [fact.metrics] });
        return this.#notify({ kind: "stood" });
      case "saved":
        this.#checkpoints = checkpointsOf(this.folder);
        return this.#notify({ kind: "saved", step: fact.step });
      case "finished":
        return this.#notify({ kind: "finished", by: fact.by });
      case "failed":
        return this.#notify({ kind: "failed", error: new UserError(fact.what, fact.remedy) });
      default:
        throw new Error(`the trainer said ${JSON.stringify(fact satisfies never)}`);
    }
  }

  /**
   * How a run without a trainer stands: as its last one left it, or, where that died without a
   * word, stopped.
   */
  #describeEnd(step: number): Pick<RunStatus, "state" | "activity"> {
    const end = this.#end;
    switch (end?.by) {
      case undefined:
        return {
          state: "stopped",
          activity: step === 0 ? "no step was done" : `broke off after step ${step}`,
        };
      case "stop":
        return { state: "stopped", activity: `stopped after step ${step}` };
      case "steps":
      case "time":
        return {
          state: "finished",
          activity: end.by === "steps" ? `all ${step} steps are done` : `${step} steps in its time`,
        };
      case "failed":
        return { state: "failed", activity: `${end.what}: ${end.remedy}` };
      default:
        throw new Error(`a run ended by ${JSON.stringify(end satisfies never)}`);
    }
  }

  #notify(change: RunChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
