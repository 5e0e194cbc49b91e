/** Renders the assistant's request for the user's confirmation. */
import type { Random } from "../../environment/random.ts";
import { capitalize } from "./clauses.ts";
import { addressUser, isRepeatable } from "./repeatedClause.ts";

export interface ConfirmationTexts {
  /** `{clause}` is the user's request in the assistant's words, `{Because}` the rule's reason. */
  readonly request: readonly string[];
  /** For requests that are not repeated. */
  readonly plain: readonly string[];
  /** The user's answers. */
  readonly agree: readonly string[];
}

/** The question about the requests of a turn; those that are only parts of sentences are undefined. */
export function renderConfirmation(
  because: string,
  clauses: readonly (string | undefined)[],
  texts: ConfirmationTexts,
  random: Random,
): string {
  const [clause] = clauses;
  const canRepeat = clauses.length === 1 && clause !== undefined && isRepeatable(clause);
  return random
    .pick(canRepeat ? texts.request : texts.plain)
    .replace("{clause}", () => addressUser(clause!))
    .replace("{Because}", () => capitalize(because));
}
