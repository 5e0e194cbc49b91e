/** The refused calls of an attempt that are right, because the teacher's were refused, too. */
import { isJsonObject } from "../environment/json.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import { listTurns } from "../trajectory/oneTurn.ts";
import { findDueTurn, type GoalCall, type Task } from "../trajectory/task.ts";
import { listCalls } from "../trajectory/trajectory.ts";
import { AttemptCalls } from "./attemptCalls.ts";
import { listIdAliases } from "./stateText.ts";

interface TeacherRefusal extends Pick<GoalCall, "name" | "arguments"> {
  readonly turn: number;
}

/** Cached, because many attempts share a task. */
const refusalsByTask = new WeakMap<Task, readonly TeacherRefusal[]>();

function listTeacherRefusals(task: Task): readonly TeacherRefusal[] {
  let refusals = refusalsByTask.get(task);
  if (!refusals) {
    const { events } = task.trajectory;
    const turns = listTurns(task, events);
    refusals = events.flatMap((it, i) =>
      it.kind === "call" && it.outcome.kind === "refused" && isJsonObject(it.arguments)
        ? [{ name: it.name, arguments: it.arguments, turn: turns[i]! }]
        : [],
    );
    refusalsByTask.set(task, refusals);
  }
  return refusals;
}

/**
 * Finds the calls that equal calls of the teacher and were refused like them, in the turn in which
 * the teacher made them or by the time that what this turn asks for is due. Each call of the
 * teacher stands for one.
 */
export function findTeacherRefusals(attempt: Attempt): ReadonlySet<number> {
  const { task, trajectory } = attempt;
  const found = new Set<number>();
  const refusals = listTeacherRefusals(task);
  const calls = listCalls(trajectory);
  if (refusals.length === 0 || !calls.some(it => it.outcome.kind === "refused")) return found;
  const attemptCalls = new AttemptCalls(attempt, listIdAliases(attempt));
  for (const it of refusals) {
    const due = findDueTurn(task, it.turn);
    const own = calls.findIndex(({ outcome }, i) => {
      const { turn } = attemptCalls.calls[i]!;
      return (
        outcome.kind === "refused" &&
        !found.has(i) &&
        turn >= it.turn &&
        turn <= due &&
        attemptCalls.equals(i, it)
      );
    });
    if (own >= 0) found.add(own);
  }
  return found;
}
