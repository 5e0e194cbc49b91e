/**
 * Resolves goal calls that answer the user: finds the calls of an attempt whose results show the
 * facts, by the end of the turn that asked for them.
 */
import type { Fact, GoalCall } from "../trajectory/task.ts";
import type { AttemptCalls, BareCall } from "./attemptCalls.ts";
import { chooseCalls, type CallChoice, type Need } from "./chooseCalls.ts";
import { showsFact, showsValue } from "../trajectory/resultIndex.ts";

/** A goal call, and the turn in which it is asked for. */
export interface AskedCall {
  readonly goalCall: GoalCall;
  readonly turn: number;
}

/** Stands for a goal call without facts: the call itself is needed. */
const wholeCall: Fact = {};

/**
 * Chooses the calls that show the facts of a goal call. Calls in `used`, which serve other goals,
 * come last.
 */
export function chooseAnswer(
  asked: AskedCall,
  attempt: AttemptCalls,
  used: ReadonlySet<number>,
): CallChoice<Fact> {
  const { goalCall, turn } = asked;
  const { facts = [], alternatives = [] } = goalCall;
  const needs = (facts.length > 0 ? facts : [wholeCall]).map((needed): Need<Fact> => ({
    needed,
    isShownBy: call => attempt.calls[call]!.turn <= turn && shows(attempt, call, needed, asked),
  }));
  // later calls first: an earlier one of the same kind may serve an earlier goal
  return chooseCalls(needs, attempt.listSuccesses().toReversed(), call => {
    const cost = used.has(call) || attempt.isWrite(call) ? 3 : 0;
    if (attempt.equals(call, goalCall)) return cost;
    return cost + (alternatives.some(it => attempt.equals(call, it)) ? 1 : 2);
  });
}

/** Whether a call's result shows a fact, in time or not. */
export function shows(
  attempt: AttemptCalls,
  call: number,
  fact: Fact,
  { goalCall, turn }: AskedCall,
): boolean {
  if (fact.entity !== undefined) return showsFact(attempt.getIndex(call), fact);
  const { alternatives = [] } = goalCall;
  if (alternatives.some(it => attempt.equals(call, it))) return isFresh(attempt, call, turn);
  if (!hasRequiredArguments(attempt, call, goalCall)) return false;
  if (fact.field !== undefined)
    return showsValue(attempt.calls[call]!.result!, fact.field, fact.value!);
  const keys = Object.keys(attempt.calls[call]!.arguments);
  return attempt.hasEqual(call, goalCall.arguments, keys) && isFresh(attempt, call, turn);
}

/** Whether a call is of the same tool and has the required arguments of a goal call. */
function hasRequiredArguments(attempt: AttemptCalls, call: number, goalCall: BareCall): boolean {
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
