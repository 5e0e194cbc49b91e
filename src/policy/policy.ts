/** The interface of a policy, which produces the assistant's next message in a conversation. */
import type { Call } from "../environment/outcome.ts";
import type { Tool } from "../environment/server.ts";
import type { Task } from "../trajectory/task.ts";
import type { Header, Event } from "../trajectory/trajectory.ts";

/** A part of a conversation that has more tokens than a student reads or writes. */
export interface Excess {
  readonly part: "conversation" | "prompt" | "student's messages";
  readonly tokens: number;
  readonly limit: number;
}

/** One message: calls to run in their listed order or, without calls, text for the user. */
export interface AssistantMessage {
  readonly text: string;
  readonly calls: readonly Call[];
  /** A student's tokens: their ids, log-probabilities, and 1 where it sampled the token itself. */
  readonly tokens?: readonly number[];
  readonly logprobs?: readonly number[];
  readonly mask?: readonly number[];
  /** A token or context limit cut the message off, which ends the attempt. */
  readonly cut?: true;
  /** Why a student wrote nothing: the conversation is beyond one of its limits. */
  readonly excess?: Excess;
  /** How many tokens the policy read and wrote for the message, if it knows. */
  readonly usage?: { readonly read: number; readonly written: number };
}

/**
 * How the next message is chosen, where that differs from the policy's own way. A policy need not
 * support any of it: who asks checks the message.
 */
export interface Decoding {
  /** 0 takes the most probable tokens. */
  readonly temperature?: number | undefined;
  /** Decides alone which tokens are sampled for a conversation. */
  readonly seed?: number | undefined;
  /** The most tokens of the message. */
  readonly maxTokens?: number | undefined;
  /** The message has no calls, some calls, or calls of this tool. */
  readonly tool?: "none" | "required" | { readonly name: string } | undefined;
  /** Called with parts of the text for the user as soon as they are written. */
  readonly onText?: ((text: string) => void) | undefined;
}

/** What a policy sees: the offered tools and all events so far, but not the goals. */
export interface Conversation {
  readonly header: Header;
  /** The tools offered so far, in menu order; those that user events add come last. */
  readonly tools: readonly Tool[];
  /** The session's time at the start, `YYYY-MM-DDTHH:MM`. */
  readonly now: string;
  readonly events: readonly Event[];
  /** The rules that hold, in the words of the system message, or the page that says them. */
  readonly rules?: readonly string[];
  /** The system message of a client, which chat models read in place of the usual one. */
  readonly instructions?: string;
}

/** The rules of a task as a part of its conversation. */
export const createRules = ({ policy }: Pick<Task, "policy">): Pick<Conversation, "rules"> =>
  policy
    ? { rules: policy.page === undefined ? policy.rules.map(it => it.text) : [policy.page] }
    : {};

/**
 * A policy could not answer for an external reason, such as an endpoint that is down or too little
 * memory. It ends the attempt, which is then not scored. Any other error is a bug and is rethrown.
 */
export class PolicyFault extends Error {
  override readonly name = "PolicyFault";
}

export interface Policy {
  /** The policy's name in trajectory headers and tables. */
  readonly name: string;
  /** `constrained` if its messages are limited to calls that fit the offered tools. */
  readonly decoding?: "constrained";
  next(
    conversation: Conversation,
    signal?: AbortSignal,
    decoding?: Decoding,
  ): Promise<AssistantMessage>;
  /** The bytes of a token of its messages, if it reports tokens. */
  readToken?(id: number): Uint8Array;
  /** Called once when an attempt ends, to free what was kept for it. */
  release?(conversation: Conversation): void;
}
