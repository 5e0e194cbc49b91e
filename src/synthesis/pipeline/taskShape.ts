/**
 * Measures the shape of tasks: turns, calls, offered tools, and what happens in the conversations.
 */
import type { Goal, Task } from "../../trajectory/task.ts";

/** Means and shares over tasks, or over user turns. */
export interface TaskShape {
  /** User turns of a task. */
  readonly turns: number;
  /** Goal calls of a task with goals, and the most of any. */
  readonly calls: number;
  readonly mostCalls: number;
  /** Goal calls of a turn. */
  readonly callsPerTurn: number;
  /** Shares of the turns with no call, one, two, and three or more. */
  readonly turnsByCalls: [number, number, number, number];
  /** Share of the turns with two or more writes. */
  readonly turnsWithWrites: number;
  /** Tools on a menu. */
  readonly offeredTools: number;
  /** Servers that a task's goals call, in tasks with goals. */
  readonly servers: number;
  /** Share of the tasks in which a call fails and the assistant goes on. */
  readonly withFailedCall: number;
  /** Share of the tasks in which the assistant refuses or asks something. */
  readonly withUnmet: number;
  /** Share of the tasks without goals. */
  readonly withoutGoals: number;
  /** Share of the tasks in which a later turn adds tools. */
  readonly withAddedTools: number;
}

export class TaskShapes {
  #tasks = 0;
  #turns = 0;
  #tasksWithGoals = 0;
  #calls = 0;
  #mostCalls = 0;
  readonly #turnsByCalls: [number, number, number, number] = [0, 0, 0, 0];
  #turnsWithWrites = 0;
  #offered = 0;
  #servers = 0;
  #withFailedCall = 0;
  #withUnmet = 0;
  #withAddedTools = 0;

  add({ goals, turns, menu, knobs, servers }: Task): void {
    this.#tasks++;
    this.#turns += turns.length;
    this.#offered += menu.length;
    const calls = goals.flatMap(it => it.calls);
    this.#calls += calls.length;
    this.#mostCalls = Math.max(this.#mostCalls, calls.length);
    if (calls.length > 0) this.#tasksWithGoals++;
    this.#servers += servers.filter(({ name }) =>
      calls.some(it => it.name.startsWith(`${name}_`)),
    ).length;
    for (const i of turns.keys()) this.#addTurn(goals.filter(it => it.turn === i));
    const { failedCalls } = knobs;
    if (typeof failedCalls === "number" && failedCalls > 0) this.#withFailedCall++;
    if (turns.some(it => it.unmet)) this.#withUnmet++;
    if (turns.some(it => it.adds)) this.#withAddedTools++;
  }

  #addTurn(goals: readonly Goal[]): void {
    const calls = goals.flatMap(it => it.calls);
    const i = Math.min(calls.length, 3) as 0 | 1 | 2 | 3;
    this.#turnsByCalls[i]++;
    // look-ups say what they were for
    if (calls.filter(it => it.for === undefined).length > 1) this.#turnsWithWrites++;
  }

  measure(): TaskShape {
    const perTurn = (count: number) => divide(count, this.#turns);
    const perTask = (count: number) => divide(count, this.#tasks);
    const [none, one, two, more] = this.#turnsByCalls;
    return {
      turns: perTask(this.#turns),
      calls: divide(this.#calls, this.#tasksWithGoals),
      mostCalls: this.#mostCalls,
      callsPerTurn: perTurn(this.#calls),
      turnsByCalls: [perTurn(none), perTurn(one), perTurn(two), perTurn(more)],
      turnsWithWrites: perTurn(this.#turnsWithWrites),
      offeredTools: perTask(this.#offered),
      servers: divide(this.#servers, this.#tasksWithGoals),
      withFailedCall: perTask(this.#withFailedCall),
      withUnmet: perTask(this.#withUnmet),
      withoutGoals: perTask(this.#tasks - this.#tasksWithGoals),
      withAddedTools: perTask(this.#withAddedTools),
    };
  }
}

const divide = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
