/**
 * Resolves the goals of a task against an attempt: replaces each look-up by the calls with which
 * the attempt learned the same, and leaves out look-ups that it did not need. The equations then
 * run on the resolved goals, and notes say in words what met a goal or what it lacks. Goals that do
 * not say what their calls are for stay as they are.
 */
import type { Attempt } from "../trajectory/attempt.ts";
import {
  judgesAnswers,
  type Fact,
  type Goal,
  type GoalCall,
  type Task,
} from "../trajectory/task.ts";
import type { ScoredGoal, ScoredGoalCall } from "./align.ts";
import { AttemptCalls, containsValue } from "./attemptCalls.ts";
import { findMaker } from "./effects.ts";
import { listIdAliases } from "./stateText.ts";
import { type WantedTexts, showsFact, showsValue } from "../trajectory/resultIndex.ts";
import { containsToken } from "../trajectory/valueMatching.ts";
import { formatCall } from "../trajectory/transcript.ts";
import { describeField, shorten } from "./entityNames.ts";

export interface Resolution {
  /** The goals to score, without those that were not needed. */
  readonly goals: readonly ScoredGoal[];
  /** For each of `goals`, its index in the task. */
  readonly indices: readonly number[];
  /** For each goal of the task, what met its look-ups or what they lack. */
  readonly notes: readonly (readonly string[])[];
  /** What the user asked for and the attempt did not show, one sentence each. */
  readonly missing: readonly string[];
}

const resolutions = new WeakMap<Attempt, Resolution>();

/** The resolution of an attempt, which is computed once. */
export function resolveGoals(attempt: Attempt): Resolution {
  let resolution = resolutions.get(attempt);
  if (!resolution) resolutions.set(attempt, (resolution = resolve(attempt)));
  return resolution;
}

/** Whether a goal call is more than itself. */
const isOpen = (it: GoalCall): boolean => it.for !== undefined || it.alternatives !== undefined;

function resolve(attempt: Attempt): Resolution {
  const { goals } = attempt.task;
  const isPlain = !judgesAnswers(attempt.task) && !goals.some(it => it.calls.some(isOpen));
  if (isPlain) return keepGoals(goals);
  const resolution = resolveWith(attempt, new Map());
  if (resolution.missing.length === 0) return resolution;
  // what is missing may have an id that the session generated differently
  const aliases = listIdAliases(attempt);
  return aliases.size === 0 ? resolution : resolveWith(attempt, aliases);
}

/** The goals as they are. */
export const keepGoals = (goals: Task["goals"]): Resolution => ({
  goals,
  indices: goals.map((_, g) => g),
  notes: goals.map(() => []),
  missing: [],
});

/**
 * The goals of one turn, or all if there is no turn. The goals of the turns before it, which are
 * met, need not come before them.
 */
export function selectTurnGoals(
  { goals, indices, notes, missing }: Resolution,
  task: Task,
  turn: number | undefined,
): Resolution {
  if (turn === undefined) return { goals, indices, notes, missing };
  const isOwn = (goal: number) => task.goals[goal]!.turn === turn;
  const kept = indices.flatMap((goal, i) => (isOwn(goal) ? [i] : []));
  // none of them was needed: without goals, the rule for turns without goals would apply
  if (kept.length === 0 && task.goals.some(it => it.turn === turn))
    return selectTurnGoals(keepGoals(task.goals), task, turn);
  return {
    goals: kept.map(i => ({
      calls: goals[i]!.calls,
      after: goals[i]!.after.filter(it => kept.includes(it.goal)).map(it => ({
        ...it,
        goal: kept.indexOf(it.goal),
      })),
    })),
    indices: kept.map(i => indices[i]!),
    notes: notes.map((own, goal) => (isOwn(goal) ? own : [])),
    missing,
  };
}

/** A goal call as it was resolved. */
interface ResolvedCall {
  readonly original: GoalCall;
  /** What is scored in its place; nothing if it was not needed. */
  readonly calls: readonly ScoredGoalCall[];
  readonly note?: string;
  readonly missing?: readonly Fact[];
  /** Whether it was made although its values were known or not needed. */
  readonly isSpare?: boolean;
}

function resolveWith(attempt: Attempt, aliases: WantedTexts["aliases"]): Resolution {
  const { goals } = attempt.task;
  const resolver = new GoalResolver(attempt.task, new AttemptCalls(attempt, aliases), (g, c) =>
    findMaker(attempt, g, c),
  );
  const resolved = resolver.resolve();
  const kept = goals.flatMap((_, g) => (resolved[g]!.some(it => it.calls.length > 0) ? [g] : []));
  // writes showed everything: without goals, the rule for tasks without goals would apply
  if (kept.length === 0) return keepGoals(goals);
  return {
    goals: kept.map(g => ({
      calls: listScoredCalls(resolved[g]!),
      after: goals[g]!.after.filter(
        it => kept.includes(it.goal) && resolver.keepsEdge(g, it.goal),
      ).map(it => ({ ...it, goal: kept.indexOf(it.goal) })),
    })),
    indices: kept,
    notes: resolved.map(calls => calls.flatMap(it => it.note ?? [])),
    missing: goals.flatMap((goal, g) =>
      resolved[g]!.flatMap(it =>
        (it.missing ?? []).map(fact =>
          describeMissingFact(fact, { goalCall: it.original, turn: goal.turn }, resolver.attempt),
        ),
      ),
    ),
  };
}

/** The calls of a goal, without spare ones that came after those that it needed. */
function listScoredCalls(resolved: readonly ResolvedCall[]): ScoredGoalCall[] {
  const needed = resolved.filter(it => !it.isSpare).flatMap(it => it.calls);
  const end = needed.length === 0 ? Infinity : Math.max(...needed.map(it => it.at ?? Infinity));
  return resolved.flatMap(it =>
    it.isSpare
      ? it.calls.filter(call => call.at! < end).map(call => ({ ...call, isSpare: true as const }))
      : it.calls,
  );
}

class GoalResolver {
  readonly attempt: AttemptCalls;
  readonly #goals: readonly Goal[];
  /** Whether calls that do not answer are due, too. */
  readonly #hasDueCalls: boolean;
  readonly #findMaker: (goal: number, part: number) => number | undefined;
  /** The positions of calls that serve a goal. */
  readonly #used = new Set<number>();
  readonly #resolved: ResolvedCall[][];

  constructor(
    task: Task,
    attempt: AttemptCalls,
    findMaker: (goal: number, part: number) => number | undefined,
  ) {
    const { goals } = task;
    this.#goals = goals;
    this.#hasDueCalls = judgesAnswers(task);
    this.attempt = attempt;
    this.#findMaker = findMaker;
    this.#resolved = goals.map(() => []);
  }

  /** The resolved calls of each goal. Answers come first: what they show need not be looked up. */
  resolve(): readonly (readonly ResolvedCall[])[] {
    for (const [g, { calls, turn }] of this.#goals.entries())
      for (const [c, goalCall] of calls.entries())
        if (goalCall.for !== "feeds")
          this.#resolved[g]![c] =
            goalCall.for === "answers"
              ? this.#resolveAnswer(goalCall, turn)
              : { original: goalCall, calls: [this.#chooseDueCall(goalCall, g, c)] };
    // from the last one on, because a look-up may only feed another look-up
    for (let g = this.#goals.length - 1; g >= 0; g--)
      for (const [c, goalCall] of this.#goals[g]!.calls.entries())
        if (goalCall.for === "feeds") this.#resolved[g]![c] = this.#resolveFeed(goalCall, g);
    return this.#resolved;
  }

  /**
   * Whether a goal must still come after another. What was shown in time was not shown too early,
   * so that only look-ups whose values it takes must come before it.
   */
  keepsEdge(g: number, before: number): boolean {
    const own = this.#resolved[g]!;
    if (this.#resolved[before]!.every(it => it.isSpare)) return false;
    const isMet = own.every(it => it.calls.every(call => call.at !== undefined));
    const values = this.#goals[before]!.calls.flatMap(it => it.values ?? []);
    return !isMet || values.some(value => own.some(it => this.#takesValue(it, String(value))));
  }

  #chooseDueCall(goalCall: GoalCall, g: number, c: number): ScoredGoalCall {
    const call = this.#chooseAlternative(goalCall);
    if (!this.#hasDueCalls) return call;
    const end = this.attempt.findEnd(this.#goals[g]!.turn);
    return { ...call, end, findMaker: () => this.#findMaker(g, c) };
  }

  #resolveAnswer(goalCall: GoalCall, turn: number): ResolvedCall {
    const { attempt } = this;
    const asked = { goalCall, turn };
    const { calls, missing } = chooseAnswer(asked, attempt, this.#used);
    if (missing.length > 0)
      return {
        original: goalCall,
        calls: [{ ...this.#chooseAlternative(goalCall), end: attempt.findEnd(turn) }],
        note: missing.map(it => describeMissingFact(it, asked, attempt)).join("; "),
        missing,
      };
    const free = calls.filter(it => !this.#used.has(it) && !attempt.isWrite(it));
    return {
      original: goalCall,
      calls: this.#bind(free),
      note: describeAnswer(calls, free.length > 0),
    };
  }

  #resolveFeed(goalCall: GoalCall, g: number): ResolvedCall {
    const takers = this.#resolved.filter((_, other) =>
      this.#goals[other]!.after.some(it => it.goal === g && it.kind === "explicit"),
    );
    const isNeeded = (value: string) =>
      takers.some(calls => calls.some(it => this.#takesValue(it, value)));
    const resolution = resolveFeed(goalCall, this.attempt, this.#used, isNeeded);
    const note = describeFeed(resolution);
    const original = goalCall;
    if (resolution.kind === "shown")
      return { original, note, calls: this.#bind(resolution.calls, true) };
    if (resolution.kind === "known")
      return {
        original,
        note,
        calls: this.#bind(this.#findSpare(resolution.call), true),
        isSpare: true,
      };
    return { original, note, calls: [{ name: goalCall.name, arguments: {} }] };
  }

  /** The call, unless a goal that is not met yet may still be aligned with it. */
  #findSpare(call: number | undefined): readonly number[] {
    if (call === undefined) return [];
    const { name } = this.attempt.calls[call]!;
    const isWanted = this.#resolved.some(calls =>
      calls.some(own => own.calls.some(it => it.at === undefined && it.name === name)),
    );
    return isWanted ? [] : [call];
  }

  /** Whether what is scored in place of a goal call takes a value. */
  #takesValue({ original, calls }: ResolvedCall, value: string): boolean {
    return calls.some(it =>
      it.at === undefined
        ? containsValue(original.arguments, value) || containsValue(it.arguments, value)
        : this.attempt.usesValue(it.at, value),
    );
  }

  /** The calls at these positions as goal calls, which they match with or without arguments. */
  #bind(positions: readonly number[], isBare = false): ScoredGoalCall[] {
    return positions.map(at => {
      this.#used.add(at);
      const { name, arguments: args } = this.attempt.calls[at]!;
      return { name, arguments: isBare ? {} : args, at };
    });
  }

  /** The goal call or the alternative of it that a call matches best. */
  #chooseAlternative(goalCall: GoalCall): ScoredGoalCall {
    const { alternatives } = goalCall;
    if (!alternatives) return goalCall;
    let best: { call: ScoredGoalCall; share: number } = { call: goalCall, share: -1 };
    for (const call of [goalCall, ...alternatives]) {
      const keys = Object.keys(call.arguments);
      const shares = this.attempt.calls.map((it, i) =>
        it.name !== call.name || !keys.every(key => Object.hasOwn(it.arguments, key))
          ? -1
          : keys.filter(key => this.attempt.hasEqual(i, call.arguments, [key])).length /
            Math.max(1, keys.length),
      );
      const share = Math.max(-1, ...shares);
      if (share > best.share) best = { call, share };
    }
    return best.call;
  }
}

// Goal calls that answer the user.

/** A goal call, and the turn in which it is asked for. */
interface AskedCall {
  readonly goalCall: GoalCall;
  readonly turn: number;
}

/** Stands for a goal call without facts: the call itself is needed. */
const wholeCall: Fact = {};

/**
 * Chooses the calls that show the facts of a goal call. Calls in `used`, which serve other goals,
 * come last.
 */
function chooseAnswer(
  asked: AskedCall,
  attempt: AttemptCalls,
  used: ReadonlySet<number>,
): CallChoice<Fact> {
  const { goalCall, turn } = asked;
  const { facts = [], alternatives = [] } = goalCall;
  const end = attempt.findEnd(turn);
  const needs = (facts.length > 0 ? facts : [wholeCall]).map((needed): Need<Fact> => ({
    needed,
    isShownBy: call => call < end && shows(attempt, call, needed, asked),
  }));
  // later calls first: an earlier one of the same kind may serve an earlier goal
  return chooseCalls(needs, attempt.listSuccesses().toReversed(), call => {
    const cost = used.has(call) || attempt.isWrite(call) ? 3 : 0;
    if (attempt.equals(call, goalCall)) return cost;
    return cost + (alternatives.some(it => attempt.equals(call, it)) ? 1 : 2);
  });
}

/** Whether a call's result shows a fact, in time or not. */
function shows(
  attempt: AttemptCalls,
  call: number,
  fact: Fact,
  { goalCall, turn }: AskedCall,
): boolean {
  const { alternatives = [] } = goalCall;
  const { entity, field, value, loose } = fact;
  const isAlternative = () =>
    alternatives.some(it => attempt.equals(call, it)) && isFresh(attempt, call, turn);
  if (entity !== undefined) {
    const index = attempt.getIndex(call);
    if (showsFact(index, fact)) return true;
    // a default may stand for the entity that the goal's call names
    const showsRest =
      field === undefined
        ? showsFact(index, { entity })
        : showsValue(attempt.calls[call]!.result!, field, value!, loose);
    return showsRest && isAlternative();
  }
  if (isAlternative()) return true;
  if (!hasRequiredArguments(attempt, call, goalCall)) return false;
  if (field !== undefined) return showsValue(attempt.calls[call]!.result!, field, value!, loose);
  const keys = Object.keys(attempt.calls[call]!.arguments);
  return attempt.hasEqual(call, goalCall.arguments, keys) && isFresh(attempt, call, turn);
}

/** Whether a call is of the same tool and has the required arguments of a goal call. */
function hasRequiredArguments(attempt: AttemptCalls, call: number, goalCall: GoalCall): boolean {
  const { name, tool } = attempt.calls[call]!;
  const required = (tool?.inputSchema["required"] ?? []) as readonly string[];
  return name === goalCall.name && attempt.hasEqual(call, goalCall.arguments, required);
}

/** Whether nothing was written on the call's server between the call and the turn that asks. */
function isFresh({ calls }: AttemptCalls, call: number, turn: number): boolean {
  const { tool } = calls[call]!;
  return !calls.some(
    (it, i) =>
      i > call &&
      it.turn < turn &&
      it.result !== undefined &&
      it.tool?.effect === "write" &&
      it.tool.server === tool?.server,
  );
}

// Goal calls that only supply arguments of later goals.

/** How an attempt came to know the values. */
type FeedResolution =
  | { readonly kind: "shown"; readonly calls: readonly number[] }
  /**
   * The user or results for other goals gave the values, or no later goal needs them. `call` is a
   * call of the same tool that was made all the same.
   */
  | { readonly kind: "known"; readonly call?: number }
  /** Nothing showed them. */
  | { readonly kind: "missing"; readonly values: readonly string[] };

/** `isNeeded` says whether a later goal, as it was resolved, takes a value. */
function resolveFeed(
  goalCall: GoalCall,
  attempt: AttemptCalls,
  used: ReadonlySet<number>,
  isNeeded: (value: string) => boolean,
): FeedResolution {
  const values = (goalCall.values ?? []).map(String).filter(isNeeded);
  const { calls } = attempt;
  const successes = attempt.listSuccesses();
  const needs = values.flatMap((needed): Need<string>[] => {
    const end = findFirstUse(attempt, needed);
    const { userText = "" } = calls[Math.min(end, calls.length - 1)] ?? {};
    const isSaid = containsToken(userText, needed);
    return isSaid
      ? []
      : [{ needed, isShownBy: call => call < end && attempt.getIndex(call).texts.has(needed) }];
  });
  const isFree = (call: number) => !used.has(call) && !attempt.isWrite(call);
  // later calls first: goals are resolved from the last one on
  const exact = successes.findLast(
    call => isFree(call) && attempt.equals(call, goalCall) && needs.every(it => it.isShownBy(call)),
  );
  if (exact !== undefined)
    return needs.length > 0 ? { kind: "shown", calls: [exact] } : { kind: "known", call: exact };
  const choice = chooseCalls(needs, successes, call =>
    isFree(call) ? Number(calls[call]!.name !== goalCall.name) : 2,
  );
  if (choice.missing.length > 0) return { kind: "missing", values: choice.missing };
  const free = needs.length === 0 ? [] : choice.calls.filter(isFree);
  if (free.length > 0) return { kind: "shown", calls: free };
  const call = successes.findLast(it => isFree(it) && calls[it]!.name === goalCall.name);
  return { kind: "known", ...(call === undefined ? {} : { call }) };
}

/** The position of the first call that succeeded, or else of the first call, with a value. */
function findFirstUse(attempt: AttemptCalls, value: string): number {
  const users = attempt.calls.flatMap((_, i) => (attempt.usesValue(i, value) ? [i] : []));
  return users.find(it => attempt.calls[it]!.result !== undefined) ?? users[0] ?? Infinity;
}

// The choice of calls that together show everything that a goal needs.

/** One thing that must be shown. */
interface Need<T> {
  readonly needed: T;
  readonly isShownBy: (call: number) => boolean;
}

interface CallChoice<T> {
  readonly calls: readonly number[];
  /** What no call shows. */
  readonly missing: readonly T[];
}

/**
 * Chooses one call that shows everything, the one with the lowest rank, or else few calls: each
 * time the one that shows most of what is left. Among equals, the first candidate is chosen.
 */
function chooseCalls<T>(
  needs: readonly Need<T>[],
  candidates: readonly number[],
  getRank: (call: number) => number,
): CallChoice<T> {
  const ranked = rankCalls(candidates, getRank);
  const whole = ranked.find(call => needs.every(it => it.isShownBy(call)));
  if (whole !== undefined) return { calls: [whole], missing: [] };
  const calls: number[] = [];
  let left = [...needs];
  for (;;) {
    const counts = ranked.map(call => left.filter(it => it.isShownBy(call)).length);
    const most = Math.max(0, ...counts);
    if (most === 0) break;
    const best = ranked[counts.indexOf(most)]!;
    calls.push(best);
    left = left.filter(it => !it.isShownBy(best));
  }
  return { calls: calls.sort((a, b) => a - b), missing: left.map(it => it.needed) };
}

/** The calls by rank, among equals in their order. */
function rankCalls(calls: readonly number[], getRank: (call: number) => number): number[] {
  const ranks = new Map(calls.map(it => [it, getRank(it)]));
  return calls.toSorted((a, b) => ranks.get(a)! - ranks.get(b)!);
}

// Notes in words. Calls count from 1.

function describeAnswer(calls: readonly number[], hasCallOfItsOwn: boolean): string {
  const by = `answered by ${listCalls(calls)}`;
  return hasCallOfItsOwn
    ? by
    : `${by}, which ${calls.length === 1 ? "serves" : "serve"} other goals`;
}

function describeFeed(resolution: FeedResolution): string {
  switch (resolution.kind) {
    case "shown":
      return `what later goals take was shown by ${listCalls(resolution.calls)}`;
    case "known":
      return "what later goals take was known already, or none took it";
    case "missing":
      return `nothing showed ${resolution.values.join(", ")} before it was needed`;
    default:
      return resolution satisfies never;
  }
}

/** Says of a fact why it is missing: nothing showed it, or too late, or with another value. */
function describeMissingFact(fact: Fact, asked: AskedCall, attempt: AttemptCalls): string {
  const { goalCall } = asked;
  const { entity, of = [], field, value } = fact;
  const { names } = attempt;
  const successes = attempt.listSuccesses();
  const isLate = successes.some(it => shows(attempt, it, fact, asked));
  const call = shorten(formatCall(goalCall.name, goalCall.arguments), 160);
  if (entity === undefined) {
    if (isLate) return `${call} was called too late`;
    if (field === undefined) return `${call} was not called`;
    return field === "count"
      ? `the number of results of ${call} was not looked up`
      : `${describeField(field)} was not looked up (${call} shows it)`;
  }
  const nameOf = (id: string) => names.name(id) ?? id;
  const known = names.name(entity);
  const owners = of.map(nameOf).join(" and ");
  // a value that identifies no entity is a row of a list
  const row = known ?? `the value ${JSON.stringify(entity)}`;
  const what =
    field === undefined
      ? `${row}${owners && `${known === undefined ? " for" : " of"} ${owners}`}`
      : `${describeField(field)} of ${nameOf(entity)}`;
  if (isLate) return `${what} was looked up too late`;
  const other =
    field === undefined
      ? undefined
      : successes.flatMap(it => attempt.getIndex(it).fields.get(entity)?.get(field) ?? []).at(-1);
  return other === undefined
    ? `${what} was not looked up (${goalCall.name} shows it)`
    : `${what} was looked up as ${names.formatValue(other)}, should be ${names.formatValue(value!)}`;
}

const listCalls = (calls: readonly number[]): string =>
  `${calls.length === 1 ? "call" : "calls"} ${calls.map(it => it + 1).join(", ")}`;
