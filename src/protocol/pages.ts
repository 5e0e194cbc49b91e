/**
 * What each page may ask of the editor, and what the editor tells it, as one map a page: the
 * reply's type follows from the request's name. Types only; knows neither how a page is drawn nor
 * where the editor finds the answers.
 */
import type { Breakdown } from "../reward/breakdown.ts";
import type { OutcomeKind } from "../environment/outcome.ts";
import type { StepMetrics } from "../run/metrics.ts";

export type {
  ArgumentEvidence,
  Breakdown,
  CallEvidence,
  GoalEvidence,
  Part,
} from "../reward/breakdown.ts";
export type { StepMetrics } from "../run/metrics.ts";

/** The map that every page has. */
export interface PageMap {
  readonly requests: Record<string, { params: unknown; result: unknown }>;
  readonly events: Record<string, unknown>;
}

/** One call of the attempt as the page lists it. */
export interface CallLine {
  readonly name: string;
  /** Canonical text of the arguments. */
  readonly arguments: string;
  readonly outcome: OutcomeKind;
}

/** One goal of the task as the page lists it. */
export interface GoalLine {
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  /** Goals it follows. */
  readonly after: readonly number[];
}

export interface RewardView {
  /** The transcript's address, by which the page finds the attempt again after a reload. */
  readonly address: string;
  readonly task: string;
  readonly policy: string;
  /** How the attempt ended, in words. */
  readonly ended: string;
  /** What the user asked first. */
  readonly asked: string;
  readonly calls: readonly CallLine[];
  readonly goals: readonly GoalLine[];
  /** One a profile, the paper's first; none where the attempt cannot be scored. */
  readonly breakdowns: readonly Breakdown[];
  readonly unscorable?: string;
  /** `why`: what is missing, a line each. */
  readonly success: { readonly value: boolean; readonly why: readonly string[] };
}

export interface RewardPage extends PageMap {
  readonly requests: {
    load: { params: null; result: RewardView };
    /** Shows the transcript at a call, by its position. */
    reveal: { params: { call: number }; result: null };
    /** Steps through the attempt. */
    step: { params: null; result: null };
  };
  readonly events: { changed: RewardView };
}

/**
 * Where a run stands, as far as a person can tell. `stopped`: no trainer holds the run, and it is
 * not complete.
 */
export type RunState =
  "starting" | "training" | "paused" | "stopping" | "stopped" | "finished" | "failed";

export interface RunStanding {
  readonly state: RunState;
  readonly doing: string;
  readonly step: number;
  readonly steps?: number;
  readonly spent?: number;
  readonly seconds?: number;
}

export interface RunView {
  readonly run: string;
  /** The run's folder, by which the page finds it again after a reload. */
  readonly folder: string;
  readonly standing: RunStanding;
  /** What the run was asked to do, as name and value. */
  readonly config: readonly (readonly [string, string])[];
  readonly steps: readonly StepMetrics[];
  readonly checkpoints: readonly number[];
}

export interface RunPage extends PageMap {
  readonly requests: {
    load: { params: null; result: RunView };
    pause: { params: null; result: null };
    resume: { params: null; result: null };
    stop: { params: null; result: null };
    /** Lists the attempts of a step, to open one. */
    openStep: { params: { step: number }; result: null };
  };
  readonly events: {
    stood: RunStanding;
    stepped: readonly StepMetrics[];
    saved: number;
  };
}

/** How often a conversation went from one state to another by an event. */
export interface TransitionCount {
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly n: number;
}

/** A name and how many there are of it. */
export type Tally = readonly (readonly [name: string, n: number])[];

export interface SynthesisView {
  /** The tasks file, by which the page finds it again after a reload. */
  readonly file: string;
  readonly name: string;
  /** Where no report lies beside the tasks, what is shown is counted from their logs. */
  readonly from: "report" | "tasks";
  /** What was asked for, as name and value. */
  readonly options: readonly (readonly [string, string])[];
  readonly attempts: number;
  readonly accepted: number;
  /** The screen after the last state counts as a step, from `finish` to `accept` or `reject`. */
  readonly transitions: readonly TransitionCount[];
  /** Rejections by reason, the commonest first. */
  readonly rejected: Tally;
  /** What the accepted tasks are, by what they are sorted. */
  readonly composition: readonly { readonly name: string; readonly counts: Tally }[];
  readonly diversity: readonly (readonly [string, string])[];
}

/** Attempts that were turned down for a reason, or from a state. */
export interface RejectedChoice {
  readonly reason?: string;
  readonly from?: string;
}

export interface RejectedItem {
  /** Number of its line in the file, from 1. */
  readonly line: number;
  readonly servers: string;
  readonly reason: string;
  readonly why: string;
  /** What the user said first; empty where nothing was said. */
  readonly asked: string;
  readonly chain: string;
}

export interface SynthesisPage extends PageMap {
  readonly requests: {
    load: { params: null; result: SynthesisView };
    /** A hundred of them, from a position on, and how many there are. */
    rejected: {
      params: { choice: RejectedChoice; start: number };
      result: { total: number; items: readonly RejectedItem[] };
    };
    /** Opens one as a transcript. */
    open: { params: { line: number }; result: null };
  };
  readonly events: { changed: SynthesisView };
}

/** A tool as the dependency graph shows it. */
export interface GraphTool {
  readonly name: string;
  readonly effect: "read" | "write";
  readonly summary: string;
}

/** `a` before `b`, by their places in the list of tools. */
export interface GraphEdge {
  readonly a: number;
  readonly b: number;
  readonly kind: "explicit" | "implicit";
  /** What flows: the place in the result, and the argument that takes it. */
  readonly via?: { readonly output: string; readonly input: string; readonly entity?: string };
  readonly confidence: number;
  /** What came of running the pair, where it was tried. */
  readonly verified?: "works" | "fails" | "untried";
  /** Why it is not walked. */
  readonly why?: string;
}

export interface GraphView {
  readonly server: string;
  readonly tools: readonly GraphTool[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphPage extends PageMap {
  readonly requests: { load: { params: null; result: GraphView } };
  readonly events: { changed: GraphView };
}

/** From the page to the editor. */
export interface PageAsks<
  Page extends PageMap,
  Name extends keyof Page["requests"] = keyof Page["requests"],
> {
  readonly id: number;
  readonly name: Name;
  readonly params: Page["requests"][Name]["params"];
}

/** From the editor to the page. */
export type PageHears<Page extends PageMap> =
  | { readonly kind: "reply"; readonly id: number; readonly result: unknown }
  | {
      readonly kind: "refusal";
      readonly id: number;
      readonly what: string;
      readonly remedy: string;
    }
  | {
      [Name in keyof Page["events"]]: {
        readonly kind: "event";
        readonly name: Name;
        readonly body: Page["events"][Name];
      };
    }[keyof Page["events"]];
