/**
 * R_arg, equation (4): of the pairs already aligned, how many argument values are the goal's. Free
 * text under a mask is not compared.
 */
import { isJsonObject, type Json } from "../environment/json.ts";
import type { JsonSchema } from "../environment/server.ts";
import type { GoalCall } from "../trajectory/task.ts";
import type { AlignedPair } from "./alignedPair.ts";
import type { ArgumentEvidence } from "./breakdown.ts";
import { areEqual, propertySchema } from "./valueEquality.ts";

/** R_arg = (1/|M|) Σ over pairs of the share of equal arguments; 0 where nothing is aligned. */
export const scoreArguments = (pairs: readonly AlignedPair[]): number =>
  pairs.length === 0
    ? 0
    : pairs.reduce((sum, it) => sum + computeEqualShare(it.arguments), 0) / pairs.length;

/** The goal call's arguments one by one against a call's. */
export function compareArguments(
  goal: GoalCall,
  args: Json,
  schema?: JsonSchema,
): readonly ArgumentEvidence[] {
  const given = isJsonObject(args) ? args : {};
  return Object.entries(goal.arguments).map(([key, wanted]) => {
    const has = Object.hasOwn(given, key);
    const model = has ? given[key]! : undefined;
    return {
      key,
      goal: wanted,
      model,
      equal: has && areEqual(wanted, given[key]!, propertySchema(schema, key)),
      masked: goal.mask?.includes(key) ?? false,
    };
  });
}

/** The share of unmasked arguments that are equal; 1 where there are none to compare. */
export function computeEqualShare(evidence: readonly ArgumentEvidence[]): number {
  const compared = evidence.filter(it => !it.masked);
  return compared.length === 0 ? 1 : compared.filter(it => it.equal).length / compared.length;
}
