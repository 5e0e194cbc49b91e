/**
 * Long work that the editor hands to the terminal program, which it forks for it: one ask, any
 * number of progress facts, one last fact; between them the work may ask for answers of the
 * editor's own language models. Types only; the files that the work writes are its result.
 */
import type { ChatAnswer, ChatMessage, ChatTool } from "../policy/chatModel.ts";

/** Who teaches a synthesis. */
export type TeacherAsk =
  | { readonly kind: "graph" }
  | {
      readonly kind: "endpoint";
      /** The address that `/chat/completions` is put behind. */
      readonly url: string;
      readonly model: string;
      /** Goes to that address only; it is never written, printed or passed on in an environment. */
      readonly key?: string;
      /** Requests at a time at most. */
      readonly concurrency?: number;
      /** Tokens read and written at most, over the whole work. */
      readonly tokens?: number;
    }
  /** One of the editor's own language models, asked for by `model-ask`. */
  | { readonly kind: "editor"; readonly model: string };

/** What is to be done. */
export type Work = {
  readonly kind: "synthesize";
  /** The tasks file to write, absolute. */
  readonly out: string;
  readonly count: number;
  readonly seed: number;
  readonly servers: readonly string[];
  /** Which mixture of talks; the paper's where absent. */
  readonly preset?: "paper" | "student";
  /** Where fixtures are looked for, first match wins. */
  readonly fixtures: readonly string[];
  /** The graph where absent. */
  readonly teacher?: TeacherAsk;
  /** Goes on with a file that was begun with the same ask. */
  readonly resume?: boolean;
};

/**
 * The first message to the forked program is its work; later ones end it, or answer what it asked.
 */
export type WorkAsk =
  | Work
  | { readonly kind: "cancel" }
  /** `text` and `calls` as the model gave them; the ids of calls are its own. */
  | ({ readonly kind: "model-answer"; readonly id: number } & Pick<ChatAnswer, "text" | "calls">)
  | { readonly kind: "model-failed"; readonly id: number; readonly what: string };

export type WorkSays =
  | {
      readonly kind: "progress";
      readonly done: number;
      readonly total: number;
      readonly doing: string;
    }
  /**
   * Wants a completion of one of the editor's language models, with these tools and none of the
   * editor's own. Ids are not used twice.
   */
  | {
      readonly kind: "model-ask";
      readonly id: number;
      readonly model: string;
      readonly messages: readonly ChatMessage[];
      readonly tools?: readonly ChatTool[];
    }
  /** Nobody waits for that answer any more. */
  | { readonly kind: "model-cancel"; readonly id: number }
  /** Everything asked for lies in its file. `report`: what was done, in lines for a person. */
  | { readonly kind: "done"; readonly report: readonly string[] }
  /** Ended before its time on request; what is in the file is valid. */
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly what: string; readonly remedy: string };
