/** Moves a debug session through its trajectory until a breakpoint stops it. */
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import type { Breakpoint } from "./breakpoint.ts";
import type { Breakpoints } from "./breakpoints.ts";
import type { DebugTarget } from "./debugTarget.ts";

export interface Run {
  readonly target: DebugTarget;
  readonly breakpoints: Breakpoints;
  readonly direction: "forward" | "back";
  /** Whether to stop at a position without a breakpoint. */
  readonly isDestination: (position: CursorPosition) => boolean;
  /** Prints the message of a logpoint. */
  readonly print: (text: string, position: CursorPosition) => void;
}

/**
 * Moves event by event until a breakpoint is hit, the destination is reached, or there are no more
 * events. Returns the position and the breakpoints that stop there.
 */
export function runTrajectory({ target, breakpoints, direction, isDestination, print }: Run): {
  readonly position: CursorPosition;
  readonly hits: readonly Breakpoint[];
} {
  const { cursor } = target;
  for (;;) {
    const previous = cursor.current.position;
    const position = direction === "forward" ? cursor.step() : cursor.stepBack();
    if (position.position === previous) return { position, hits: [] };
    const reached = breakpoints.findHits(target, position);
    for (const it of reached) if (it.isLogpoint) print(it.formatLog(target, position), position);
    const hits = reached.filter(it => !it.isLogpoint);
    const isEnd = position.atEnd || position.position === 0;
    if (hits.length > 0 || isEnd || isDestination(position)) return { position, hits };
  }
}
