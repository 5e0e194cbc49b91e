/**
 * Decides whether an attempt succeeded: it must end in the goals' state and show in time whatever
 * the user asked for. Look-ups that do not say what they are for must be made as they are. Success
 * is reported beside the reward; the paper's reward does not contain it.
 */
import { computeDigest } from "../environment/digest.ts";
import { isJsonObject, type Json } from "../environment/json.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import type { GoalCall } from "../trajectory/task.ts";
import { listCalls, type CallEvent } from "../trajectory/trajectory.ts";
import { getStateNames, listMentionedWords, type StateNames } from "./stateNames.ts";
import { resolveGoals } from "./resolveGoals.ts";
import { formatWorld, noNames, replaceTexts, type TextNames } from "./stateText.ts";
import { areEqual, getPropertySchema } from "../trajectory/valueEquality.ts";

export interface Success {
  readonly achieved: boolean;
  /** Whether the attempt ends in the same state as the goals. */
  readonly isGoalState: boolean;
  /** Whether everything that the user asked for was shown. */
  readonly hasAllReads: boolean;
  /** Why the attempt failed, one line per reason. */
  readonly reasons: readonly string[];
}

const successes = new WeakMap<Attempt, Success>();

/**
 * The success of an attempt, which is computed once. On a task without goals, success is to make no
 * call.
 */
export function getSuccess(attempt: Attempt): Success {
  let success = successes.get(attempt);
  if (!success) successes.set(attempt, (success = computeSuccess(attempt)));
  return success;
}

function computeSuccess(attempt: Attempt): Success {
  const { task, trajectory, states } = attempt;
  const calls = listCalls(trajectory);
  if (task.goals.length === 0) {
    const reasons = calls.length === 0 ? [] : [`${calls.length} calls where none was wanted`];
    return { achieved: calls.length === 0, isGoalState: true, hasAllReads: true, reasons };
  }
  const isSameState = computeDigest(states.goal) === computeDigest(states.final);
  const names = getStateNames(attempt);
  const differences = isSameState
    ? []
    : describeDifferences(attempt, names, listMentionedWords(task));
  const missingReads = [
    ...findMissingReads(attempt, calls, names),
    ...resolveGoals(attempt).missing,
  ];
  return {
    achieved: differences.length === 0 && missingReads.length === 0,
    isGoalState: differences.length === 0,
    hasAllReads: missingReads.length === 0,
    reasons: [...differences, ...missingReads],
  };
}

/** Whether all goal calls of a task are reads. */
export const isReadOnly = ({ task, tools }: Attempt): boolean =>
  task.goals.length > 0 &&
  task.goals.every(goal => goal.calls.every(it => tools.get(it.name)?.effect === "read"));

function describeDifferences(
  { states: { start, goal, final } }: Attempt,
  names: StateNames,
  mentionedWords: ReadonlySet<string>,
): string[] {
  return Object.keys(goal)
    .filter(
      it =>
        formatWorld(goal[it]!, start[it]!, names.goal, mentionedWords) !==
        formatWorld(final[it]!, start[it]!, names.reached, mentionedWords),
    )
    .map(it => {
      const place = findFirstDifference(goal[it]!.world, final[it]!.world, `/${it}/world`);
      return place ?? `the world of ${it} is not the one the goals leave`;
    });
}

/** Describes the first place where two values differ. Generated ids are compared literally. */
function findFirstDifference(goal: Json, reached: Json, at: string): string | undefined {
  if (isJsonObject(goal) && isJsonObject(reached)) {
    for (const key of Object.keys({ ...goal, ...reached })) {
      const path = `${at}/${key}`;
      if (!Object.hasOwn(reached, key)) return `${path} is missing`;
      if (!Object.hasOwn(goal, key)) return `${path} should not be there`;
      const inner = findFirstDifference(goal[key]!, reached[key]!, path);
      if (inner) return inner;
    }
    return undefined;
  }
  return areEqual(goal, reached)
    ? undefined
    : `${at} is ${shortenJson(reached)}, not ${shortenJson(goal)}`;
}

const shortenJson = (value: Json) => {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};

/**
 * Finds the goal calls that read, do not say what they are for, and have no `ok` call of their own,
 * with equal unmasked arguments and after the goals they follow. Writes are compared through the
 * state; here they only decide from where on a read counts. If the goals' writes cancel each other
 * out, the state proves nothing, and the writes are required too.
 */
function findMissingReads(
  { task, tools, states }: Attempt,
  calls: readonly CallEvent[],
  names: StateNames,
): string[] {
  const hasNoEffect = Object.entries(states.goal).every(
    ([server, { world }]) => computeDigest(world) === computeDigest(states.start[server]!.world),
  );
  const isRequired = (name: string) => hasNoEffect || tools.get(name)?.effect === "read";
  const usedCalls = new Set<number>();
  /** For each goal, the position of its last call. */
  const lastPositions: number[] = [];
  const missing: string[] = [];
  for (const [g, goal] of task.goals.entries()) {
    const from = Math.max(-1, ...goal.after.map(it => lastPositions[it.goal]!));
    const positions = goal.calls.map(goalCall => {
      const at = calls.findIndex(
        (it, i) =>
          i > from && !usedCalls.has(i) && it.outcome.kind === "ok" && matches(goalCall, it),
      );
      if (at >= 0) usedCalls.add(at);
      else if (goalCall.for === undefined && isRequired(goalCall.name))
        missing.push(
          `no ${goalCall.name} ${shortenJson(goalCall.arguments)}${from < 0 ? "" : " in its place"}`,
        );
      return at;
    });
    lastPositions[g] = Math.max(from, ...positions);
  }
  return missing;

  function matches(goalCall: GoalCall, call: CallEvent): boolean {
    if (call.name !== goalCall.name || !isJsonObject(call.arguments)) return false;
    const callArguments = call.arguments;
    const schema = tools.get(goalCall.name)?.inputSchema;
    if (Object.keys(callArguments).length !== Object.keys(goalCall.arguments).length) return false;
    return Object.entries(goalCall.arguments).every(
      ([key, value]) =>
        Object.hasOwn(callArguments, key) &&
        (goalCall.mask?.includes(key) ||
          areEqual(
            replaceTextsIn(value, names.goal),
            replaceTextsIn(callArguments[key]!, names.reached),
            getPropertySchema(schema, key),
          )),
    );
  }
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
