/** The interface of a teacher: the policy that answers the simulated user during synthesis. */
import type { AssistantMessage, Conversation } from "../../policy/policy.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";

/** How the assistant continues after a failed call. */
export type Recovery = "retry" | "alternative" | "give-up";

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
  /** Why a reply may not be used, or undefined. */
  findFlaw?(text: string): string | undefined;
}
