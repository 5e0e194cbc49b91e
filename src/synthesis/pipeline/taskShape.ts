/**
 * Measures the shape of tasks: turns, calls, offered tools, and what happens in the conversations.
 */
import type { Goal, Task } from "../../trajectory/task.ts";

/** Means and shares over tasks, or over user turns. */
export interface TaskShape {
  /** User turns of a task, and the most of any. */
  readonly turns: number;
  readonly mostTurns: number;
  /** Goal calls of a task with goals, and the most of any. */
  readonly calls: number;
  readonly mostCalls: number;
  /** Goal calls of a turn. */
  readonly callsPerTurn: number;
  /** Shares of the turns with no call, one, two, and three or more. */
  readonly turnsByCalls: [number, number, number, number];
  /** Shares of the turns and of the tasks with two or more writes. */
  readonly turnsWithWrites: number;
  readonly tasksWithWrites: number;
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
  /** Share of the tasks in which a user asks for something only if a look-up shows something. */
  readonly withCondition: number;
  /** Share of the tasks in which a user names a limit, such as the most to pay. */
  readonly withLimit: number;
  /** Share of the tasks in which a user changes their mind. */
  readonly withChangeOfMind: number;
  /** Share of the tasks with an obstacle that the assistant must get around. */
  readonly withRecovery: number;
  /** Share of the tasks with a policy in the system message. */
  readonly withPolicy: number;
}

/** Shares of the tasks that have a property. */
const features: readonly (readonly [Feature, (task: Task) => boolean])[] = [
  ["withFailedCall", it => Number(it.knobs["failedCalls"] ?? 0) > 0],
  ["withUnmet", it => it.turns.some(turn => turn.unmet)],
  ["withoutGoals", it => it.goals.length === 0],
  ["withAddedTools", it => it.turns.some(turn => turn.adds)],
  ["withCondition", it => it.knobs["conditions"] !== undefined],
  ["withLimit", it => it.knobs["limits"] !== undefined],
  ["withChangeOfMind", it => it.knobs["changesOfMind"] !== undefined],
  ["withRecovery", it => it.knobs["recovery"] !== undefined],
  ["withPolicy", it => Object.hasOwn(it, "policy")],
  ["tasksWithWrites", it => countWrites(it.goals) > 1],
];

type Feature = Extract<keyof TaskShape, `with${string}`> | "tasksWithWrites";

/** Counts the goal calls that are no look-ups: those say what they were for. */
const countWrites = (goals: readonly Goal[]): number =>
  goals.flatMap(it => it.calls).filter(it => it.for === undefined).length;

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
  #mostTurns = 0;
  readonly #featureCounts = new Map<Feature, number>();

  add(task: Task): void {
    const { goals, turns, menu, servers } = task;
    this.#tasks++;
    this.#turns += turns.length;
    this.#mostTurns = Math.max(this.#mostTurns, turns.length);
    this.#offered += menu.length;
    const calls = goals.flatMap(it => it.calls);
    this.#calls += calls.length;
    this.#mostCalls = Math.max(this.#mostCalls, calls.length);
    if (calls.length > 0) this.#tasksWithGoals++;
    this.#servers += servers.filter(({ name }) =>
      calls.some(it => it.name.startsWith(`${name}_`)),
    ).length;
    for (const i of turns.keys()) this.#addTurn(goals.filter(it => it.turn === i));
    for (const [feature, has] of features)
      this.#featureCounts.set(
        feature,
        (this.#featureCounts.get(feature) ?? 0) + (has(task) ? 1 : 0),
      );
  }

  #addTurn(goals: readonly Goal[]): void {
    const calls = goals.flatMap(it => it.calls);
    const i = Math.min(calls.length, 3) as 0 | 1 | 2 | 3;
    this.#turnsByCalls[i]++;
    if (countWrites(goals) > 1) this.#turnsWithWrites++;
  }

  measure(): TaskShape {
    const perTurn = (count: number) => divide(count, this.#turns);
    const perTask = (count: number) => divide(count, this.#tasks);
    const [none, one, two, more] = this.#turnsByCalls;
    return {
      turns: perTask(this.#turns),
      mostTurns: this.#mostTurns,
      calls: divide(this.#calls, this.#tasksWithGoals),
      mostCalls: this.#mostCalls,
      callsPerTurn: perTurn(this.#calls),
      turnsByCalls: [perTurn(none), perTurn(one), perTurn(two), perTurn(more)],
      turnsWithWrites: perTurn(this.#turnsWithWrites),
      offeredTools: perTask(this.#offered),
      servers: divide(this.#servers, this.#tasksWithGoals),
      ...(Object.fromEntries(
        features.map(([it]) => [it, perTask(this.#featureCounts.get(it) ?? 0)]),
      ) as Record<Feature, number>),
    };
  }
}

const divide = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
