/** The breakpoints of a debug session: on lines, with conditions, and on kinds of calls. */
import type { DebugProtocol } from "@vscode/debugprotocol";
import type { CursorPosition } from "../../trajectory/cursor.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { createVariables } from "./debugVariables.ts";
import { ExpressionError, evaluateExpression } from "./expression.ts";

interface Breakpoint {
  readonly condition: string | undefined;
}

export const exceptionFilters: readonly DebugProtocol.ExceptionBreakpointsFilter[] = [
  {
    filter: "failed",
    label: "Calls That Fail",
    description: "Stops at calls that were refused or not understood",
    default: false,
  },
  {
    filter: "differs",
    label: "Replay Differs",
    description: "Stops at calls whose replayed outcome differs from the recorded one",
    default: false,
  },
];

export class Breakpoints {
  /** By the index of the event. */
  #breakpoints = new Map<number, Breakpoint>();
  #filters = new Set<string>();

  /** Replaces the breakpoints on lines; each moves to the next line that has an event. */
  setLines(
    { transcript }: DebugTarget,
    requested: readonly DebugProtocol.SourceBreakpoint[],
  ): DebugProtocol.Breakpoint[] {
    this.#breakpoints = new Map();
    return requested.map(({ line, condition }, i) => {
      const id = i + 1;
      const event = transcript.eventFrom(line - 1);
      if (event === undefined)
        return { id, verified: false, line, message: "there is no event at or after this line" };
      this.#breakpoints.set(event, { condition: condition || undefined });
      return { id, verified: true, line: transcript.ranges[event]!.first + 1 };
    });
  }

  setFilters(filters: readonly string[]): void {
    this.#filters = new Set(filters);
  }

  has(event: number): boolean {
    return this.#breakpoints.has(event);
  }

  /** Whether to stop at a position; a condition that cannot be evaluated there does not hold. */
  shouldStopAt(target: DebugTarget, position: CursorPosition): boolean {
    const { step, index } = position;
    if (step && this.#filters.has("failed") && step.recorded.outcome.kind !== "ok") return true;
    if (step && this.#filters.has("differs") && step.verdict !== "same") return true;
    const breakpoint = index === undefined ? undefined : this.#breakpoints.get(index);
    if (!breakpoint) return false;
    if (breakpoint.condition === undefined) return true;
    try {
      return evaluateExpression(breakpoint.condition, createVariables(target, position)) === true;
    } catch (error) {
      if (error instanceof ExpressionError) return false;
      throw error;
    }
  }
}
