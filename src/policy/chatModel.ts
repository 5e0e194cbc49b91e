/**
 * A chat model, whoever serves it: messages and tools go in, words and calls come back. Knows no
 * wire, no editor and no task; what asks for structured output says so here and falls back to
 * asking in words.
 */
import type { Json } from "../environment/json.ts";
import type { JsonSchema } from "../environment/server.ts";

/**
 * A call as the model wrote it. Arguments that were no JSON are kept as the text they were, which
 * fits no tool.
 */
export interface ChatCall {
  /** The model's own name for the call, which its result answers to. */
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

/** One message of a talk, in the roles that chat endpoints know. */
export type ChatMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly calls?: readonly ChatCall[] }
  /** What the call with that id gave. */
  | { readonly role: "tool"; readonly call: string; readonly content: string };

export interface ChatTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonSchema;
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ChatTool[];
  /** The answer's text shall be JSON that fits; the name is letters, digits and underscores. */
  readonly schema?: { readonly name: string; readonly schema: JsonSchema };
  /** 0 takes the likeliest; the model's own where absent. */
  readonly temperature?: number;
  /** Tokens of the answer at most. */
  readonly maxTokens?: number;
}

export interface ChatAnswer {
  readonly text: string;
  readonly calls: readonly ChatCall[];
  /** Tokens that were read and written; 0 where whoever serves the model does not count. */
  readonly tokens: { readonly read: number; readonly written: number };
  /** It was cut by a limit: text and calls may be half. */
  readonly cut?: true;
}

export interface ChatModel {
  /** How the model is named in headers and tables; no address and no key. */
  readonly name: string;
  /**
   * Throws a `PolicyFault` where no answer could be had, and the signal's reason where it was
   * aborted.
   */
  complete(request: ChatRequest, signal?: AbortSignal): Promise<ChatAnswer>;
}
