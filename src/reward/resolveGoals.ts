/**
 * Resolves the goals of a task against an attempt: replaces each look-up by the calls with which
 * the attempt learned the same, and leaves out look-ups that it did not need. The equations then
 * run on the resolved goals. Goals that do not say what their calls are for stay as they are.
 */
import type { Attempt } from "../trajectory/attempt.ts";
import type { Fact, Goal, GoalCall, Task } from "../trajectory/task.ts";
import type { ScoredGoal, ScoredGoalCall } from "./align.ts";
import { AttemptCalls, containsValue } from "./attemptCalls.ts";
import { describeAnswer, describeFeed, describeMissingFact } from "./goalText.ts";
import { listIdAliases } from "./stateNames.ts";
import { chooseAnswer } from "./resolveAnswers.ts";
import { resolveFeed } from "./resolveFeeds.ts";
import type { WantedTexts } from "../trajectory/resultIndex.ts";

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
  if (!goals.some(it => it.calls.some(isOpen))) return keepGoals(goals);
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
  const resolver = new GoalResolver(goals, new AttemptCalls(attempt, aliases));
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
  return resolved.flatMap(it => (it.isSpare ? it.calls.filter(call => call.at! < end) : it.calls));
}

class GoalResolver {
  readonly attempt: AttemptCalls;
  readonly #goals: readonly Goal[];
  /** The positions of calls that serve a goal. */
  readonly #used = new Set<number>();
  readonly #resolved: ResolvedCall[][];

  constructor(goals: readonly Goal[], attempt: AttemptCalls) {
    this.#goals = goals;
    this.attempt = attempt;
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
              : { original: goalCall, calls: [this.#chooseAlternative(goalCall)] };
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
