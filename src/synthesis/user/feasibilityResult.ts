/** The result of checking an intent on a fork of the live session. */
import type { Outcome, Patch } from "../../environment/outcome.ts";
import type { State } from "../../environment/state.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import type { MissingCapability } from "../text/missingCapability.ts";
import type { Intent } from "./intent.ts";

export interface FeasibilityResult {
  readonly intent: Intent;
  readonly declaration: ToolDeclaration;
  readonly outcome: Outcome;
  readonly patches: readonly Patch[];
  /** Why the assistant cannot do it although the session accepts the call. */
  readonly missingCapability?: MissingCapability;
  /** The state after the call. */
  readonly state: State;
}

/** Why a result cannot be used. A string is the reason why there is no result. */
export const describeProblem = (result: FeasibilityResult | string): string =>
  typeof result === "string"
    ? result
    : result.outcome.kind === "ok"
      ? "nothing in the result"
      : result.outcome.message;

/** Whether a call was refused because of the server's state, not because of its arguments. */
export const isRefusal = (outcome: Outcome): boolean =>
  outcome.kind === "refused" && outcome.type !== "invalid_params" && outcome.type !== "not_found";

/** Whether a result consists of empty lists. */
export function isEmptyResult(value: unknown): boolean {
  if (value === null || typeof value !== "object") return false;
  const fields = Object.values(value) as unknown[];
  const isEmptyList = (it: unknown) => Array.isArray(it) && it.length === 0;
  return fields.some(isEmptyList) && fields.every(it => isEmptyList(it) || it === 0);
}

/** Whether the call of a result succeeds and finds something. */
export const findsSomething = ({ outcome }: Pick<FeasibilityResult, "outcome">): boolean =>
  outcome.kind === "ok" && !isEmptyResult(outcome.value);
