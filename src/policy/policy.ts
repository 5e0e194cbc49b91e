/**
 * Whatever takes the next turn: scripted, teacher, student or endpoint. Knows no rewards and no
 * gradients.
 */
import type { Tool } from "../environment/server.ts";
import type { Json } from "../environment/json.ts";
import type { Header, Event } from "../trajectory/trajectory.ts";

/** A call as a policy wrote it. A block that could not be parsed has the name "". */
export interface Call {
  readonly name: string;
  readonly arguments: Json;
}

/** One message: calls to run in their listed order, or, with no calls, words for the user. */
export interface AssistantMessage {
  readonly text: string;
  readonly calls: readonly Call[];
  /**
   * A student's own record of the message: ids, log-probabilities, and 1 where it sampled the token
   * itself.
   */
  readonly tokens?: readonly number[];
  readonly logprobs?: readonly number[];
  readonly mask?: readonly number[];
  /** The message was cut by a token or context limit: the attempt ends here. */
  readonly cut?: true;
}

/** What a policy sees: the tools on offer and everything said and done so far. Never the goals. */
export interface Conversation {
  readonly header: Header;
  /** The tools on offer, in menu order. */
  readonly tools: readonly Tool[];
  /** The session's time when the talk began, `YYYY-MM-DDTHH:MM`. */
  readonly now: string;
  readonly events: readonly Event[];
}

/**
 * What kept a policy from answering lies outside it: an endpoint that is down, memory that ran out.
 * It ends the attempt, which is then not scored; any other error is a bug and goes up.
 */
export class PolicyFault extends Error {
  override readonly name = "PolicyFault";
}

export interface Policy {
  /** How the policy names itself in headers and tables. */
  readonly name: string;
  next(conversation: Conversation, signal?: AbortSignal): Promise<AssistantMessage>;
  /** Told once when an attempt ends, so that what was kept for it can go. */
  release?(conversation: Conversation): void;
}
