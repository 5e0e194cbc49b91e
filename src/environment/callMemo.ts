/**
 * Remembers what calls returned and which state they left, by the state before. Sessions with the
 * same servers and seed that share it execute a call on a state once.
 */
import type { CallResult } from "./outcome.ts";
import type { State } from "./state.ts";

interface ExecutedCall {
  readonly result: CallResult;
  readonly after: State;
}

/**
 * The most calls that a memo keeps, which bounds its memory: it may be shared by sessions for days.
 */
export const maxMemoCalls = 10_000;

export class CallMemo {
  readonly #callsByState = new WeakMap<State, Map<string, ExecutedCall>>();
  #callCount = 0;

  /** The executed call, from the memo or else from `execute`. A full memo keeps no other call. */
  getOrExecute(
    before: State,
    name: string,
    args: unknown,
    execute: () => ExecutedCall,
  ): ExecutedCall {
    const calls = this.#callsByState.get(before) ?? new Map<string, ExecutedCall>();
    const key = `${name} ${JSON.stringify(args)}`;
    const known = calls.get(key);
    if (known) return known;
    const call = execute();
    if (this.#callCount === maxMemoCalls) return call;
    this.#callCount++;
    this.#callsByState.set(before, calls.set(key, call));
    return call;
  }
}
