/**
 * A session of the service's table: how it was opened, when it was last used, and the changes that
 * listeners of the table are told about. Calls are executed by the session that it wraps.
 */
import type { SessionPins } from "../environment/catalog.ts";
import type { Digest } from "../environment/digest.ts";
import type { Json } from "../environment/json.ts";
import type { CallResult, CompletedCall } from "../environment/outcome.ts";
import type { Server } from "../environment/server.ts";
import type { Session } from "../environment/session.ts";
import { parseState, type State } from "../environment/state.ts";
import type { AttemptSession, TaskConversation } from "../policy/taskConversation.ts";
import { HttpError } from "./httpError.ts";

/** One call in a session, with the states before and after it, which are shared values. */
export interface SessionCall extends CompletedCall, CallResult {
  /** From 1. */
  readonly number: number;
  readonly before: State;
  readonly after: State;
}

export type SessionChange =
  | { readonly kind: "opened" | "restored"; readonly session: TableSession }
  | { readonly kind: "called"; readonly session: TableSession; readonly call: SessionCall }
  | {
      readonly kind: "closed";
      readonly session: TableSession;
      readonly why: "deleted" | "idle" | "ended";
    };

export interface TableSessionOptions {
  readonly id: string;
  /** How the session was opened, to tell a repeated request from a different one. */
  readonly key: string;
  /** Who opened the session, as text for people: `agent`, `trl`, … */
  readonly owner: string;
  /** The names of the servers and fixtures that it was opened on. */
  readonly origin: SessionPins;
  readonly servers: readonly Server[];
  /** Milliseconds without use after which the session is closed. */
  readonly ttlMs: number;
  readonly usedAt: number;
  /** The state that a reset restores; the session's own state if absent. */
  readonly initialState?: State;
  /** The tools that a reset restores; the session's own if absent. */
  readonly initialTools?: Session["tools"];
}

export class TableSession {
  readonly id: string;
  readonly key: string;
  readonly owner: string;
  readonly origin: SessionPins;
  readonly servers: readonly Server[];
  readonly ttlMs: number;
  readonly initialState: State;
  readonly initialTools: Session["tools"];
  usedAt: number;
  readonly #session: Session;
  readonly #notify: (change: SessionChange) => void;
  #callCount = 0;
  #attempt: TaskConversation | undefined;

  constructor(
    options: TableSessionOptions,
    session: Session,
    notify: (change: SessionChange) => void,
  ) {
    this.id = options.id;
    this.key = options.key;
    this.owner = options.owner;
    this.origin = options.origin;
    this.servers = options.servers;
    this.ttlMs = options.ttlMs;
    this.usedAt = options.usedAt;
    this.initialState = options.initialState ?? session.state;
    this.initialTools = options.initialTools ?? session.tools;
    this.#session = session;
    this.#notify = notify;
  }

  get tools(): Session["tools"] {
    return this.#session.tools;
  }

  get state(): State {
    return this.#session.state;
  }

  get digest(): Digest {
    return this.#session.digest;
  }

  /** The number of calls since the session was opened. */
  get callCount(): number {
    return this.#callCount;
  }

  /** The attempt at a task that the session is for; undefined for a session without a task. */
  get attempt(): TaskConversation | undefined {
    return this.#attempt;
  }

  /** Begins the attempt that the session is for. Calls are part of it from now on. */
  startAttempt(start: (session: AttemptSession) => TaskConversation): void {
    const session = this.#session;
    this.#attempt = start({
      get tools() {
        return session.tools;
      },
      get state() {
        return session.state;
      },
      addTools: names => session.addTools(names),
      call: (name, args) => this.#execute(name, args),
    });
  }

  /**
   * The attempt, ready for a new message. Throws an `HttpError` if the session has none, or the
   * attempt has ended.
   */
  continueAttempt(): TaskConversation {
    if (!this.#attempt)
      throw new HttpError(
        "INVALID_REQUEST",
        `session ${this.id} was opened without a task`,
        "open a session with a task_id",
      );
    this.#attempt.finishMessage();
    if (this.#attempt.end)
      throw new HttpError(
        "ENDED",
        `the attempt in session ${this.id} has ended (${this.#attempt.end.by})`,
        "score it, or open another session",
      );
    return this.#attempt;
  }

  /**
   * Executes a call. In an attempt, it is a message of its own or, with `parallel`, belongs to the
   * message of the call before. Throws an `HttpError` if the attempt has ended.
   */
  call(name: string, args: unknown, { parallel = false } = {}): CallResult {
    if (!this.#attempt) return this.#execute(name, args);
    if (!parallel || !this.#attempt.isMessageOpen)
      this.continueAttempt().startMessage({ text: "" });
    return this.#attempt.call(name, args as Json);
  }

  #execute(name: string, args: unknown): CallResult {
    const before = this.state;
    const result = this.#session.call(name, args);
    this.#notify({
      kind: "called",
      session: this,
      call: {
        number: ++this.#callCount,
        name,
        arguments: args as Json,
        ...result,
        before,
        after: this.state,
      },
    });
    return result;
  }

  /** Replaces the state with one from outside. Throws a `UserError` if it does not match. */
  restore(state: unknown): void {
    this.#session.restore(parseState(this.servers, state));
    this.#notify({ kind: "restored", session: this });
  }

  /** Offers more tools of its servers from now on. */
  addTools(names: readonly string[]): void {
    this.#session.addTools(names);
  }

  /** Returns to the state and the tools at the start. */
  reset(): void {
    this.#session.restore(this.initialState, this.initialTools);
    this.#notify({ kind: "restored", session: this });
  }

  /** Opens a session, outside the table, that starts from this one's state. */
  fork(): Session {
    return this.#session.fork();
  }
}
