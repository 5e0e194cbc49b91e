/**
 * What the editor and the terminal program, which it forks for long work, send each other as
 * JSON-RPC. Types only; the files that the work writes are its result.
 */
import type { ChatAnswer, ChatMessage, ChatTool } from "../policy/chatModel.ts";
import type { SynthesisRequest, SynthesisResult } from "../synthesis/pipeline/runSynthesis.ts";
import type { SynthesisProgress } from "../synthesis/pipeline/synthesisProgress.ts";

/** Which teacher a synthesis has. */
export type TeacherOptions =
  | { readonly kind: "graph" }
  | {
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
  /** One of the editor's own language models, used by the request `complete`. */
  | { readonly kind: "editor"; readonly model: string };

/** A synthesis for the editor: the options of `runSynthesis`, and what only the editor knows. */
export interface SynthesisWork extends SynthesisRequest {
  /** Folders of fixtures; the first match counts. */
  readonly fixtures: readonly string[];
  readonly teacher: TeacherOptions;
}

/** A completion of one of the editor's language models, with these tools and no others. */
export interface CompletionRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ChatTool[];
}

/** Text and calls as the model gave them; the ids of the calls are its own. */
export type Completion = Pick<ChatAnswer, "text" | "calls">;

/** What the terminal program accepts. Canceling a request leaves valid files. */
export type ProgramMessages = {
  requests: {
    synthesize: { params: SynthesisWork; result: SynthesisResult };
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
  };
};
