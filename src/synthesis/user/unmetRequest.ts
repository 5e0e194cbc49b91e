/** A request that the assistant has answered without a call. */
import type { State } from "../../environment/state.ts";
import type { Intent } from "./intent.ts";

/**
 * What a user turn asks for and the assistant says that it cannot do or, with `asks`, has to ask
 * about. The intent's call is the one that would fulfil it.
 */
export interface UnmetRequest {
  /** Index of the user turn. */
  readonly turn: number;
  readonly intent: Intent;
  /** The argument that only the user knows. */
  readonly asks?: string;
  /** The id of the rule that forbids it. */
  readonly rule?: string;
  /** The state in which the assistant answers. */
  readonly state: State;
}
