/**
 * The table of open sessions, by id, and each session with how it was opened and when it was last
 * used. A full table refuses another session instead of evicting one; a session that has been idle
 * for too long is closed, and its owner can learn why. Anyone who knows an id can act in its
 * session, so ids must be impossible to guess.
 */
import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { openSessionByName, type Catalog, type SessionPins } from "../../environment/catalog.ts";
import type { Digest } from "../../environment/digest.ts";
import { canonicalJson, type JsonObject, type Json } from "../../environment/json.ts";
import type { CallResult, CompletedCall } from "../../environment/outcome.ts";
import type { Server } from "../../environment/server.ts";
import type { Session } from "../../environment/session.ts";
import { parseState, type State } from "../../environment/state.ts";
import { HttpError } from "../httpError.ts";
import { parseArguments } from "../../policy/callText/callText.ts";
import {
  maxCallsInMessage,
  type AttemptSession,
  type TaskConversation,
} from "../../policy/taskConversation.ts";

export interface OpenOptions extends SessionPins {
  /** The attempt at a task that the session is for. */
  readonly attempt?: {
    /** What was asked for, to tell a repeated request from a different one. */
    readonly key: JsonObject;
    /** Throws a `UserError` if the task cannot be attempted. */
    readonly start: (session: AttemptSession) => TaskConversation;
  };
  /** At least 128 random bits; a new id if absent. */
  readonly id?: string;
  /** Who opens the session, as text for people: `agent`, `trl`, … */
  readonly owner: string;
  /** Milliseconds without use after which the session is closed; `Infinity` keeps it open. */
  readonly ttlMs?: number;
}

type ForkOptions = Partial<Pick<OpenOptions, "id" | "owner" | "ttlMs">>;

/** The table is full. */
export class CapacityError extends Error {}

/** The id belongs to a session that was opened with other options. */
export class SessionIdConflict extends Error {}

export interface TableOptions {
  readonly catalog: Catalog;
  readonly capacity?: number;
  readonly ttlMs?: number;
  /** Milliseconds from any starting point. */
  readonly clock?: () => number;
  /** How many of the sessions may be in this table at first; all if absent. */
  readonly share?: number;
}

/** What tells a repeated request to fork from another one. */
export const createForkKey = (source: TableSession): string =>
  `fork of ${source.id} at ${source.digest}`;

const defaultCapacity = 16_384;
const defaultTtlMs = 30 * 60_000;

export class SessionTable {
  /** The most sessions of the service. */
  readonly capacity: number;
  /** The most sessions of this table, which is less where other processes hold the others. */
  share: number;
  /** Sessions that are open but not in memory, which `SessionKeeper` rebuilds when they are used. */
  setAside = 0;
  /** Sessions that are being opened and are not in the table yet. */
  opening = 0;
  /** Sessions that are being rebuilt, whose changes are not news to listeners. */
  readonly rebuilding = new Set<string>();
  readonly #catalog: Catalog;
  readonly #ttlMs: number;
  readonly #clock: () => number;
  readonly #sessions = new Map<string, TableSession>();
  readonly #listeners = new Set<(change: SessionChange) => void>();
  /** The ids of the last sessions that were closed because they were idle. */
  readonly #idleIds = new LRUCache<string, true>({ max: 4_096 });

  constructor({
    catalog,
    capacity = defaultCapacity,
    ttlMs = defaultTtlMs,
    clock = () => performance.now(),
    share = capacity,
  }: TableOptions) {
    this.#catalog = catalog;
    this.capacity = capacity;
    this.share = share;
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  get size(): number {
    return this.#sessions.size + this.setAside;
  }

  /** How many more sessions may be opened. */
  get room(): number {
    return this.share - this.size - this.opening;
  }

  get all(): readonly TableSession[] {
    return [...this.#sessions.values()];
  }

  /** Calls the listener after every change. Returns a function that removes the listener. */
  onChange(listener: (change: SessionChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The session with that id, which counts as a use of it. */
  get(id: string): TableSession | undefined {
    const session = this.#sessions.get(id);
    if (!session) return undefined;
    if (this.#isIdle(session)) {
      this.#close(session, "idle");
      return undefined;
    }
    session.usedAt = this.#clock();
    return session;
  }

  /** Whether a session with that id was closed because it was idle for too long. */
  wasIdle(id: string): boolean {
    return this.#idleIds.has(id);
  }

  /**
   * Opens a session. Repeating a request with the same id and options returns the same session.
   * Throws a `CapacityError`, a `SessionIdConflict` or a `UserError`.
   */
  open({
    id = createSessionId(),
    owner,
    ttlMs,
    attempt,
    memo,
    ...origin
  }: OpenOptions): TableSession {
    const { servers, seed, menu } = origin;
    const key = canonicalJson({ servers, seed, menu, attempt: attempt?.key });
    const open = this.findOpen(id, key);
    if (open) return open;
    const session = this.#add({ id, key, owner, origin, ttlMs }, () =>
      openSessionByName(this.#catalog, { ...origin, memo }),
    );
    if (!attempt) return session;
    try {
      session.startAttempt(attempt.start);
      return session;
    } catch (error) {
      this.#close(session, "deleted");
      throw error;
    }
  }

  /**
   * Opens another session that starts from this one's state. Repeating a request with the same id
   * returns the same session, as long as the source has not changed.
   */
  fork(
    source: TableSession,
    { id = createSessionId(), owner = source.owner, ttlMs = source.ttlMs }: ForkOptions = {},
  ): TableSession {
    const key = createForkKey(source);
    const { origin, initialState, initialTools } = source;
    return (
      this.findOpen(id, key) ??
      this.#add({ id, key, owner, origin, ttlMs, initialState, initialTools }, () => source.fork())
    );
  }

  /** Begins a session anew as a fork of itself, as `fork` would have opened it. */
  forkInPlace(id: string, key: string, options: Omit<ForkOptions, "id">): void {
    const source = this.#sessions.get(id)!;
    const { owner = source.owner, ttlMs = source.ttlMs } = options;
    const { origin, initialState, initialTools } = source;
    this.#sessions.delete(id);
    this.#add({ id, key, owner, origin, ttlMs, initialState, initialTools }, () => source.fork());
  }

  /** Removes a session that is to be rebuilt when it is used again. */
  drop(id: string): void {
    this.#sessions.delete(id);
  }

  /** Closes a session. Returns whether there was one with that id. */
  close(id: string): boolean {
    const session = this.#sessions.get(id);
    if (session) this.#close(session, "deleted");
    return session !== undefined;
  }

  /** Closes the sessions that have been idle for longer than their time to live. */
  closeIdle(): void {
    for (const session of this.#sessions.values())
      if (this.#isIdle(session)) this.#close(session, "idle");
  }

  /** Closes all sessions and removes all listeners. */
  closeAll(): void {
    for (const session of this.#sessions.values()) this.#close(session, "ended");
    this.#listeners.clear();
  }

  /**
   * The open session with that id. Throws a `SessionIdConflict` if it was opened with another key.
   */
  findOpen(id: string, key: string): TableSession | undefined {
    const session = this.get(id);
    if (session && session.key !== key) throw new SessionIdConflict(id);
    return session;
  }

  #add(
    {
      ttlMs = this.#ttlMs,
      ...options
    }: Omit<TableSessionOptions, "servers" | "usedAt" | "ttlMs"> & { ttlMs: number | undefined },
    open: () => Session,
  ): TableSession {
    if (!this.rebuilding.has(options.id)) this.checkRoom();
    const servers = options.origin.servers.map(it => this.#catalog.getServer(it.name));
    const session = new TableSession(
      { ...options, ttlMs, usedAt: this.#clock(), servers },
      open(),
      change => this.#notify(change),
    );
    this.#sessions.set(session.id, session);
    this.#idleIds.delete(session.id);
    this.#notify({ kind: "opened", session });
    return session;
  }

  /** Throws a `CapacityError` if no other session can be opened. */
  checkRoom(): void {
    if (this.size >= this.share) this.closeIdle();
    if (this.size >= this.share) throw new CapacityError();
  }

  #close(session: TableSession, why: "deleted" | "idle" | "ended"): void {
    this.#sessions.delete(session.id);
    if (why === "idle") this.#idleIds.set(session.id, true);
    this.#notify({ kind: "closed", session, why });
  }

  #isIdle(session: TableSession): boolean {
    return this.#clock() - session.usedAt > session.ttlMs;
  }

  #notify(change: SessionChange): void {
    if (this.rebuilding.has(change.session.id)) return;
    for (const listener of this.#listeners) listener(change);
  }
}

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

interface TableSessionOptions {
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
  #preparing: Promise<void> | undefined;

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
   * message of the call before. Arguments may be what models write for them: nothing, or JSON as
   * text. Throws an `HttpError` if the attempt has ended.
   */
  call(name: string, given: unknown, { parallel = false } = {}): CallResult {
    const args = parseArguments(given);
    if (!this.#attempt) return this.#execute(name, args);
    if (!parallel || !this.#attempt.isMessageOpen)
      this.continueAttempt().startMessage({ text: "" });
    return this.#attempt.call(name, args);
  }

  /**
   * Runs a request once the servers that run elsewhere have answered its calls, so that no other
   * session waits for them. Requests run in the order in which they came.
   */
  runPrepared<T>(listCalls: () => readonly GivenCall[], run: () => T): T | Promise<T> {
    if (!this.servers.some(it => it.isConnected)) return run();
    const before = this.#preparing ?? Promise.resolve();
    const result = before.then(async () => {
      await this.#session.prepare(
        listCalls()
          .slice(0, maxCallsInMessage)
          .map(it => ({ name: it.name, arguments: parseArguments(it.arguments) })),
      );
      return run();
    });
    // an error reaches the sender through `result`
    this.#preparing = result.then(
      () => {},
      () => {},
    );
    return result;
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

interface GivenCall {
  readonly name: string;
  readonly arguments?: unknown;
}

/** An id of 128 random bits. */
export const createSessionId = (): string => randomBytes(16).toString("base64url");

/** Why a text cannot be a session id, or undefined. */
export function findSessionIdProblem(id: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{22,128}$/.test(id))
    return "a session id is 22 to 128 letters, digits, _ or -";
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id))
    return "a UUID has 122 random bits, and a session id needs 128";
  const bitsPerCharacter = /^\d+$/.test(id) ? Math.log2(10) : /^[0-9a-f]+$/i.test(id) ? 4 : 6;
  return id.length * bitsPerCharacter < 128 || new Set(id).size < 8
    ? "a session id needs at least 128 random bits"
    : undefined;
}
