/**
 * Decides whether an attempt succeeded: it must end by itself, in the goals' state, show in time
 * whatever the user asked for, and keep the rules of the task's policy. Look-ups that do not say
 * what they are for must be made as they are. Success is reported beside the reward; the paper's
 * reward does not contain it.
 */
import { computeDigest } from "../environment/digest.ts";
import { isJsonObject, type Json } from "../environment/json.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import { describeBrokenRule, findBrokenRules } from "../trajectory/taskRules.ts";
import { listOwnCalls } from "../trajectory/oneTurn.ts";
import { getEnd } from "../trajectory/trajectory.ts";
import { getStateNames, listMentionedWords } from "./stateNames.ts";
import { resolveGoals } from "./resolveGoals.ts";
import { changesOtherParts } from "./changedParts.ts";
import { formatWorld } from "./stateText.ts";
import { listUnmadeCalls } from "./unmadeCalls.ts";
import { areEqual } from "../trajectory/valueEquality.ts";

export interface Success {
  readonly achieved: boolean;
  /** Whether the attempt ends in the same state as the goals. */
  readonly isGoalState: boolean;
  /** Whether everything that the user asked for was shown. */
  readonly hasAllReads: boolean;
  /** Whether no call broke a rule of the task's policy. */
  readonly hasKeptRules: boolean;
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

/** Whether an attempt succeeded. This costs much less than `getSuccess`, which says why not. */
export function isAchieved(attempt: Attempt): boolean {
  const known = successes.get(attempt);
  if (known) return known.achieved;
  const { task, trajectory } = attempt;
  if (getEnd(trajectory).by !== "policy" || !hasKeptRules(attempt)) return false;
  if (task.goals.length === 0) return listOwnCalls(trajectory).length === 0;
  return (
    !changesOtherParts(attempt.states) &&
    resolveGoals(attempt).missing.length === 0 &&
    findMissingCalls(attempt).length === 0 &&
    listOtherServers(attempt).length === 0
  );
}

/** Whether no call of an attempt broke a rule of the task's policy. */
export const hasKeptRules = ({ task, trajectory }: Attempt): boolean =>
  !task.policy || findBrokenRules(task.policy, trajectory.events).length === 0;

function computeSuccess(attempt: Attempt): Success {
  const { task, trajectory } = attempt;
  const calls = listOwnCalls(trajectory);
  const cuts = getEnd(trajectory).by === "policy" ? [] : ["it was cut off before it ended"];
  const broken = task.policy
    ? findBrokenRules(task.policy, trajectory.events).map(describeBrokenRule)
    : [];
  const rules = { hasKeptRules: broken.length === 0 };
  if (task.goals.length === 0) {
    const unwanted = calls.length === 0 ? [] : [`${calls.length} calls where none was wanted`];
    const reasons = [...unwanted, ...broken, ...cuts];
    const achieved = reasons.length === 0;
    return { achieved, isGoalState: true, hasAllReads: true, ...rules, reasons };
  }
  const differences = describeDifferences(attempt);
  const missingReads = [...findMissingCalls(attempt), ...resolveGoals(attempt).missing];
  const reasons = [...broken, ...differences, ...missingReads, ...cuts];
  return {
    achieved: reasons.length === 0,
    isGoalState: differences.length === 0,
    hasAllReads: missingReads.length === 0,
    ...rules,
    reasons,
  };
}

/** Whether all goal calls of a task are reads. */
export const isReadOnly = ({ task, tools }: Attempt): boolean =>
  task.goals.length > 0 &&
  task.goals.every(goal => goal.calls.every(it => tools.get(it.name)?.effect === "read"));

function describeDifferences(attempt: Attempt): string[] {
  const { goal, final } = attempt.states;
  return listOtherServers(attempt).map(it => {
    const place = findFirstDifference(goal[it]!.world, final[it]!.world, `/${it}/world`);
    return place ?? `the world of ${it} is not the one the goals leave`;
  });
}

/** The servers that the attempt leaves in another state than the goals. */
export function listOtherServers(attempt: Attempt): string[] {
  const { start, goal, final } = attempt.states;
  if (computeDigest(goal) === computeDigest(final)) return [];
  const names = getStateNames(attempt);
  const mentionedWords = listMentionedWords(attempt.task);
  return Object.keys(goal).filter(
    it =>
      formatWorld(goal[it]!, start[it]!, names.goal, mentionedWords) !==
      formatWorld(final[it]!, start[it]!, names.reached, mentionedWords),
  );
}

/**
 * Describes the first place where two frozen values differ. Generated ids are compared literally.
 * Digests are cached, so that equal parts cost nothing.
 */
function findFirstDifference(goal: Json, reached: Json, at: string): string | undefined {
  if (isJsonObject(goal) && isJsonObject(reached)) {
    if (computeDigest(goal) === computeDigest(reached)) return undefined;
    for (const key of new Set([...Object.keys(goal), ...Object.keys(reached)])) {
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
 * Finds the goal calls that must happen themselves and did not: reads that do not say what they are
 * for, and writes that are marked as required. All other writes are compared through the state. If
 * the goals' writes cancel each other out, the state proves nothing, and every write is required.
 */
function findMissingCalls(attempt: Attempt): string[] {
  const { tools, states } = attempt;
  const hasNoEffect = Object.entries(states.goal).every(
    ([server, { world }]) => computeDigest(world) === computeDigest(states.start[server]!.world),
  );
  return listUnmadeCalls(attempt).flatMap(({ goalCall, isFirst }) => {
    const { name, arguments: args, required } = goalCall;
    const isRequired =
      goalCall.for === undefined &&
      (required === true || hasNoEffect || tools.get(name)?.effect === "read");
    return isRequired ? [`no ${name} ${shortenJson(args)}${isFirst ? "" : " in its place"}`] : [];
  });
}
