/**
 * What an assistant has to find out or put right itself before it can do what the user asked for.
 * The user's words allow it; the live session shows that it works.
 */
import type { JsonObject } from "../../environment/json.ts";
import type { Call } from "../../policy/policy.ts";

/**
 * `repair`: the state has to be put right first; `hint`: the refusal says what would work; `page`:
 * a list shows it only with a larger limit; `ambiguous`: a name fits several; `stale`: what the
 * user says no longer holds.
 */
export type RecoverySort = (typeof recoverySorts)[number];

export const recoverySorts = ["repair", "hint", "page", "ambiguous", "stale"] as const;

export interface IntentRecovery {
  readonly sort: RecoverySort;
  /** The arguments of the call that is tried first and refused; absent if nothing is refused. */
  readonly refused?: JsonObject;
  /** The calls between the refusal and the intent's own call. */
  readonly steps: readonly Call[];
  /** Sentences for the reply, one of each list, with the slots of a reply. */
  readonly told: readonly (readonly string[])[];
}
