/**
 * The calls with which the graph teacher recovers: first the call that is refused, then those that
 * put it right or find out what would work. It does not look ahead, as an agent that does not know
 * the state would not.
 */
import type { Call } from "../../policy/policy.ts";
import type { Intent } from "../user/intent.ts";
import type { IntentRecovery } from "../user/intentRecovery.ts";

export class RecoverySteps {
  /** How many calls of a recovery have been made. */
  readonly #made = new Map<IntentRecovery, number>();

  /** The next call before the intent's own, which counts as made. */
  findNext({ tool, recovery }: Intent): Call | undefined {
    if (!recovery) return undefined;
    const made = this.#made.get(recovery) ?? 0;
    const next = listCalls(tool.name, recovery)[made];
    if (next) this.#made.set(recovery, made + 1);
    return next;
  }
}

const listCalls = (name: string, { refused, steps }: IntentRecovery): readonly Call[] =>
  refused ? [{ name, arguments: refused }, ...steps] : steps;
