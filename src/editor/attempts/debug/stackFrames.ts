/** Creates the call stack of the debugger: the current call, its message and its user turn. */
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import { startsTurn, type Event } from "../../../trajectory/trajectory.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { truncate } from "./valueRow.ts";

export interface StackFrame {
  readonly name: string;
  /** Line of the transcript, from 0. */
  readonly line: number;
  /** The index of the event that it begins with; absent before the first event. */
  readonly event?: number;
}

/** The frames at a position, the innermost first. */
export function listFrames(
  { transcript, cursor, title }: DebugTarget,
  position: CursorPosition,
): readonly StackFrame[] {
  const { events } = cursor.trajectory;
  const { event, index } = position;
  if (index === undefined || !event) return [{ name: `start of ${title}`, line: 0 }];
  const getLine = (eventIndex: number) => transcript.ranges[eventIndex]!.first;
  const countUntil = (last: number, isCounted: (it: Event) => boolean) =>
    events.slice(0, last + 1).filter(isCounted).length;
  const frames: StackFrame[] = [];
  if (event.kind === "call")
    frames.push({
      name: `call ${countUntil(index, it => it.kind === "call")}: ${event.name || "(not parsed)"}`,
      line: getLine(index),
      event: index,
    });
  if (event.kind === "ended") frames.push({ name: "end", line: getLine(index), event: index });
  if (event.kind === "call" || event.kind === "assistant") {
    const first = events.findIndex(it => it.kind === "assistant" && it.message === event.message);
    const begin = first < 0 ? index : first;
    frames.push({ name: `message ${event.message + 1}`, line: getLine(begin), event: begin });
  }
  const turn = events.slice(0, index + 1).findLastIndex(startsTurn);
  const userEvent = events[turn];
  if (userEvent?.kind === "user")
    frames.push({
      name: `turn ${countUntil(turn, startsTurn)}: ${truncate(userEvent.text, 60)}`,
      line: getLine(turn),
      event: turn,
    });
  return frames;
}
