/**
 * Decides whether an attempt succeeded: it must end by itself, in the goals' state, show and tell
 * in time whatever the user asked for, and keep the rules of the task's policy. Look-ups that do
 * not say what they are for must be made as they are. Success is reported beside the reward; the
 * paper's reward does not contain it.
 */
import { computeDigest } from "../environment/digest.ts";
import { type Json, isJsonObject } from "../environment/json.ts";
import type { Call } from "../environment/outcome.ts";
import type { State } from "../environment/state.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import { describeBrokenRule, findBrokenRules } from "../trajectory/taskRules.ts";
import { countDueCalls, listOwnCalls } from "../trajectory/oneTurn.ts";
import { formatCall } from "../trajectory/transcript.ts";
import { getEnd, listCalls, type CallEvent } from "../trajectory/trajectory.ts";
import { shorten, EntityNames } from "./entityNames.ts";
import {
  getStateNames,
  listMentionedWords,
  formatWorld,
  listMinutes,
  noNames,
  replaceTexts,
  type TextNames,
  isUnchanged,
} from "./stateText.ts";
import { findLateWrites, findOtherWrites, isAcceptedWrite } from "./effects.ts";
import { resolveGoals } from "./resolveGoals.ts";
import { hasToldAll, listUntold } from "./told.ts";
import { findDifference, formatPointer, type WorldDifference } from "./worldDifference.ts";
import { findDueTurn, judgesAnswers, type GoalCall } from "../trajectory/task.ts";
import { areEqual, getPropertySchema } from "../trajectory/valueMatching.ts";
import { isSameText } from "./freeText.ts";

export interface Success {
  readonly achieved: boolean;
  /** Whether the attempt ends in the same state as the goals. */
  readonly isGoalState: boolean;
  /** Whether everything that the user asked for was shown. */
  readonly hasAllReads: boolean;
  /** Whether no call broke a rule of the task's policy. */
  readonly hasKeptRules: boolean;
  /** Whether what the user asked for was told, and nothing false. */
  readonly hasToldAll: boolean;
  /** Why the attempt failed, one line per reason. */
  readonly reasons: readonly string[];
  /** Where the final state differs from the one that the goals lead to, one per server. */
  readonly differences: readonly StateDifference[];
}

/** A difference between the final state and the goals' state, for programs. */
interface StateDifference {
  /** A JSON pointer into the session's state. */
  readonly pointer: string;
  /** Absent if nothing is there. */
  readonly found?: Json;
  /** Absent if nothing should be there. */
  readonly wanted?: Json;
}

const successes = new WeakMap<Attempt, Success>();
const achievements = new WeakMap<Attempt, boolean>();

/** Whether success asks what was told; a profile says so. */
interface Judging {
  readonly ignoresAnswers: boolean;
}

/**
 * The success of an attempt, most of which is computed once. On a task without goals, success is to
 * write nothing; in earlier formats, to make no call.
 */
export function getSuccess(attempt: Attempt, judging?: Judging): Success {
  let success = successes.get(attempt);
  if (!success) successes.set(attempt, (success = computeSuccess(attempt)));
  const untold = judging?.ignoresAnswers ? [] : listUntold(attempt);
  if (untold.length === 0) return success;
  const reasons = success.achieved
    ? [`only what was said is wrong: ${untold[0]}`, ...untold.slice(1)]
    : [...success.reasons, ...untold];
  return { ...success, achieved: false, hasToldAll: false, reasons };
}

/**
 * Whether an attempt succeeded, which is computed once. This costs much less than `getSuccess`,
 * which says why not.
 */
export function isAchieved(attempt: Attempt, judging?: Judging): boolean {
  let achieved = successes.get(attempt)?.achieved ?? achievements.get(attempt);
  if (achieved === undefined) achievements.set(attempt, (achieved = computeAchievement(attempt)));
  return achieved && (judging?.ignoresAnswers === true || hasToldAll(attempt));
}

function computeAchievement(attempt: Attempt): boolean {
  const { task, trajectory } = attempt;
  if (getEnd(trajectory).by !== "policy" || !hasKeptRules(attempt)) return false;
  if (task.goals.length === 0) return listUnwantedCalls(attempt).length === 0;
  return (
    !changesOtherParts(attempt.states) &&
    resolveGoals(attempt).missing.length === 0 &&
    findMissingCalls(attempt).length === 0 &&
    listOtherServers(attempt).length === 0 &&
    listWriteProblems(attempt).length === 0
  );
}

/** Whether no call of an attempt broke a rule of the task's policy. */
export const hasKeptRules = ({ task, trajectory, tools }: Attempt): boolean =>
  findBrokenRules(task, trajectory.events, tools).length === 0;

function computeSuccess(attempt: Attempt): Success {
  const { task, trajectory, tools } = attempt;
  const cuts = getEnd(trajectory).by === "policy" ? [] : ["it was cut off before it ended"];
  const broken = findBrokenRules(task, trajectory.events, tools).map(describeBrokenRule);
  const rules = { hasKeptRules: broken.length === 0 };
  if (task.goals.length === 0) {
    const { length } = listUnwantedCalls(attempt);
    const noun = judgesAnswers(task) ? "writes" : "calls";
    const unwanted = length === 0 ? [] : [`${length} ${noun} where none was wanted`];
    const reasons = [...unwanted, ...broken, ...cuts];
    const achieved = reasons.length === 0;
    const whole = { isGoalState: true, hasAllReads: true, hasToldAll: true };
    return { achieved, ...whole, ...rules, reasons, differences: [] };
  }
  const differences = listDifferences(attempt);
  const missingReads = [...findMissingCalls(attempt), ...resolveGoals(attempt).missing];
  const reasons = [
    ...broken,
    ...differences.map(it => it.text),
    ...missingReads,
    // of another final state, the differences say more
    ...(differences.length === 0 ? listWriteProblems(attempt) : []),
    ...cuts,
  ];
  return {
    achieved: reasons.length === 0,
    isGoalState: differences.length === 0,
    hasAllReads: missingReads.length === 0,
    hasToldAll: true,
    ...rules,
    reasons,
    differences: differences.flatMap(it => it.difference ?? []),
  };
}

/** The calls that are wrong where there are no goals: writes, and in earlier formats all calls. */
function listUnwantedCalls({ task, trajectory, tools }: Attempt): CallEvent[] {
  const calls = listOwnCalls(trajectory);
  return judgesAnswers(task) ? calls.filter(it => isAcceptedWrite(it, tools)) : [...calls];
}

/** Describes the goals' writes that came too late, and the writes that change something else. */
function listWriteProblems(attempt: Attempt): string[] {
  if (!judgesAnswers(attempt.task)) return [];
  const { task, trajectory } = attempt;
  const calls = listCalls(trajectory);
  const describe = ({ name, arguments: args }: Call) => shorten(formatCall(name, args), 160);
  return [
    ...findLateWrites(attempt).map(({ goal, part }) => {
      const { turn, calls: goalCalls } = task.goals[goal]!;
      return `what ${describe(goalCalls[part]!)} does was not done by the end of turn ${findDueTurn(task, turn) + 1}`;
    }),
    ...findOtherWrites(attempt).map(
      it => `call ${it + 1}, ${describe(calls[it]!)}, changed what no goal changes`,
    ),
  ];
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
  return listUnmadeCalls(attempt).flatMap(({ goalCall, isFirst, isLate }) => {
    const { name, arguments: args, required } = goalCall;
    const isRequired =
      goalCall.for === undefined &&
      (required === true || hasNoEffect || tools.get(name)?.effect === "read");
    if (!isRequired) return [];
    const call = shorten(formatCall(name, args), 160);
    return [
      isLate
        ? `${call} was called too late`
        : `${call} was not called${isFirst ? "" : " after what has to come before it"}`,
    ];
  });
}

// Goal calls that an attempt did not make itself.

/** A goal call without an `ok` call of its own. */
interface UnmadeCall {
  readonly goalCall: GoalCall;
  /** The index of its goal in the task. */
  readonly goal: number;
  /** Whether no goal has to come before it. */
  readonly isFirst: boolean;
  /** Whether it was called after the turn in which it is due. */
  readonly isLate: boolean;
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
    const end = judgesAnswers(task)
      ? countDueCalls(task, trajectory.events, goal.turn)
      : calls.length;
    const positions = goal.calls.map(goalCall => {
      const at = calls.findIndex(
        (it, i) =>
          i > from &&
          !usedCalls.has(i) &&
          it.outcome.kind === "ok" &&
          isGoalCall(goalCall, it, attempt),
      );
      const isLate = at >= end;
      if (at < 0 || isLate) {
        unmade.push({ goalCall, goal: g, isFirst: from < 0, isLate });
        return -1;
      }
      usedCalls.add(at);
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

// A cheap sign of another final state: the parts that were changed, whatever they were changed to,
// so that generated ids need no names.

/**
 * Whether the attempt changes a part of a world that the goals leave as it was, or the other way
 * round. If it does not, the states may differ all the same.
 */
const changesOtherParts = ({ start, goal, final }: Attempt["states"]): boolean =>
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

// The difference between the final state and that of the goals, in words.

/** Describes a difference, such as "account acc_677 (Savings): balance is 600, should be 640". */
function describeDifference(
  server: string,
  { path, found, wanted, isNew }: WorldDifference,
  attempt: Attempt,
): string {
  const names = new EntityNames(attempt);
  const { subject, field } = names.describePlace(server, path, found ?? wanted ?? null);
  const place = field === undefined ? subject : `${subject || server}: ${field}`;
  const call = findChange(formatPointer(server, path), attempt);
  const changed = call === undefined ? "no call changed it" : `changed by call ${call + 1}`;
  if (isNew) {
    const record = names.formatRecord(wanted!);
    return path.length === 1
      ? `${addArticle(names.findKind(server, path[0]!))} is missing: ${record}`
      : `${place} lacks ${record} (${changed})`;
  }
  if (found === undefined)
    return field === undefined
      ? `${place} is missing (${call === undefined ? "no call added it" : `removed by call ${call + 1}`})`
      : `${place} is missing, should be ${names.formatValue(wanted!)} (${changed})`;
  if (wanted === undefined)
    return field === undefined
      ? `${place} should not be there (${call === undefined ? "no call removed it" : `added by call ${call + 1}`})`
      : `${place} is ${names.formatValue(found)}, should not be there (${changed})`;
  return `${place} is ${names.formatValue(found)}, should be ${names.formatValue(wanted)} (${changed})`;
}

/** The call that changed a part of the state last. */
function findChange(pointer: string, attempt: Attempt): number | undefined {
  const call = attempt
    .listSteps()
    .findLastIndex(({ patches }) => patches.some(it => areNested(it.path, pointer)));
  return call < 0 ? undefined : call;
}

const areNested = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

const addArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
