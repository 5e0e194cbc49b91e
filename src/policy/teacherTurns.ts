/** Runs the first turns of a task as its teacher did, so that an attempt can begin after them. */
import { canonicalJson } from "../environment/json.ts";
import type { Session } from "../environment/session.ts";
import { UserError } from "../userError.ts";
import { endTaskAfter, findTurnStart } from "../trajectory/oneTurn.ts";
import type { Task } from "../trajectory/task.ts";
import {
  createCallEvent,
  startsTurn,
  type CallEvent,
  type Event,
} from "../trajectory/trajectory.ts";

/**
 * Appends the events of the turns before one, with the teacher's calls executed on the session.
 * Throws a `UserError` if the task has no such turn, or a call does not return what the teacher
 * got.
 */
export function runTeacherTurns(
  task: Task,
  turn: number,
  session: Pick<Session, "call">,
  append: (event: Event) => void,
): void {
  endTaskAfter(task, turn);
  const { events } = task.trajectory;
  if (events.filter(startsTurn).length < turn)
    throw new UserError(
      `task ${task.id} does not have its teacher's first ${turn} turns`,
      "attempt the whole task, or synthesize it anew",
    );
  for (const event of events.slice(0, findTurnStart(events, turn))) {
    if (event.kind !== "call") {
      append(event);
      continue;
    }
    const { message, name, arguments: args } = event;
    const executed = createCallEvent(message, name, args, session.call(name, args));
    if (!isSame(event, executed))
      throw new UserError(
        `task ${task.id}: the teacher's call ${name} no longer returns what it did`,
        "restore the fixture it was made on, or synthesize it anew",
      );
    append(executed);
  }
}

/** Whether a call has the outcome and leaves the state that were recorded. */
const isSame = (recorded: CallEvent, executed: CallEvent): boolean =>
  recorded.digest === executed.digest &&
  recorded.outcome.kind === executed.outcome.kind &&
  (recorded.outcome.kind !== "ok" ||
    executed.outcome.kind !== "ok" ||
    canonicalJson(recorded.outcome.value) === canonicalJson(executed.outcome.value));

/**
 * The most messages of a policy: the task's limit or, for one turn, what the teacher's messages in
 * the other turns leave of it.
 */
export function getMessageLimit({ budget, trajectory }: Task, turn: number | undefined): number {
  const limit = budget.assistantMessages;
  if (turn === undefined) return limit;
  const { events } = trajectory;
  const [start, end] = [findTurnStart(events, turn), findTurnStart(events, turn + 1)];
  const others = events.filter((it, i) => it.kind === "assistant" && (i < start || i >= end));
  return Math.max(1, limit - others.length);
}
