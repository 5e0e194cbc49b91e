/**
 * The sessions that are open, by id: who opened each, what it grew from, when it was last used.
 * Full is refused and idle is closed with a word about it; nothing is ever evicted in silence.
 * Knows no wire.
 */
import { LRUCache } from "lru-cache";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import type { Digest } from "../environment/digest.ts";
import { canonicalJson, type Json } from "../environment/json.ts";
import type { CallResult, CompletedCall } from "../environment/outcome.ts";
import type { Server } from "../environment/server.ts";
import type { Session } from "../environment/session.ts";
import { parseState, type State } from "../environment/state.ts";
import { createSessionId } from "./sessionId.ts";

/** What a session grows from, by names. */
export interface Origin {
  readonly servers: readonly { readonly name: string; readonly fixture: string }[];
  readonly seed: number;
  readonly menu?: readonly string[];
}

export interface OpenOptions extends Origin {
  /** At least 128 random bits; a new one where it is absent. */
  readonly id?: string;
  /** Who opens it, in words for a person: `agent`, `trl`, … */
  readonly owner: string;
  /** Idle for longer than this, it is closed; `Infinity` keeps it. */
  readonly ttlMs?: number;
}

/** One call in a session, with the states before and after it, which are shared values. */
export interface SessionCall extends CompletedCall, CallResult {
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

/** The table is full. */
export class CapacityError extends Error {}

/** The id is taken by a session that was opened otherwise. */
export class SessionIdConflict extends Error {}

export interface TableOptions {
  readonly catalog: Catalog;
  readonly capacity?: number;
  readonly ttlMs?: number;
  /** Milliseconds, from wherever. */
  readonly clock?: () => number;
}

export const defaultCapacity = 16_384;
export const defaultTtlMs = 30 * 60_000;

export class SessionTable {
  readonly capacity: number;
  readonly #catalog: Catalog;
  readonly #ttlMs: number;
  readonly #clock: () => number;
  readonly #sessions = new Map<string, TableSession>();
  readonly #listeners = new Set<(change: SessionChange) => void>();
  /** Ids of the last sessions that were closed for idleness, so that their owners are told. */
  readonly #idled = new LRUCache<string, true>({ max: 4_096 });

  constructor({
    catalog,
    capacity = defaultCapacity,
    ttlMs = defaultTtlMs,
    clock = () => performance.now(),
  }: TableOptions) {
    this.#catalog = catalog;
    this.capacity = capacity;
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  get size(): number {
    return this.#sessions.size;
  }

  get all(): readonly TableSession[] {
    return [...this.#sessions.values()];
  }

  /** Calls back after every change, until the function that it returns is called. */
  onChange(listener: (change: SessionChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The session of that id, from now on used just now. */
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

  /** Whether that session was there and was closed for being idle too long. */
  wasIdle(id: string): boolean {
    return this.#idled.has(id);
  }

  /**
   * Opens a session; an id that was opened with the same words before gives that session again.
   * Throws `CapacityReached`, `IdTaken`, or a `UserError`.
   */
  open({ id = createSessionId(), owner, ttlMs, ...origin }: OpenOptions): TableSession {
    const key = canonicalJson({ servers: origin.servers, seed: origin.seed, menu: origin.menu });
    return (
      this.#known(id, key) ??
      this.#hold({ id, key, owner, origin, ttlMs }, () => openSessionByName(this.#catalog, origin))
    );
  }

  /**
   * Opens another session that starts from this one's state. Repeated before either has moved on,
   * it gives the same session again.
   */
  fork(
    from: TableSession,
    {
      id = createSessionId(),
      owner = from.owner,
      ttlMs = from.ttlMs,
    }: { id?: string; owner?: string; ttlMs?: number } = {},
  ): TableSession {
    const key = `fork of ${from.id} at ${from.digest}`;
    return (
      this.#known(id, key) ??
      this.#hold({ id, key, owner, origin: from.origin, ttlMs, first: from.first }, () =>
        from.forked(),
      )
    );
  }

  /** Whether there was such a session. */
  close(id: string): boolean {
    const session = this.#sessions.get(id);
    if (session) this.#close(session, "deleted");
    return session !== undefined;
  }

  /** Closes what has been idle for longer than its time to live. */
  reap(): void {
    for (const session of this.#sessions.values())
      if (this.#isIdle(session)) this.#close(session, "idle");
  }

  /** Closes all sessions, and says so. */
  end(): void {
    for (const session of this.#sessions.values()) this.#close(session, "ended");
    this.#listeners.clear();
  }

  #known(id: string, key: string): TableSession | undefined {
    const session = this.get(id);
    if (session && session.key !== key) throw new SessionIdConflict(id);
    return session;
  }

  #hold({ ttlMs = this.#ttlMs, ...given }: Given, open: () => Session): TableSession {
    if (this.size >= this.capacity) this.reap();
    if (this.size >= this.capacity) throw new CapacityError();
    const held = new TableSession(
      {
        ...given,
        ttlMs,
        usedAt: this.#clock(),
        servers: given.origin.servers.map(it => this.#catalog.getServer(it.name)),
      },
      open(),
      it => this.#say(it),
    );
    this.#sessions.set(held.id, held);
    this.#idled.delete(held.id);
    this.#say({ kind: "opened", session: held });
    return held;
  }

  #close(session: TableSession, why: "deleted" | "idle" | "ended"): void {
    this.#sessions.delete(session.id);
    if (why === "idle") {
      this.#idled.set(session.id, true);
    }
    this.#say({ kind: "closed", session, why });
  }

  #isIdle(session: TableSession): boolean {
    return this.#clock() - session.usedAt > session.ttlMs;
  }

  #say(change: SessionChange): void {
    for (const it of this.#listeners) it(change);
  }
}

interface Given {
  readonly id: string;
  readonly key: string;
  readonly owner: string;
  readonly origin: Origin;
  readonly ttlMs: number | undefined;
  readonly first?: State;
}

/**
 * A session in the table. Answers calls as the session itself does, and lets the table's listeners
 * know.
 */
export class TableSession {
  readonly id: string;
  /** How it was opened, for telling a repeated request from another. */
  readonly key: string;
  readonly owner: string;
  readonly origin: Origin;
  readonly servers: readonly Server[];
  readonly ttlMs: number;
  /** The state that a reset gives back: that of its fixtures. */
  readonly first: State;
  usedAt: number;
  readonly #session: Session;
  readonly #say: (change: SessionChange) => void;
  #calls = 0;

  constructor(
    given: Given & {
      readonly ttlMs: number;
      readonly usedAt: number;
      readonly servers: readonly Server[];
    },
    session: Session,
    say: (change: SessionChange) => void,
  ) {
    this.id = given.id;
    this.key = given.key;
    this.owner = given.owner;
    this.origin = given.origin;
    this.servers = given.servers;
    this.ttlMs = given.ttlMs;
    this.usedAt = given.usedAt;
    this.first = given.first ?? session.state;
    this.#session = session;
    this.#say = say;
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

  /** How many calls were made in it. */
  get calls(): number {
    return this.#calls;
  }

  call(name: string, args: unknown): CallResult {
    const before = this.state;
    const result = this.#session.call(name, args);
    this.#say({
      kind: "called",
      session: this,
      call: {
        number: ++this.#calls,
        name,
        arguments: args as Json,
        ...result,
        before,
        after: this.state,
      },
    });
    return result;
  }

  /** Puts a state from outside in place of this one. Throws a `UserError` where it does not fit. */
  restore(state: unknown): void {
    this.#session.restore(parseState(this.servers, state));
    this.#say({ kind: "restored", session: this });
  }

  reset(): void {
    this.#session.restore(this.first);
    this.#say({ kind: "restored", session: this });
  }

  forked(): Session {
    return this.#session.fork();
  }
}
