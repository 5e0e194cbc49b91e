/**
 * Attempts at one turn of a task: the turns before it are the teacher's, run anew, and the attempt
 * ends with the turn. The header says which turn it is. Also says in which of the task's turns each
 * event of an attempt happened.
 */
import { UserError } from "../userError.ts";
import { findDueTurn, type Task } from "./task.ts";
import {
  listCalls,
  startsTurn,
  type CallEvent,
  type Event,
  type Trajectory,
} from "./trajectory.ts";

/** The index of the event that begins a turn; the number of events if none does. */
export function findTurnStart(events: readonly Event[], turn: number): number {
  const starts = events.flatMap((it, i) => (startsTurn(it) ? [i] : []));
  return starts[turn] ?? events.length;
}

/** How many of the first events the teacher's turns have; 0 unless it is an attempt at one turn. */
export const countGivenEvents = ({ header, events }: Trajectory): number =>
  header.turn === undefined ? 0 : findTurnStart(events, header.turn);

/** How many of the first calls were the teacher's. */
export const countGivenCalls = (trajectory: Trajectory): number =>
  trajectory.events.slice(0, countGivenEvents(trajectory)).filter(it => it.kind === "call").length;

/** The calls that the attempt made itself. */
export const listOwnCalls = (trajectory: Trajectory): readonly CallEvent[] =>
  listCalls(trajectory).slice(countGivenCalls(trajectory));

const tasksOfTurns = new WeakMap<Task, Map<number, Task>>();

/**
 * The part of a task up to the end of a turn. Cached, because many attempts share it. Throws a
 * `UserError` if the task has no such turn.
 */
export function endTaskAfter(task: Task, turn: number): Task {
  if (turn >= task.turns.length)
    throw new UserError(
      `task ${task.id} has no turn ${turn + 1}`,
      "give the tasks that were attempted",
    );
  let parts = tasksOfTurns.get(task);
  if (!parts) tasksOfTurns.set(task, (parts = new Map()));
  let part = parts.get(turn);
  if (!part) {
    part = {
      ...task,
      turns: task.turns.slice(0, turn + 1),
      // goals point back, so that those of later turns are never needed
      goals: task.goals.slice(0, countGoals(task, turn)),
    };
    parts.set(turn, part);
  }
  return part;
}

/** How many goals there are up to the end of a turn. */
const countGoals = ({ goals }: Task, turn: number): number =>
  goals.findLastIndex(it => it.turn <= turn) + 1;

/**
 * The turns that can be attempted on their own, after those of the teacher: they have goals, or the
 * teacher makes no call in them either, so that it is clear what an attempt should do.
 */
export function listSingleTurns({ turns, goals, trajectory: { events } }: Task): number[] {
  const isInOrder = goals.every(({ turn }, g) => g === 0 || turn >= goals[g - 1]!.turn);
  if (!isInOrder || events.filter(startsTurn).length < turns.length) return [];
  return turns.flatMap((_, turn) => {
    const own = events.slice(findTurnStart(events, turn), findTurnStart(events, turn + 1));
    const isClear = goals.some(it => it.turn === turn) || !own.some(it => it.kind === "call");
    return isClear ? [turn] : [];
  });
}

/**
 * The turn of each event, from 0. A turn begins with the user's message of the task; other messages
 * of the user, such as answers to questions, belong to the turn in which they are given.
 */
export function listTurns({ turns }: Pick<Task, "turns">, events: readonly Event[]): number[] {
  let turn = -1;
  return events.map(it => {
    if (startsTurn(it) && it.text === turns[turn + 1]?.user) turn++;
    return Math.max(0, turn);
  });
}

/** How many calls were made up to the end of the turn in which the goals of a turn are due. */
export function countDueCalls(
  task: Pick<Task, "format" | "turns">,
  events: readonly Event[],
  turn: number,
): number {
  const due = findDueTurn(task, turn);
  const turns = listTurns(task, events);
  return events.filter((it, i) => it.kind === "call" && turns[i]! <= due).length;
}
