/**
 * Aligns the calls of an attempt with the goal calls, by name, arguments and order. The parts of
 * the reward all use the same alignment. It needs no server, so names may be opaque.
 */
import { isJsonObject, type Json } from "../environment/json.ts";
import type { Call, OutcomeKind } from "../environment/outcome.ts";
import type { JsonSchema } from "../environment/server.ts";
import type { Goal, GoalCall } from "../trajectory/task.ts";
import type { ArgumentEvidence } from "./breakdown.ts";
import { isSameText, replaceInnerTexts } from "./freeText.ts";
import { areEqual, getPropertySchema } from "../trajectory/valueMatching.ts";

/** A call that can be scored, which excludes one with the outcome `broken`. */
export interface ScoredCall extends Call {
  readonly outcome: {
    readonly kind: Exclude<OutcomeKind, "broken">;
    /** Why the call is not `ok`, if known. */
    readonly message?: string;
  };
  /** The index of its message; absent if the call has a message of its own. */
  readonly message?: number | undefined;
}

/** The part of a goal call that scoring needs. */
export interface ScoredGoalCall extends Pick<
  GoalCall,
  "name" | "arguments" | "mask" | "loose" | "words"
> {
  /** The position of the call that serves it, if that is known already. */
  readonly at?: number;
  /** The position from which on calls come after the turn that asked for it. */
  readonly end?: number;
  /** Finds the call that did what it asks for, if another one than it names did. */
  readonly findMaker?: () => number | undefined;
  /** A look-up that was made, although what it shows was known or not needed. */
  readonly isSpare?: true;
}

/** The part of a goal that scoring needs. Goals are in topological order: `after` points back. */
export interface ScoredGoal extends Pick<Goal, "after"> {
  readonly calls: readonly ScoredGoalCall[];
}

interface AlignmentOptions {
  readonly strictMessageOrder: boolean;
  readonly coverageRequiresSuccess: boolean;
  /** Whether a call that comes after the turn that asked for it serves no goal. */
  readonly answersInTime: boolean;
  /** Whether a call serves what it did, also if it has another name or serves another goal. */
  readonly judgesConduct: boolean;
  /**
   * The first call of each look-up that repeats one. All of them together serve one goal call, and
   * others only if they equal them.
   */
  readonly repeated?: ReadonlyMap<number, number>;
  /** How many of the first calls serve no goal, unless it is known that they do. */
  readonly given?: number;
  /** The argument schema of a tool, if known. Arrays of unique items are compared as sets. */
  readonly schemaOf?: (tool: string) => JsonSchema | undefined;
}

/** A call of the attempt aligned with a call of a goal. */
export interface AlignedPair {
  readonly goal: number;
  /** Index within the goal. */
  readonly part: number;
  /** Position in the transcript, from 0. */
  readonly call: number;
  readonly arguments: readonly ArgumentEvidence[];
}

export interface Alignment {
  readonly pairs: readonly AlignedPair[];
  /** For each goal, the positions of the calls that serve its calls; null for none. */
  readonly positions: readonly (readonly (number | null)[])[];
  /** For each goal, the predecessors that do not come before it or are not matched. */
  readonly broken: readonly (readonly number[])[];
}

/**
 * Assigns at most one call to each goal call, and each call at most once. Goals are visited in
 * their order. A candidate has the goal call's name and all of its keys; among free candidates,
 * those in order are preferred, then those with more equal values, then earlier ones.
 */
export function alignCalls(
  goals: readonly ScoredGoal[],
  calls: readonly ScoredCall[],
  options: AlignmentOptions,
): Alignment {
  const byName = groupPositionsByName(calls, options);
  const usedCalls = new Set(goals.flatMap(it => it.calls.flatMap(call => call.at ?? [])));
  const getFirst = (call: number) => options.repeated?.get(call) ?? call;
  const usedFirsts = new Set([...usedCalls].map(getFirst));
  const pairs: AlignedPair[] = [];
  const positions: (number | null)[][] = [];
  const madeOtherwise = new Set<number>();
  for (const [g, { calls: goalCalls, after }] of goals.entries()) {
    const earliest = Math.max(-1, ...after.map(it => getBound(positions[it.goal]!)));
    const messages = options.strictMessageOrder
      ? after
          .filter(it => it.kind === "explicit")
          .map(it => getLastMessage(positions[it.goal]!, calls))
      : [];
    const isInOrder = (call: number) =>
      call > earliest && messages.every(it => getMessage(calls, call) > it);
    positions[g] = goalCalls.map((goalCall, part) => {
      const { at } = goalCall;
      // a prefix of the attempt ends before that call
      if (at !== undefined && at >= calls.length) return null;
      if (at !== undefined) {
        const evidence = compareArguments(goalCall, calls[at]!.arguments);
        pairs.push({ goal: g, part, call: at, arguments: evidence });
        return at;
      }
      const end = (options.answersInTime ? goalCall.end : undefined) ?? Infinity;
      const best = chooseCandidate(byName.get(goalCall.name) ?? [], {
        isFree: it =>
          it < end &&
          !usedCalls.has(it) &&
          hasKeys(calls[it]!.arguments, goalCall.arguments) &&
          (!usedFirsts.has(getFirst(it)) || isWhole(goalCall, calls[it]!.arguments)),
        isInOrder,
        compare: it =>
          compareArguments(goalCall, calls[it]!.arguments, options.schemaOf?.(goalCall.name)),
      });
      const maker = best || !options.judgesConduct ? undefined : goalCall.findMaker?.();
      if (maker !== undefined && maker < calls.length && servesWholly(pairs, maker)) {
        madeOtherwise.add(g);
        pairs.push({ goal: g, part, call: maker, arguments: [] });
        return maker;
      }
      if (!best) return null;
      usedCalls.add(best.call);
      usedFirsts.add(getFirst(best.call));
      pairs.push({ goal: g, part, call: best.call, arguments: best.evidence });
      return best.call;
    });
  }
  return {
    pairs,
    positions,
    // what the state shows was not done too early
    broken: goals.map((_, g) =>
      madeOtherwise.has(g) ? [] : findBrokenEdges(goals, positions, calls, g, options),
    ),
  };
}

/** Whether a call has all arguments of the goal calls that it serves, if it serves any. */
const servesWholly = (pairs: readonly AlignedPair[], call: number): boolean =>
  pairs.every(it => it.call !== call || computeEqualShare(it.arguments) === 1);

/** Whether a call has the arguments of a goal call and no others. */
const isWhole = (goalCall: ScoredGoalCall, args: Json): boolean =>
  isJsonObject(args) &&
  Object.keys(args).length === Object.keys(goalCall.arguments).length &&
  computeEqualShare(compareArguments(goalCall, args)) === 1;

/**
 * μ of equation (1): the last position that serves a goal; undefined if one of its calls is
 * missing.
 */
export function getPosition(callPositions: readonly (number | null)[]): number | undefined {
  return callPositions.includes(null)
    ? undefined
    : Math.max(...(callPositions as readonly number[]));
}

interface Candidate {
  readonly call: number;
  readonly isInOrder: boolean;
  readonly share: number;
  readonly evidence: readonly ArgumentEvidence[];
}

interface CandidateChecks {
  readonly isFree: (call: number) => boolean;
  readonly isInOrder: (call: number) => boolean;
  readonly compare: (call: number) => readonly ArgumentEvidence[];
}

/** Checks only what can still decide, because long attempts have many calls of one name. */
function chooseCandidate(calls: readonly number[], checks: CandidateChecks): Candidate | undefined {
  let best: Candidate | undefined;
  for (const call of calls) {
    if (!checks.isFree(call)) continue;
    const isInOrder = checks.isInOrder(call);
    if (best?.isInOrder && !isInOrder) continue;
    const evidence = checks.compare(call);
    const share = computeEqualShare(evidence);
    if (!best || (best.isInOrder === isInOrder ? share > best.share : isInOrder))
      best = { call, isInOrder, share, evidence };
    if (best.isInOrder && best.share === 1) return best;
  }
  return best;
}

function findBrokenEdges(
  goals: readonly ScoredGoal[],
  positions: readonly (readonly (number | null)[])[],
  calls: readonly ScoredCall[],
  g: number,
  options: AlignmentOptions,
): readonly number[] {
  const position = getPosition(positions[g]!);
  if (position === undefined) return [];
  return goals[g]!.after.filter(({ goal: j, kind }) => {
    if (getBound(positions[j]!) >= position) return true;
    return (
      options.strictMessageOrder &&
      kind === "explicit" &&
      getLastMessage(positions[j]!, calls) >= getMessage(calls, position)
    );
  }).map(it => it.goal);
}

function groupPositionsByName(
  calls: readonly ScoredCall[],
  options: AlignmentOptions,
): ReadonlyMap<string, readonly number[]> {
  const byName = new Map<string, number[]>();
  for (const [position, call] of calls.entries()) {
    if (position < (options.given ?? 0) || !canServe(call, options)) continue;
    const positions = byName.get(call.name);
    if (positions) positions.push(position);
    else byName.set(call.name, [position]);
  }
  return byName;
}

const canServe = (call: ScoredCall, { coverageRequiresSuccess }: AlignmentOptions) =>
  call.name !== "" && (!coverageRequiresSuccess || call.outcome.kind === "ok");

const hasKeys = (args: Json, goalArguments: object) =>
  isJsonObject(args) && Object.keys(goalArguments).every(it => Object.hasOwn(args, it));

/** The position after which a successor is in order; infinite for a goal that is not matched. */
const getBound = (callPositions: readonly (number | null)[]) =>
  getPosition(callPositions) ?? Infinity;

const getMessage = (calls: readonly ScoredCall[], call: number) => calls[call]!.message ?? call;

const getLastMessage = (callPositions: readonly (number | null)[], calls: readonly ScoredCall[]) =>
  callPositions.includes(null)
    ? Infinity
    : Math.max(...callPositions.map(it => getMessage(calls, it!)));

/**
 * Compares each argument of a goal call with that of a call. Masked arguments are free text and do
 * not count.
 */
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
        (areEqual(
          goalValue,
          replaceInnerTexts(goal, key, callArguments[key]!),
          getPropertySchema(schema, key),
        ) ||
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
