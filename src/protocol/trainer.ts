/**
 * The messages between a trainer process and the clients attached to it, as JSON-RPC over a local
 * socket. Types only. The files in the run folder have all that a client needs to know about the
 * time before it attached.
 */
import type { StepMetrics } from "../run/metrics.ts";

export type TrainerState = "starting" | "training" | "paused" | "stopping" | "finished" | "failed";

/** The state of a trainer and its progress. */
export interface TrainerStatus {
  readonly state: TrainerState;
  /** The run folder, absolute. */
  readonly run: string;
  readonly pid: number;
  readonly method: "grpo" | "sft";
  /** Completed steps, counted from the beginning of the run. */
  readonly step: number;
  /** Steps of the whole run; absent if only time limits it. */
  readonly steps?: number;
  /** Seconds spent on training, and their limit if the run has one. */
  readonly spent: number;
  readonly seconds?: number;
  /** What the trainer does now, for a person: `reading tasks`, `step 12 of 100`. */
  readonly doing: string;
  /** The resident memory of the process, now and at most, in bytes. */
  readonly memory?: { readonly resident: number; readonly peak: number };
  /** What the user should know about the tasks, once they are read, and the chosen backend. */
  readonly warnings?: readonly string[];
}

export type TrainerEvent =
  /** The first event that a client receives; later, a change of state. */
  | { readonly kind: "status"; readonly status: TrainerStatus }
  | { readonly kind: "stepped"; readonly metrics: StepMetrics }
  /** A checkpoint is complete in its folder. */
  | { readonly kind: "saved"; readonly step: number; readonly folder: string }
  /** The last event of a run that did all its steps, used its time or was stopped. */
  | { readonly kind: "finished"; readonly step: number; readonly by: "steps" | "time" | "stop" }
  /** The last event of a run that failed; its files stay, and it can be resumed. */
  | { readonly kind: "failed"; readonly what: string; readonly remedy: string };

/** A request to a trainer; the result is its status once it has accepted the request. */
interface StatusRequest {
  params: object;
  result: TrainerStatus;
}

/** What a trainer accepts. It carries out `pause`, `resume` and `stop` after it has answered. */
export type TrainerMessages = {
  requests: {
    pause: StatusRequest;
    resume: StatusRequest;
    stop: StatusRequest;
    status: StatusRequest;
  };
  notifications: object;
};

export type TrainerRequest = keyof TrainerMessages["requests"];

/** What a client of a trainer accepts. */
export type TrainerClientMessages = {
  requests: object;
  notifications: { event: TrainerEvent };
};
