/** Says in which of the task's turns each event of an attempt happened. */
import type { Task } from "./task.ts";
import { startsTurn, type Event } from "./trajectory.ts";

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
