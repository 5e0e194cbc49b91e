/** Finds the goal calls that an attempt did not make itself. */
import { isJsonObject, type Json } from "../environment/json.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import type { GoalCall } from "../trajectory/task.ts";
import { listCalls, type CallEvent } from "../trajectory/trajectory.ts";
import { areEqual, getPropertySchema } from "../trajectory/valueEquality.ts";
import { isSameText } from "./freeText.ts";
import { getStateNames } from "./stateNames.ts";
import { noNames, replaceTexts, type TextNames } from "./stateText.ts";

/** A goal call without an `ok` call of its own. */
export interface UnmadeCall {
  readonly goalCall: GoalCall;
  /** The index of its goal in the task. */
  readonly goal: number;
  /** Whether no goal has to come before it. */
  readonly isFirst: boolean;
}

/**
 * Lists the goal calls that have no `ok` call of their own, with equal arguments and after the
 * goals they follow. Free texts are compared as the goal call says.
 */
export function listUnmadeCalls(attempt: Attempt): UnmadeCall[] {
  const { task, trajectory } = attempt;
  const calls = listCalls(trajectory);
  const usedCalls = new Set<number>();
  /** For each goal, the position of its last call. */
  const lastPositions: number[] = [];
  const unmade: UnmadeCall[] = [];
  for (const [g, goal] of task.goals.entries()) {
    const from = Math.max(-1, ...goal.after.map(it => lastPositions[it.goal]!));
    const positions = goal.calls.map(goalCall => {
      const at = calls.findIndex(
        (it, i) =>
          i > from &&
          !usedCalls.has(i) &&
          it.outcome.kind === "ok" &&
          isGoalCall(goalCall, it, attempt),
      );
      if (at >= 0) usedCalls.add(at);
      else unmade.push({ goalCall, goal: g, isFirst: from < 0 });
      return at;
    });
    lastPositions[g] = Math.max(from, ...positions);
  }
  return unmade;
}

function isGoalCall(goalCall: GoalCall, call: CallEvent, attempt: Attempt): boolean {
  if (call.name !== goalCall.name || !isJsonObject(call.arguments)) return false;
  const callArguments = call.arguments;
  if (Object.keys(callArguments).length !== Object.keys(goalCall.arguments).length) return false;
  const schema = attempt.tools.get(goalCall.name)?.inputSchema;
  const names = getStateNames(attempt);
  return Object.entries(goalCall.arguments).every(
    ([key, value]) =>
      Object.hasOwn(callArguments, key) &&
      (goalCall.mask?.includes(key) ||
        isSameText(goalCall, key, callArguments[key]) ||
        areEqual(
          replaceTextsIn(value, names.goal),
          replaceTextsIn(callArguments[key]!, names.reached),
          getPropertySchema(schema, key),
        )),
  );
}

function replaceTextsIn(value: Json, names: TextNames): Json {
  if (names === noNames) return value;
  if (typeof value === "string") return replaceTexts(value, names);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(it => replaceTextsIn(it, names));
  return Object.fromEntries(
    Object.entries<Json>(value).map(([key, it]) => [key, replaceTextsIn(it, names)]),
  );
}
