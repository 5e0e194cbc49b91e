/**
 * One breakpoint of the debugger. Whether it stops at a position depends on the trajectory and the
 * position only, not on how the position was reached: stepping back stops at the same places.
 */
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { createVariables } from "./debugVariables.ts";
import { ExpressionError, parseExpression, type Expression } from "./expression.ts";
import { parseHitCondition, type HitCondition } from "./hitCondition.ts";
import { parseLogMessage, type LogMessage } from "./logMessage.ts";

/** The names of the protocol. */
export type BreakpointKind = "exception" | "data breakpoint" | "function breakpoint" | "breakpoint";

/** A breakpoint as the editor requests it. */
export interface BreakpointRequest {
  readonly condition?: string | undefined;
  readonly hitCondition?: string | undefined;
  readonly logMessage?: string | undefined;
}

/** Why a breakpoint stops, in a few words and in lines of details. */
export interface StopReason {
  readonly title: string;
  readonly details?: string;
}

export interface BreakpointOptions extends BreakpointRequest {
  readonly id: number;
  readonly kind: BreakpointKind;
  /** Describes what the breakpoint is about; undefined at a position that is none of its. */
  readonly describe: (target: DebugTarget, position: CursorPosition) => StopReason | undefined;
}

export class Breakpoint {
  readonly id: number;
  readonly kind: BreakpointKind;
  readonly describe: BreakpointOptions["describe"];
  readonly #condition: Expression | undefined;
  readonly #hitCondition: HitCondition | undefined;
  readonly #formatLog: LogMessage | undefined;
  /** Whether its condition holds, by position. Dropped when the attempt is scored anew. */
  #hits = new Map<number, boolean>();
  #reward: DebugTarget["reward"] | undefined;

  /** Throws an `ExpressionError` if a condition or a message cannot be parsed. */
  constructor({ id, kind, describe, condition, hitCondition, logMessage }: BreakpointOptions) {
    this.id = id;
    this.kind = kind;
    this.describe = describe;
    this.#condition = condition?.trim() ? parseExpression(condition) : undefined;
    this.#hitCondition = hitCondition?.trim() ? parseHitCondition(hitCondition) : undefined;
    this.#formatLog = logMessage ? parseLogMessage(logMessage) : undefined;
  }

  /** Whether it prints a message instead of stopping. */
  get isLogpoint(): boolean {
    return this.#formatLog !== undefined;
  }

  /** Whether it stops at a position, or prints its message there. */
  isHit(target: DebugTarget, position: CursorPosition): boolean {
    if (!this.#isMet(target, position)) return false;
    return this.#hitCondition?.(this.#countHits(target, position)) ?? true;
  }

  formatLog(target: DebugTarget, position: CursorPosition): string {
    return this.#formatLog?.(createVariables(target, position)) ?? "";
  }

  /** How often its condition is met from the start to a position. */
  #countHits(target: DebugTarget, { position }: CursorPosition): number {
    let count = 0;
    for (let n = 1; n <= position; n++)
      if (this.#hits.get(n) ?? this.#isMet(target, target.cursor.at(n))) count++;
    return count;
  }

  #isMet(target: DebugTarget, position: CursorPosition): boolean {
    if (this.#reward !== target.reward) this.#hits = new Map();
    this.#reward = target.reward;
    const known = this.#hits.get(position.position);
    if (known !== undefined) return known;
    const isMet = this.describe(target, position) !== undefined && this.#holdsAt(target, position);
    this.#hits.set(position.position, isMet);
    return isMet;
  }

  /** A condition that cannot be evaluated at a position does not hold there. */
  #holdsAt(target: DebugTarget, position: CursorPosition): boolean {
    if (!this.#condition) return true;
    try {
      return this.#condition(createVariables(target, position)) === true;
    } catch (error) {
      if (error instanceof ExpressionError) return false;
      throw error;
    }
  }
}
