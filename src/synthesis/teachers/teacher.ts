/** The interface of a teacher: the policy that answers the simulated user during synthesis. */
import type { AssistantMessage, Conversation } from "../../policy/policy.ts";
import type { Fact } from "../../trajectory/task.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";

/** How the assistant continues after a failed call. */
export type Recovery = "retry" | "alternative" | "give-up";

/** Why a read was made: for its values, or because the user asked for the facts. */
export type ReadPurpose =
  { readonly for: "feeds" } | { readonly for: "answers"; readonly facts: readonly Fact[] };

/**
 * Answers the user during synthesis. The state machine chooses the recovery; the teacher lists the
 * recoveries that it can carry out.
 */
export interface Teacher {
  readonly name: string;
  /** `complaint`: what was wrong with its previous message, which was not used. */
  next(
    conversation: Conversation,
    recovery?: { readonly kind: Recovery; readonly failed: CallEvent },
    complaint?: string,
  ): Promise<AssistantMessage>;
  listRecoveries(failed: CallEvent): readonly Recovery[];
  /** Why it made a read that succeeded. Absent for a teacher that does not say. */
  getPurpose?(call: CallEvent): ReadPurpose;
  /**
   * The user's answer to the message just sent, which asked for a confirmation; undefined after any
   * other message.
   */
  takeAnswer?(): string | undefined;
  /** Why a reply may not be used, or undefined. */
  findFlaw?(text: string): string | undefined;
}
