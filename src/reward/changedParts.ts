/**
 * Tells at little cost that an attempt ends in another state than the goals: by the parts that were
 * changed, whatever they were changed to, so that generated ids need no names.
 */
import { isJsonObject, type Json } from "../environment/json.ts";
import type { AttemptStates } from "../trajectory/attempt.ts";
import { isUnchanged } from "./stateText.ts";

/**
 * Whether the attempt changes a part of a world that the goals leave as it was, or the other way
 * round. If it does not, the states may differ all the same.
 */
export const changesOtherParts = ({ start, goal, final }: AttemptStates): boolean =>
  Object.keys(start).some(it => areOthers(start[it]!.world, goal[it]!.world, final[it]!.world));

function areOthers(start: Json, goal: Json | undefined, final: Json | undefined): boolean {
  if (!isObject(goal) || !isObject(final)) return false;
  const isKept = isUnchanged(goal, start);
  if (isKept !== isUnchanged(final, start)) return true;
  return (
    !isKept &&
    isJsonObject(start) &&
    isJsonObject(goal) &&
    isJsonObject(final) &&
    Object.keys(start).some(
      key => isObject(start[key]) && areOthers(start[key], goal[key], final[key]),
    )
  );
}

const isObject = (value: Json | undefined): value is Json & object =>
  value !== null && typeof value === "object";
