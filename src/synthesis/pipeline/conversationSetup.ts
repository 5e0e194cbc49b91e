/** The input and the result of running a conversation. */
import type { Random } from "../../environment/random.ts";
import type { Session } from "../../environment/session.ts";
import type { Conversation } from "../../policy/policy.ts";
import type { Event } from "../../trajectory/trajectory.ts";
import type { SimulatedUser } from "../teachers/simulatedUser.ts";
import type { Teacher } from "../teachers/teacher.ts";
import type { Transition } from "./stateLog.ts";

export interface ConversationSetup {
  readonly session: Session;
  readonly user: SimulatedUser;
  readonly teacher: Teacher;
  readonly conversation: Conversation & { readonly events: Event[] };
  readonly random: Random;
  /** Turns of the user; both are 1 for a conversation of one turn. */
  readonly minTurns: number;
  readonly maxTurns: number;
}

export interface ConversationResult {
  readonly log: readonly Transition[];
  /** Why the conversation was rejected, in a word and in full; absent if it finished. */
  readonly rejected?: { readonly reason: string; readonly explanation: string };
}
