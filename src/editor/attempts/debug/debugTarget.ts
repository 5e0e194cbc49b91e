/** The attempt that a debug session steps through. */
import type { CursorPosition, TrajectoryCursor } from "../../../trajectory/cursor.ts";
import type { Task } from "../../../trajectory/task.ts";
import type { Transcript } from "../../../trajectory/transcript.ts";
import type { AttemptReward } from "../attemptReward.ts";

export interface DebugTarget {
  /** The address of the transcript. */
  readonly source: string;
  readonly title: string;
  readonly cursor: TrajectoryCursor;
  readonly transcript: Transcript;
  readonly task?: Task;
  /** Replaced when the attempt is scored again, such as under another profile. */
  reward: AttemptReward;
}

/** The number of calls before the event of a position. */
export const countCallsBefore = (
  { trajectory }: TrajectoryCursor,
  { index = 0 }: CursorPosition,
): number => trajectory.events.slice(0, index).filter(it => it.kind === "call").length;
