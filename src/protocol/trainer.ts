/**
 * What a trainer process and those attached to it say to each other, one JSON object a line over a
 * local socket. Types only; the run folder's files are the truth, and whoever attaches late reads
 * them first.
 */
import type { StepMetrics } from "../run/metrics.ts";

export type TrainerState = "starting" | "training" | "paused" | "stopping" | "finished" | "failed";

/**
 * Where a trainer stands. The answer to every request, and the first thing said to whoever
 * attaches.
 */
export interface TrainerStatus {
  readonly state: TrainerState;
  /** The run folder, absolute. */
  readonly run: string;
  readonly pid: number;
  readonly method: "grpo" | "sft";
  /** Steps done, counted from the run's beginning. */
  readonly step: number;
  /** Steps to do; absent where the run ends by the clock. */
  readonly steps?: number;
  /** Seconds of training spent, and the limit where the run ends by the clock. */
  readonly spent: number;
  readonly seconds?: number;
  /** What is being done just now, for a person: `reading tasks`, `step 12 of 100`. */
  readonly doing: string;
}

/** What a trainer says without being asked. */
export type TrainerEvent =
  | { readonly kind: "status"; readonly status: TrainerStatus }
  | { readonly kind: "stepped"; readonly metrics: StepMetrics }
  /** A checkpoint lies complete in its folder. */
  | { readonly kind: "saved"; readonly step: number; readonly folder: string }
  /**
   * The last fact of a run that ended well: every step done, the time used up, or stopped on
   * request.
   */
  | { readonly kind: "finished"; readonly step: number; readonly by: "steps" | "time" | "stop" }
  /** The last fact of a run that could not go on; what was written stays and can be resumed. */
  | { readonly kind: "failed"; readonly what: string; readonly remedy: string };

/**
 * What may be asked of a trainer. Each is answered by a status once it has been taken up, not once
 * it is done.
 */
export type TrainerRequest = "pause" | "resume" | "stop" | "status";

/** On the wire, to the trainer. */
export interface TrainerAsk {
  readonly id: number;
  readonly ask: TrainerRequest;
}

/** On the wire, from the trainer: a fact, or the answer to the request of that id. */
export type TrainerSays =
  TrainerEvent | { readonly kind: "answer"; readonly id: number; readonly status: TrainerStatus };
