/**
 * A position in a trajectory that can step forward and back, and the session's state there. The
 * debugger is built on it. A position is the number of events before it; states come from replay.
 */
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import type { Patch } from "../environment/outcome.ts";
import type { State } from "../environment/state.ts";
import type { Session } from "../environment/session.ts";
import { replayTrajectory, openStartState, type ReplayedStep } from "./replay.ts";
import { listAddedTools, type Event, type Trajectory } from "./trajectory.ts";
import { isCallOnlyMessage } from "./transcript.ts";

/** A cursor's position, with the event and the state there. */
export interface CursorPosition {
  /** The number of events before it. */
  readonly position: number;
  /** The last event before it; absent at the start. */
  readonly event?: Event;
  /** The index of that event. */
  readonly index?: number;
  /** The call of that event, as recorded and as replayed. */
  readonly step?: ReplayedStep;
  /** The session's state after that event. */
  readonly state: State;
  /** The session's state before that event. */
  readonly before: State;
  /** The changes of that event. */
  readonly patches: readonly Patch[];
  readonly atEnd: boolean;
}

export class TrajectoryCursor {
  readonly trajectory: Trajectory;
  readonly #catalog: Catalog;
  readonly #start: State;
  readonly #replay: Generator<ReplayedStep, void>;
  /** The steps replayed so far, in order. States are values, so keeping them copies nothing. */
  readonly #steps: ReplayedStep[] = [];
  #position = 0;

  /** Starts before the first event. Throws a `UserError` if a server or fixture is missing. */
  constructor(catalog: Catalog, trajectory: Trajectory) {
    this.trajectory = trajectory;
    this.#catalog = catalog;
    this.#start = openStartState(catalog, trajectory);
    this.#replay = replayTrajectory(catalog, trajectory);
  }

  get current(): CursorPosition {
    return this.at(this.#position);
  }

  /** Goes to the next event, unless at the end. Messages that only make calls are skipped. */
  step(): CursorPosition {
    return this.continue(() => true);
  }

  /** Goes to the previous event, unless at the start. */
  stepBack(): CursorPosition {
    return this.continueBack(() => true);
  }

  /** Goes to the next event for which `stopAt` is true, or to the end. */
  continue(stopAt: (index: number) => boolean): CursorPosition {
    let position = this.#position + 1;
    while (position < this.#length && !this.#isStop(position, stopAt)) position++;
    return this.goTo(position);
  }

  /** Goes back to the last event for which `stopAt` is true, or to the start. */
  continueBack(stopAt: (index: number) => boolean): CursorPosition {
    let position = this.#position - 1;
    while (position > 0 && !this.#isStop(position, stopAt)) position--;
    return this.goTo(position);
  }

  /** Goes to a position, or to the nearest one that exists. */
  goTo(position: number): CursorPosition {
    this.#position = Math.min(Math.max(position, 0), this.#length);
    return this.current;
  }

  /** Describes a position without going there. */
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

  /** Whether a server of the attempt has a tool with this full name, on offer or not. */
  hasTool(name: string): boolean {
    const tool = this.#catalog.tools.get(name);
    return this.trajectory.header.servers.some(it => it.name === tool?.server);
  }

  /** Opens a session that goes on from the current position, apart from the trajectory. */
  openSession(): Session {
    const { header, events } = this.trajectory;
    const session = openSessionByName(this.#catalog, header);
    session.addTools(listAddedTools(events.slice(0, this.#position)));
    session.restore(this.current.state);
    return session;
  }

  #isStop(position: number, stopAt: (index: number) => boolean): boolean {
    return !isCallOnlyMessage(this.trajectory.events, position - 1) && stopAt(position - 1);
  }

  get #length(): number {
    return this.trajectory.events.length;
  }

  /** The last replayed call before a position. */
  #findLastStep(position: number): ReplayedStep | undefined {
    const count = this.trajectory.events.slice(0, position).filter(it => it.kind === "call").length;
    while (this.#steps.length < count) {
      const { value } = this.#replay.next();
      this.#steps.push(value!);
    }
    return this.#steps[count - 1];
  }
}
