/**
 * The interface of a chat model: messages and tools in, text and tool calls out. An endpoint and
 * the editor's language models implement it.
 */
import type { Call } from "../environment/outcome.ts";
import type { JsonSchema } from "../environment/server.ts";
import type { ToolDescription } from "../environment/toolDescription.ts";

/**
 * A call as the model wrote it. Arguments that are not valid JSON are kept as text, which matches
 * no tool's schema.
 */
export interface ChatCall extends Call {
  /** The model's id of the call; the message with its result repeats it. */
  readonly id: string;
}

/** One message of a conversation, in the roles of chat endpoints. */
export type ChatMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly calls?: readonly ChatCall[] }
  /** The result of the call with that id. */
  | { readonly role: "tool"; readonly call: string; readonly content: string };

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDescription[];
  /** The schema of the answer's text, if it must be JSON. Names have letters, digits and `_`. */
  readonly schema?: { readonly name: string; readonly schema: JsonSchema };
  /** 0 selects the most likely tokens; the model's default if absent. */
  readonly temperature?: number;
  /** The most tokens of the answer. */
  readonly maxTokens?: number;
}

export interface ChatAnswer {
  readonly text: string;
  readonly calls: readonly ChatCall[];
  /** Prompt and completion tokens; 0 if the usage is not reported. */
  readonly tokens: { readonly read: number; readonly written: number };
  /** A token limit cut the answer off, so its text and calls may be incomplete. */
  readonly cut?: true;
}

export interface ChatModel {
  /** The model's name in trajectory headers and tables, without its address. */
  readonly name: string;
  /** Throws a `PolicyFault` if the model gives no answer, and the signal's reason if aborted. */
  complete(request: ChatRequest, signal?: AbortSignal): Promise<ChatAnswer>;
}
