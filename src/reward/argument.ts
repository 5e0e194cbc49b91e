/**
 * R_arg, equation (4): the share of argument values that equal the goal's, over the aligned pairs.
 * Masked arguments are free text and not compared.
 */
import { isJsonObject, type Json } from "../environment/json.ts";
import type { JsonSchema } from "../environment/server.ts";
import type { GoalCall } from "../trajectory/task.ts";
import type { AlignedPair } from "./alignedPair.ts";
import type { ArgumentEvidence } from "./breakdown.ts";
import { isSameText } from "./freeText.ts";
import { areEqual, getPropertySchema } from "../trajectory/valueEquality.ts";

/** R_arg = (1/|M|) Σ over pairs of the share of equal arguments; 0 if nothing is aligned. */
export const scoreArguments = (pairs: readonly AlignedPair[]): number =>
  pairs.length === 0
    ? 0
    : pairs.reduce((sum, it) => sum + computeEqualShare(it.arguments), 0) / pairs.length;

/** Compares each argument of a goal call with that of a call. */
export function compareArguments(
  goal: Pick<GoalCall, "arguments" | "mask" | "loose" | "words">,
  args: Json,
  schema?: JsonSchema,
): readonly ArgumentEvidence[] {
  const callArguments = isJsonObject(args) ? args : {};
  return Object.entries(goal.arguments).map(([key, goalValue]) => {
    const hasKey = Object.hasOwn(callArguments, key);
    const model = hasKey ? callArguments[key]! : undefined;
    return {
      key,
      goal: goalValue,
      model,
      equal:
        hasKey &&
        (areEqual(goalValue, callArguments[key]!, getPropertySchema(schema, key)) ||
          isSameText(goal, key, model)),
      masked: goal.mask?.includes(key) ?? false,
    };
  });
}

/** The share of unmasked arguments that are equal; 1 if there are none. */
export function computeEqualShare(evidence: readonly ArgumentEvidence[]): number {
  const compared = evidence.filter(it => !it.masked);
  return compared.length === 0 ? 1 : compared.filter(it => it.equal).length / compared.length;
}
