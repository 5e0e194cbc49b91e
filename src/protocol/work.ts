/**
 * What the editor and the terminal program, which it forks for long work, send each other as
 * JSON-RPC. Types only; the files that the work writes are its result.
 */
import type { ToolDescription } from "../environment/toolDescription.ts";
import type { ChatAnswer, ChatMessage } from "../policy/chatModel.ts";
import type { RunConfig } from "../run/config.ts";
import type { FitCounts } from "../run/startModel.ts";
import type { TrainingPlan } from "../run/trainingPlan.ts";
import type { CachedScoring, ScoredRows, ScoringResult } from "../run/scoreAttempts.ts";
import type { ComputedWith } from "../run/backends.ts";
import type { Estimate, Measurement } from "../run/evaluation.ts";
import type { SynthesisRequest, SynthesisResult } from "../synthesis/pipeline/run/runSynthesis.ts";
import type { SynthesisProgress } from "../synthesis/pipeline/report/report.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";

/** A model behind an OpenAI-compatible address. */
interface EndpointModel {
  readonly kind: "endpoint";
  /** The address before `/chat/completions`. */
  readonly url: string;
  readonly model: string;
  /** Sent to that address only; never written, printed or passed on in an environment. */
  readonly key?: string;
  /** Most requests at a time. */
  readonly concurrency?: number;
  /** Most tokens read and written, over the whole work. */
  readonly tokens?: number;
}

/** Which teacher a synthesis has. */
export type TeacherOptions =
  | { readonly kind: "graph" }
  | EndpointModel
  /** One of the editor's own language models, used by the request `complete`. */
  | { readonly kind: "editor"; readonly model: string };

/** A synthesis for the editor: the options of `runSynthesis`, and what only the editor knows. */
export interface SynthesisWork extends SynthesisRequest {
  /** Folders of fixtures; the first match counts. */
  readonly fixtures: readonly string[];
  readonly teacher: TeacherOptions;
}

/** A check of which tasks of a file fit a student. */
export interface FitWork {
  /** The tasks file. */
  readonly tasks: string;
  /** The model folder. */
  readonly model: string;
  readonly fixtures: readonly string[];
}

/** The plan of a training that has not been started. */
interface PlanWork {
  readonly config: RunConfig;
  /** The model folder. */
  readonly model: string;
  readonly fixtures: readonly string[];
}

export interface FitResult {
  /** Of the tasks to train on, and of all held-out ones. */
  readonly train: FitCounts;
  readonly heldOut: FitCounts;
  /** The servers that the student was not trained on, those of most tasks first. */
  readonly unknownServers: readonly string[];
}

/** An evaluation of students on the held-out tasks of a file that fit all of them. */
export interface EvaluationWork {
  /** The tasks file. */
  readonly tasks: string;
  /** Model folders. The second is compared with the first. */
  readonly models: readonly string[];
  /** The most tasks to attempt. */
  readonly limit: number;
  /** The profile of the rewards. */
  readonly profile: string;
  readonly fixtures: readonly string[];
}

export interface EvaluationResult {
  /** How many tasks were attempted, and how many sets of tools they need. */
  readonly count: number;
  readonly sets: number;
  readonly computedWith: ComputedWith;
  /** One per model. */
  readonly measurements: readonly Measurement[];
  /** The differences of the second model from the first one, paired by task. */
  readonly change?: { readonly success: Estimate; readonly reward: Estimate };
}

/** Scoring the attempts of some sources. */
export type ScoringWork = CachedScoring;

/** An attempt of a policy at one task, which is written as a trajectory file. */
export interface AttemptWork {
  readonly task: Task;
  /** `model` of a student is its folder. */
  readonly policy: { readonly kind: "student"; readonly model: string } | EndpointModel;
  /** The beginning of an attempt at the task, which the policy goes on with. */
  readonly from?: Trajectory;
  /** The trajectory file to write. */
  readonly file: string;
  readonly fixtures: readonly string[];
}

/** An attempt that a model reads as text and tokens. */
export interface ReadingWork {
  readonly task: Task;
  readonly trajectory: Trajectory;
  /** The model folder. */
  readonly model: string;
  /** Whether the model, or one with its tokenizer, made the attempt: its tokens are recorded. */
  readonly isOwn: boolean;
  readonly fixtures: readonly string[];
}

/** A conversation in the tokens of a model, in order. */
export interface ModelReading {
  readonly name: string;
  readonly kind: "student" | "hugging-face";
  /** The most tokens of a conversation. */
  readonly context: number;
  readonly parts: readonly ReadingPart[];
  /** Why log-probabilities were not computed where they are not recorded. */
  readonly note?: string;
}

export type ReadingPart =
  /** What was appended: the prompt, results and what the user says. */
  | { readonly kind: "given"; readonly text: string; readonly tokens: number }
  /** A message of the policy, by its number. */
  | {
      readonly kind: "message";
      readonly message: number;
      /** Whether the tokens are those that were sampled, or the text was encoded for this. */
      readonly isRecorded: boolean;
      /** Where the log-probabilities come from; absent if there are none. */
      readonly logprobs?: "recorded" | "computed";
      readonly tokens: readonly ReadToken[];
    };

export interface ReadToken {
  readonly id: number;
  /** Its bytes as text, with `<0xE2>` for bytes that are no whole character. */
  readonly text: string;
  readonly logprob?: number;
}

/** A folder for a training with TRL or verl. */
export interface EngineWork {
  readonly engine: "trl" | "verl";
  readonly tasks: string;
  /** A folder, or a name on the Hugging Face hub. */
  readonly model: string;
  /** The folder to write. */
  readonly out: string;
  /** 0 stands for the CPU. */
  readonly gpus: number;
  /** Trains adapters of this rank instead of all weights. */
  readonly loraRank?: number;
  readonly profile: string;
  /** Folders of fixtures; the first one is the workspace's own, which is copied. */
  readonly fixtures: readonly string[];
}

/** Attempts as the rows of a file for fine-tuning. */
export interface ConversationsWork {
  readonly attempts: readonly { readonly task: Task; readonly trajectory: Trajectory }[];
  readonly fixtures: readonly string[];
}

export interface ConversationsResult {
  /** The lines of the file. */
  readonly lines: readonly string[];
  /** The number of attempts whose tasks cannot be opened, and why the first one cannot. */
  readonly leftOut: number;
  readonly reason?: string;
}

/** How far some work is. */
export interface WorkProgress {
  readonly done: number;
  /** 0 if it is not known. */
  readonly total: number;
  /** What is counted, in the singular, such as `task`. */
  readonly noun: string;
}

/** A completion of one of the editor's language models, with these tools and no others. */
export interface CompletionRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDescription[];
}

/** Text and calls as the model gave them; the ids of the calls are its own. */
export type Completion = Pick<ChatAnswer, "text" | "calls">;

/** What the terminal program accepts. Canceling a request leaves valid files. */
export type ProgramMessages = {
  requests: {
    synthesize: { params: SynthesisWork; result: SynthesisResult };
    checkFit: { params: FitWork; result: FitResult };
    plan: { params: PlanWork; result: TrainingPlan };
    evaluate: { params: EvaluationWork; result: EvaluationResult };
    attempt: { params: AttemptWork; result: object };
    readAttempt: { params: ReadingWork; result: ModelReading };
    prepareEngine: { params: EngineWork; result: object };
    createConversations: { params: ConversationsWork; result: ConversationsResult };
    scoreAttempts: { params: ScoringWork; result: ScoringResult };
  };
  notifications: object;
};

/** What the editor accepts. */
export type EditorMessages = {
  requests: {
    complete: { params: CompletionRequest; result: Completion };
  };
  notifications: {
    progress: SynthesisProgress;
    advanced: WorkProgress;
    scored: ScoredRows;
  };
};
