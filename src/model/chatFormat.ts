/**
 * The interface of a chat format: how a model reads a conversation as token ids and writes its own
 * messages. compactFormat.ts has the format of small students.
 */
import type { AssistantMessage, Conversation } from "../policy/policy.ts";
import type { GrammarOptions, MessageGrammar } from "./student/messageGrammar.ts";

/** The limits of a model, in tokens. An attempt that exceeds one ends by `limit`. */
export interface ChatLimits {
  /** The menu and the first user turn. */
  readonly prompt: number;
  /** What the model may write, over all turns. */
  readonly sampled: number;
  /** One result. */
  readonly result: number;
  /** A user turn after the first. */
  readonly turn: number;
  /** A whole conversation. */
  readonly context: number;
}

/** A conversation as token ids. The arrays have one entry for each token. */
export interface ChatTokens {
  readonly ids: number[];
  /** 1 if the policy wrote the token, else 0. */
  readonly mask: number[];
  /** The log-probability recorded when the policy sampled the token, else 0. */
  readonly logprobs: number[];
  /** How many tokens the opening has: menu, time, first user turn and the mark after them. */
  readonly opening: number;
  /**
   * How many tokens come before the policy's first own message. It is more than the opening if the
   * attempt is at one turn, after the teacher's.
   */
  readonly given: number;
  /** The index of the policy message that the token belongs to, or -1. */
  readonly message: number[];
}

/** What a policy message says. */
export type MessageContent = Pick<AssistantMessage, "text" | "calls">;

/** Reads a message while it is being written. */
export interface ReplyReader {
  /** What a reply to the user says so far; undefined for a message of calls. */
  readonly text: string | undefined;
  append(id: number): void;
}

/** A conversation up to the policy's next message. */
export interface EncodedChat extends ChatTokens {
  /** Parses the ids of the next message, which `isMessageEnd` ended. */
  parse(ids: readonly number[]): MessageContent;
  /** Reads the next message, and passes its words on. Absent if only whole messages can be read. */
  readReply?(onText?: (text: string) => void): ReplyReader;
  /** The grammar of the next message. Absent if the format has none. */
  openGrammar?(options: Omit<GrammarOptions, "aliases">): MessageGrammar;
}

export interface ChatFormat {
  readonly limits: ChatLimits;
  /**
   * Whether the prompt has the descriptions and the whole schemas of tools, so that the model can
   * use tools that it was not trained on.
   */
  readonly describesTools: boolean;
  /** The name of the syntax in which the model writes calls. */
  readonly callSyntax: string;
  /** Whether messages can be limited to calls that fit the offered tools. */
  readonly hasGrammar: boolean;
  /**
   * Encodes the conversation so far. The ids of the policy's messages are those that it sampled.
   * The same conversation always has the same ids, and a longer one begins with them.
   */
  encode(conversation: Conversation): EncodedChat;
  /** How many tokens the tools of a menu have, without what a template writes around them. */
  countTools(tools: Conversation["tools"]): number;
  /** Whether a message of the policy ends with this id. */
  isMessageEnd(id: number): boolean;
  decode(ids: readonly number[]): string;
  /** The bytes of a token. */
  readToken(id: number): Uint8Array;
  /** For each token of a message the index of the message's call that it belongs to. */
  indexCalls(ids: readonly number[]): number[];
  /** Shortens a teacher's reply to what the model learns to write. */
  shortenReply(text: string): string;
}
