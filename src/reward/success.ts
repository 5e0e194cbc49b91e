/**
 * Decides whether an attempt succeeded: it must end by itself, in the goals' state, show in time
 * whatever the user asked for, and keep the rules of the task's policy. Look-ups that do not say
 * what they are for must be made as they are. Success is reported beside the reward; the paper's
 * reward does not contain it.
 */
import { computeDigest } from "../environment/digest.ts";
import type { Json } from "../environment/json.ts";
import type { State } from "../environment/state.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import { describeBrokenRule, findBrokenRules } from "../trajectory/taskRules.ts";
import { listOwnCalls } from "../trajectory/oneTurn.ts";
import { formatCall } from "../trajectory/transcript.ts";
import { getEnd } from "../trajectory/trajectory.ts";
import { shorten } from "./entityNames.ts";
import { getStateNames, listMentionedWords } from "./stateNames.ts";
import { resolveGoals } from "./resolveGoals.ts";
import { changesOtherParts } from "./changedParts.ts";
import { formatWorld, listMinutes } from "./stateText.ts";
import { listUnmadeCalls } from "./unmadeCalls.ts";
import { describeDifference } from "./differenceText.ts";
import { findDifference, formatPointer } from "./worldDifference.ts";

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
  /** Where the final state differs from the one that the goals lead to, one per server. */
  readonly differences: readonly StateDifference[];
}

/** A difference between the final state and the goals' state, for programs. */
export interface StateDifference {
  /** A JSON pointer into the session's state. */
  readonly pointer: string;
  /** Absent if nothing is there. */
  readonly found?: Json;
  /** Absent if nothing should be there. */
  readonly wanted?: Json;
}

const successes = new WeakMap<Attempt, Success>();
const achievements = new WeakMap<Attempt, boolean>();

/**
 * The success of an attempt, which is computed once. On a task without goals, success is to make no
 * call.
 */
export function getSuccess(attempt: Attempt): Success {
  let success = successes.get(attempt);
  if (!success) successes.set(attempt, (success = computeSuccess(attempt)));
  return success;
}

/**
 * Whether an attempt succeeded, which is computed once. This costs much less than `getSuccess`,
 * which says why not.
 */
export function isAchieved(attempt: Attempt): boolean {
  let achieved = successes.get(attempt)?.achieved ?? achievements.get(attempt);
  if (achieved === undefined) achievements.set(attempt, (achieved = computeAchievement(attempt)));
  return achieved;
}

function computeAchievement(attempt: Attempt): boolean {
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
export const hasKeptRules = ({ task, trajectory, tools }: Attempt): boolean =>
  findBrokenRules(task, trajectory.events, tools).length === 0;

function computeSuccess(attempt: Attempt): Success {
  const { task, trajectory, tools } = attempt;
  const calls = listOwnCalls(trajectory);
  const cuts = getEnd(trajectory).by === "policy" ? [] : ["it was cut off before it ended"];
  const broken = findBrokenRules(task, trajectory.events, tools).map(describeBrokenRule);
  const rules = { hasKeptRules: broken.length === 0 };
  if (task.goals.length === 0) {
    const unwanted = calls.length === 0 ? [] : [`${calls.length} calls where none was wanted`];
    const reasons = [...unwanted, ...broken, ...cuts];
    const achieved = reasons.length === 0;
    return { achieved, isGoalState: true, hasAllReads: true, ...rules, reasons, differences: [] };
  }
  const differences = listDifferences(attempt);
  const missingReads = [...findMissingCalls(attempt), ...resolveGoals(attempt).missing];
  const reasons = [...broken, ...differences.map(it => it.text), ...missingReads, ...cuts];
  return {
    achieved: reasons.length === 0,
    isGoalState: differences.length === 0,
    hasAllReads: missingReads.length === 0,
    ...rules,
    reasons,
    differences: differences.flatMap(it => it.difference ?? []),
  };
}

/** Whether all goal calls of a task are reads. */
export const isReadOnly = ({ task, tools }: Attempt): boolean =>
  task.goals.length > 0 &&
  task.goals.every(goal => goal.calls.every(it => tools.get(it.name)?.effect === "read"));

function listDifferences(
  attempt: Attempt,
): { readonly text: string; readonly difference?: StateDifference }[] {
  const { start, goal, final } = attempt.states;
  const names = getStateNames(attempt);
  const mentionedWords = listMentionedWords(attempt.task);
  const listTimes = (state: State, server: string) =>
    listMinutes(start[server]!.clock, state[server]!.clock, mentionedWords);
  return listOtherServers(attempt).map(it => {
    const found = findDifference(
      { world: goal[it]!.world, names: names.goal, times: listTimes(goal, it) },
      { world: final[it]!.world, names: names.reached, times: listTimes(final, it) },
    );
    if (!found) return { text: `the state of ${it} is not the one that the goals lead to` };
    const { path, isNew: _, ...values } = found;
    return {
      text: describeDifference(it, found, attempt),
      difference: { pointer: formatPointer(it, path), ...values },
    };
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
    if (!isRequired) return [];
    const call = shorten(formatCall(name, args), 160);
    return [`${call} was not called${isFirst ? "" : " after what has to come before it"}`];
  });
}
