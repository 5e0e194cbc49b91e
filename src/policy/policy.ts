/** The interface of a policy, which produces the assistant's next message in a conversation. */
import type { Tool } from "../environment/server.ts";
import type { Json } from "../environment/json.ts";
import type { Task } from "../trajectory/task.ts";
import type { Header, Event } from "../trajectory/trajectory.ts";

/** A call as the policy wrote it. A block that could not be parsed has the name "". */
export interface Call {
  readonly name: string;
  readonly arguments: Json;
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
}

/** What a policy sees: the offered tools and all events so far, but not the goals. */
export interface Conversation {
  readonly header: Header;
  /** The tools offered so far, in menu order; those that user events add come last. */
  readonly tools: readonly Tool[];
  /** The session's time at the start, `YYYY-MM-DDTHH:MM`. */
  readonly now: string;
  readonly events: readonly Event[];
  /** The rules that hold, in the words of the system message. */
  readonly rules?: readonly string[];
}

/** The rules of a task as a part of its conversation. */
export const createRules = ({ policy }: Pick<Task, "policy">): Pick<Conversation, "rules"> =>
  policy ? { rules: policy.rules.map(it => it.text) } : {};

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
  next(conversation: Conversation, signal?: AbortSignal): Promise<AssistantMessage>;
  /** Called once when an attempt ends, to free what was kept for it. */
  release?(conversation: Conversation): void;
}
