/**
 * Standing somewhere in a trajectory, and moving in it: what a debugger shows, without a debugger.
 * A position counts the events that have happened; going back is having replayed. Knows no editor
 * and no protocol.
 */
import type { Catalog } from "../environment/catalog.ts";
import type { Patch } from "../environment/outcome.ts";
import type { State } from "../environment/state.ts";
import { replayTrajectory, openStartState, type ReplayedStep } from "./replay.ts";
import type { Event, Trajectory } from "./trajectory.ts";
import { isCallOnlyMessage } from "./transcript.ts";

/** Where a cursor stands. */
export interface CursorPosition {
  /** Events that have happened, from 0 to all. */
  readonly position: number;
  /** The last event that has happened; absent at the start. */
  readonly event?: Event;
  /** Its index among the events: the line to stand on. */
  readonly index?: number;
  /** The call of that event, as recorded and as replayed. */
  readonly step?: ReplayedStep;
  /** The session's state after that event, and before it. */
  readonly state: State;
  readonly before: State;
  /** What that event changed. */
  readonly patches: readonly Patch[];
  readonly atEnd: boolean;
}

export class TrajectoryCursor {
  readonly trajectory: Trajectory;
  readonly #start: State;
  readonly #replay: Generator<ReplayedStep, void>;
  /** The steps replayed so far, in order. States are values, so keeping them copies nothing. */
  readonly #steps: ReplayedStep[] = [];
  #position = 0;

  /** Stands before the first event. Throws a `UserError` where a server or a fixture is gone. */
  constructor(catalog: Catalog, trajectory: Trajectory) {
    this.trajectory = trajectory;
    this.#start = openStartState(catalog, trajectory);
    this.#replay = replayTrajectory(catalog, trajectory);
  }

  get current(): CursorPosition {
    return this.at(this.#position);
  }

  /**
   * One event on; at the end it stays. A message of calls alone is passed over: its calls are what
   * happens.
   */
  step(): CursorPosition {
    return this.continue(() => true);
  }

  /** One event back; at the start it stays. */
  stepBack(): CursorPosition {
    return this.continueBack(() => true);
  }

  /** On to the next event that passes, or to the end. */
  continue(stopAt: (index: number) => boolean): CursorPosition {
    let position = this.#position + 1;
    while (position < this.#length && !this.#isStop(position, stopAt)) position++;
    return this.goTo(position);
  }

  /** Back to the event before that passes, or to the start. */
  continueBack(stopAt: (index: number) => boolean): CursorPosition {
    let position = this.#position - 1;
    while (position > 0 && !this.#isStop(position, stopAt)) position--;
    return this.goTo(position);
  }

  /** To a position, or to the nearest there is. */
  goTo(position: number): CursorPosition {
    this.#position = Math.min(Math.max(position, 0), this.#length);
    return this.current;
  }

  /** What stands at a position, without going there. */
  at(position: number): CursorPosition {
    const index = position - 1;
    const event = this.trajectory.events[index];
    const last = this.#findLastStep(position);
    const state = last?.after ?? this.#start;
    const atEnd = position === this.#length;
    if (!event) return { position, state, before: state, patches: [], atEnd };
    if (last?.event !== index)
      return { position, event, index, state, before: state, patches: [], atEnd };
    return {
      position,
      event,
      index,
      step: last,
      state,
      before: last.before,
      patches: last.replayed.patches ?? [],
      atEnd,
    };
  }

  #isStop(position: number, stopAt: (index: number) => boolean): boolean {
    return !isCallOnlyMessage(this.trajectory.events, position - 1) && stopAt(position - 1);
  }

  get #length(): number {
    return this.trajectory.events.length;
  }

  /** The last call among the first events, replayed. */
  #findLastStep(position: number): ReplayedStep | undefined {
    const count = this.trajectory.events.slice(0, position).filter(it => it.kind === "call").length;
    while (this.#steps.length < count) {
      const { value } = this.#replay.next();
      this.#steps.push(value!);
    }
    return this.#steps[count - 1];
  }
}
