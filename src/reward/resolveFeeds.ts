/**
 * Resolves goal calls that only supply arguments of later goals: finds the calls of an attempt that
 * showed these values before they were used.
 */
import { containsToken } from "../trajectory/containsToken.ts";
import type { GoalCall } from "../trajectory/task.ts";
import type { AttemptCalls } from "./attemptCalls.ts";
import { chooseCalls, type Need } from "./chooseCalls.ts";

/** How an attempt came to know the values. */
export type FeedResolution =
  | { readonly kind: "shown"; readonly calls: readonly number[] }
  /**
   * The user or results for other goals gave the values, or no later goal needs them. `call` is a
   * call of the same tool that was made all the same.
   */
  | { readonly kind: "known"; readonly call?: number }
  /** Nothing showed them. */
  | { readonly kind: "missing"; readonly values: readonly string[] };

/** `isNeeded` says whether a later goal, as it was resolved, takes a value. */
export function resolveFeed(
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
