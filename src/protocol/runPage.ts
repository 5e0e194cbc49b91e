/** What the run page shows, and its requests and events. Types only. */
import type { RunConfig } from "../run/config.ts";
import type { RunEvaluation } from "../run/evaluation.ts";
import type { StepMetrics } from "../run/metrics.ts";
import type { PageContract } from "./pageChannel.ts";

export type { ComputedWith } from "../run/backends.ts";
export type { RunConfig } from "../run/config.ts";
export type { Estimate, RunEvaluation } from "../run/evaluation.ts";
export type { StepMetrics } from "../run/metrics.ts";

/**
 * `ready`: it was prepared and never trained. `queued`: it is trained when the training before it
 * has ended. `stopped`: at a person's request. `interrupted`: its trainer has died. `unknown`: what
 * is done with it cannot be known here, such as in Restricted Mode. `unreadable`: its folder was
 * deleted or damaged after it was read.
 */
export type RunState =
  | "ready"
  | "queued"
  | "starting"
  | "training"
  | "paused"
  | "stopping"
  | "stopped"
  | "interrupted"
  | "finished"
  | "failed"
  | "unknown"
  | "unreadable";

export interface RunStatus {
  readonly state: RunState;
  /** What is being done, or how the run ended, as text. */
  readonly activity: string;
  /** Steps done. */
  readonly step: number;
  /** Steps to do; absent if the run is limited by time only. */
  readonly steps?: number;
  readonly elapsedSeconds?: number;
  readonly limitSeconds?: number;
}

export interface RunView {
  readonly run: string;
  /** The run's folder; the page finds the run by it after a reload. */
  readonly folder: string;
  readonly status: RunStatus;
  readonly config: RunConfig;
  readonly steps: readonly StepMetrics[];
  readonly checkpoints: readonly number[];
  /** Absent if the run was not evaluated. */
  readonly evaluation?: RunEvaluation;
}

/** A run that is drawn beside another one. */
export interface OtherRun {
  readonly run: string;
  readonly steps: readonly StepMetrics[];
}

export interface RunPage extends PageContract {
  readonly requests: {
    load: { params: null; result: RunView };
    pause: { params: null; result: null };
    resume: { params: null; result: null };
    stop: { params: null; result: null };
    /** Opens the output of TRL or verl. */
    showLog: { params: null; result: null };
    /** Lists the attempts of the recorded step nearest to a step. */
    openStep: { params: { step: number }; result: null };
    /** Asks which other runs to draw; undefined if nothing was chosen. */
    chooseOthers: { params: null; result: readonly OtherRun[] | undefined };
    /** Saves the plots, a document in SVG, where the person chooses. */
    savePlots: { params: { svg: string }; result: null };
  };
  readonly events: {
    statusChanged: RunStatus;
    stepsDone: readonly StepMetrics[];
    checkpointSaved: number;
    evaluated: RunEvaluation;
  };
}
