/**
 * Remembers what calls returned and which state they left, by the state before. Sessions with the
 * same servers and seed that share it execute a call on a state once.
 */
import type { CallResult } from "./outcome.ts";
import type { State } from "./state.ts";

export interface ExecutedCall {
  readonly result: CallResult;
  readonly after: State;
}

export class CallMemo {
  readonly #callsByState = new WeakMap<State, Map<string, ExecutedCall>>();

  /** The executed call, from the memo or else from `execute`. */
  getOrExecute(
    before: State,
    name: string,
    args: unknown,
    execute: () => ExecutedCall,
  ): ExecutedCall {
    let calls = this.#callsByState.get(before);
    if (!calls) this.#callsByState.set(before, (calls = new Map()));
    const key = `${name} ${JSON.stringify(args)}`;
    let call = calls.get(key);
    if (!call) calls.set(key, (call = execute()));
    return call;
  }
}
