/**
 * The sessions that are open in this window, each with its owner and its last calls. The person
 * opens sessions from the editor, agents through the HTTP service.
 */
import type { Call } from "../../environment/outcome.ts";
import { EventEmitter, workspace, type Disposable, type Event } from "vscode";
import type { JsonObject } from "../../environment/json.ts";
import { prepareCalls } from "../../environment/catalog.ts";
import { computeDigest } from "../../environment/digest.ts";
import { listAddedTools, type Trajectory } from "../../trajectory/trajectory.ts";
import { UserError } from "../../userError.ts";
import type {
  SessionTable,
  SessionChange,
  TableSession,
  SessionCall,
} from "../../service/sessions/sessionTable.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { formatCount } from "../shared/text.ts";
import { showWarning } from "../shared/notifications.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import { reportError } from "../shared/report.ts";
import {
  type AttemptPosition,
  createSessionTrajectory,
  type SessionStore,
  type StoredSession,
} from "./storedSessions.ts";

/** The owner of the sessions that the person opened. */
export const personOwner = "you";

export interface LiveSession {
  /** The number in the title, counted from 1. It stays the same when the window is reloaded. */
  readonly number: number;
  readonly session: TableSession;
  /** The number of the session, or the title of the attempt, that it was forked from. */
  readonly forkOf?: number | string;
  /** The attempt that it goes on from. */
  readonly attempt?: AttemptPosition;
  /** The last calls since the session was opened or reset, in order. */
  readonly calls: readonly SessionCall[];
  /** The calls that lead from the fixture to the state; undefined if they are too many to keep. */
  readonly history: readonly Call[] | undefined;
}

type WritableSession = { -readonly [Key in keyof LiveSession]: LiveSession[Key] } & {
  readonly calls: SessionCall[];
};

/** The most calls kept of a session: an agent may call for hours. */
const maxCalls = 500;

export class LiveSessions implements Disposable {
  readonly #definitions: ServerDefinitions;
  readonly #store: SessionStore;
  readonly #changed = new EventEmitter<void>();
  /** Fires at most every 40 ms. */
  readonly onDidChange: Event<void> = this.#changed.event;
  readonly #sessionOpened = new EventEmitter<LiveSession>();
  /** Fires for the sessions that the person opens. */
  readonly onDidOpen: Event<LiveSession> = this.#sessionOpened.event;
  readonly #sessions = new Map<TableSession, WritableSession>();
  /** The stored sessions that are not open: not yet, or because their fixture is missing. */
  #stored: readonly StoredSession[] = [];
  #storedText: string;
  #table: Promise<SessionTable> | undefined;
  #sessionCount = 0;
  /** The session that is being forked. */
  #forkSource: LiveSession | undefined;
  /** The attempt that is being forked. */
  #attempt: AttemptPosition | undefined;
  /** The stored session that is being opened again. */
  #reopened: StoredSession | undefined;
  #pendingChange: NodeJS.Timeout | undefined;
  #isDisposed = false;

  /** Sessions of the person are kept in the store, and opened again from it. */
  constructor(definitions: ServerDefinitions, store: SessionStore) {
    this.#definitions = definitions;
    this.#store = store;
    try {
      this.#stored = store.read();
    } catch (error) {
      reportError(error);
    }
    this.#storedText = JSON.stringify(this.#stored);
  }

  /** Opens the sessions again that were open before the window was reloaded. */
  async reopenStored(): Promise<void> {
    if (this.#stored.length > 0 && workspace.isTrusted) await this.openTable();
  }

  get all(): readonly LiveSession[] {
    return [...this.#sessions.values()];
  }

  listByServer(server: string): readonly LiveSession[] {
    return this.all.filter(it => it.session.servers.some(({ name }) => name === server));
  }

  get(number: number): LiveSession | undefined {
    return this.all.find(it => it.number === number);
  }

  /** The table of the sessions, which a service can share with agents. */
  openTable(): Promise<SessionTable> {
    return (this.#table ??= this.#openTable());
  }

  /** Opens a session on a fixture as it is saved now. It stays open until it is closed. */
  async open(server: string, fixture: string, owner = personOwner): Promise<LiveSession> {
    requireTrust("opening a session");
    const table = await this.openTable();
    return this.#findLive(
      table.open({ servers: [{ name: server, fixture }], seed: 1, owner, ttlMs: Infinity }),
    );
  }

  /** Makes a call and returns its record. */
  async call(live: LiveSession, name: string, args: JsonObject): Promise<SessionCall> {
    return this.#requireOpen(live).runPrepared(
      () => [{ name, arguments: args }],
      () => {
        this.#requireOpen(live).call(name, args);
        return live.calls.at(-1)!;
      },
    );
  }

  /** Resets a session to the state it was opened with. */
  reset(live: LiveSession): void {
    this.#requireOpen(live).reset();
  }

  /** Opens another session of the person's that starts from this one's state. */
  async fork(live: LiveSession): Promise<LiveSession> {
    requireTrust("opening a session");
    const table = await this.openTable();
    this.#forkSource = live;
    try {
      return this.#findLive(
        table.fork(this.#requireOpen(live), { owner: personOwner, ttlMs: Infinity }),
      );
    } finally {
      this.#forkSource = undefined;
    }
  }

  /**
   * Opens a session of the person's that goes on from a position in an attempt, by making the
   * attempt's calls. Throws a `UserError` if they lead to another state than `digest`.
   */
  async forkAttempt(attempt: AttemptPosition, digest: string): Promise<LiveSession> {
    requireTrust("opening a session");
    const table = await this.openTable();
    const { header, events } = attempt;
    const { servers, seed } = header;
    const menu = [...new Set([...header.menu, ...listAddedTools(events)])];
    const calls = events.filter(it => it.kind === "call");
    await prepareCalls(await this.#definitions.openLiveCatalog(), header, calls);
    this.#attempt = attempt;
    try {
      const session = table.open({ servers, seed, menu, owner: personOwner, ttlMs: Infinity });
      for (const it of calls) session.call(it.name, it.arguments);
      if (session.digest === digest) return this.#announce(this.#findLive(session));
      table.close(session.id);
    } finally {
      this.#attempt = undefined;
    }
    throw new UserError(
      `the calls of ${attempt.title} lead to another state in a session`,
      "start Step Through Trajectory again, or fork at an earlier position",
    );
  }

  /** The trajectory of a session. Throws a `UserError` if its calls do not lead to its state. */
  async createTrajectory(live: LiveSession): Promise<Trajectory> {
    const catalog = await this.#definitions.openCatalog();
    const found = this.#findLive(live.session);
    await prepareCalls(catalog, found.session.origin, found.history ?? []);
    return createSessionTrajectory(catalog, found);
  }

  async close(live: LiveSession): Promise<void> {
    (await this.openTable()).close(live.session.id);
  }

  dispose(): void {
    if (this.#pendingChange) this.#storeSessions();
    clearTimeout(this.#pendingChange);
    // the sessions that are closed now are opened again after the reload
    this.#isDisposed = true;
    void this.#table?.then(it => it.closeAll());
    this.#sessions.clear();
    this.#changed.dispose();
    this.#sessionOpened.dispose();
  }

  async #openTable(): Promise<SessionTable> {
    const [catalog, { SessionTable: Table }] = await Promise.all([
      this.#definitions.openLiveCatalog(),
      import("../../service/sessions/sessionTable.ts"),
    ]);
    for (const it of this.#stored) await prepareCalls(catalog, it, it.calls);
    const table = new Table({ catalog });
    table.onChange(it => this.#applyChange(it));
    this.#reopenAll(table);
    return table;
  }

  /** Opens the stored sessions by repeating their calls. One that cannot be opened stays stored. */
  #reopenAll(table: SessionTable): void {
    const failed: StoredSession[] = [];
    for (const stored of this.#stored)
      try {
        this.#reopen(table, stored);
      } catch (error) {
        failed.push(stored);
        reportError(
          error instanceof UserError
            ? new UserError(
                `session ${stored.number} could not be opened again: ${error.what}`,
                error.remedy,
              )
            : error,
        );
      }
    this.#stored = failed;
  }

  #reopen(table: SessionTable, stored: StoredSession): void {
    const { number, servers, seed, menu, calls, digest } = stored;
    const pins = { servers, seed, ...(menu ? { menu } : {}) };
    this.#reopened = stored;
    try {
      const session = table.open({ ...pins, owner: personOwner, ttlMs: Infinity });
      for (const it of calls) session.call(it.name, it.arguments);
      if (session.digest !== digest)
        void showWarning(
          `Session ${number} was opened again on a fixture or tools that have changed. Its calls led to another state than before.`,
        );
    } finally {
      this.#reopened = undefined;
    }
  }

  /** Throws a `UserError` if the session was closed while the person answered a question. */
  #requireOpen({ session, number }: LiveSession): TableSession {
    if (!this.#sessions.has(session))
      throw new UserError(`session ${number} was closed`, "open another one");
    return session;
  }

  #findLive(session: TableSession): LiveSession {
    const live = this.#sessions.get(session);
    if (!live) throw new Error(`no live session for ${session.id}`);
    return live;
  }

  #applyChange(change: SessionChange): void {
    const live = this.#sessions.get(change.session);
    switch (change.kind) {
      case "opened":
        // a refresh while the session is revealed would end the reveal
        if (this.#addSession(change.session)) return;
        break;
      case "called":
        if (live) addCall(live, change.call);
        if (this.#attempt) return; // the fork is announced after its calls
        break;
      case "restored":
        live?.calls.splice(0);
        if (live) live.history = isAsOpened(change.session) ? [] : undefined;
        break;
      case "closed":
        this.#sessions.delete(change.session);
        break;
      default:
        throw new Error(`unknown change ${JSON.stringify(change satisfies never)}`);
    }
    // an agent makes calls faster than anyone can read them
    this.#pendingChange ??= setTimeout(() => this.#fireChange(), 40);
  }

  #fireChange(): void {
    clearTimeout(this.#pendingChange);
    this.#pendingChange = undefined;
    this.#storeSessions();
    this.#changed.fire();
  }

  #storeSessions(): void {
    if (this.#isDisposed) return;
    const sessions = [...this.#stored, ...[...this.#sessions.values()].flatMap(toStored)];
    const text = JSON.stringify(sessions);
    // calls of agents change nothing that is stored
    if (text === this.#storedText) return;
    this.#storedText = text;
    try {
      this.#store.write(sessions);
    } catch (error) {
      // the sessions stay open, and are stored with the next change
      reportError(error);
    }
  }

  /** Whether the person opened the session, which is shown in the tree at once. */
  #addSession(session: TableSession): boolean {
    const forkOf = this.#reopened
      ? this.#reopened.forkOf
      : (this.#forkSource?.number ?? this.#attempt?.title);
    const attempt = this.#attempt ?? this.#forkSource?.attempt ?? this.#reopened?.attempt;
    const live: WritableSession = {
      number: this.#reopened?.number ?? this.#takeNumber(),
      session,
      calls: [],
      history: this.#forkSource ? this.#forkSource.history : [],
      ...(forkOf === undefined ? {} : { forkOf }),
      ...(attempt ? { attempt } : {}),
    };
    this.#sessions.set(session, live);
    if (session.owner !== personOwner || this.#reopened) return false;
    if (!this.#attempt) this.#announce(live);
    return true;
  }

  /** A number that no session of this or another window has. */
  #takeNumber(): number {
    this.#sessionCount = 1 + Math.max(this.#sessionCount, this.#store.lastNumber);
    return this.#sessionCount;
  }

  /** Lets the tree reveal a session that the person opened. */
  #announce(live: LiveSession): LiveSession {
    // the tree must be current before the session is revealed in it
    this.#fireChange();
    this.#sessionOpened.fire(live);
    return live;
  }
}

/** Whether a session is in the state that it was opened with. An agent can restore any state. */
const isAsOpened = ({ initialState, digest }: TableSession) =>
  computeDigest(initialState) === digest;

function addCall(live: WritableSession, call: SessionCall): void {
  if (live.calls.push(call) > maxCalls) live.calls.shift();
  const history = [...(live.history ?? []), { name: call.name, arguments: call.arguments }];
  live.history = live.history && history.length <= maxCalls ? history : undefined;
}

/** A session of the person as it is stored; none if its calls are too many. */
function toStored({ number, forkOf, attempt, session, history }: LiveSession): StoredSession[] {
  if (session.owner !== personOwner || !history) return [];
  const { origin, digest } = session;
  const { servers, seed, menu } = origin;
  return [
    {
      number,
      servers,
      seed,
      calls: history,
      digest,
      ...(menu ? { menu } : {}),
      ...(forkOf === undefined ? {} : { forkOf }),
      ...(attempt ? { attempt } : {}),
    },
  ];
}

/** Formats the title of a session, such as "Session 3 on small". */
export function formatSessionTitle({ number, session, forkOf }: LiveSession): string {
  const fixtures = [...new Set(session.origin.servers.map(it => it.fixture))].join(", ");
  return `Session ${number} ${forkOf === undefined ? `on ${fixtures}` : `forked from ${forkOf}`}`;
}

/** Describes the owner of a session and its calls. */
export function describeSession({ session, calls }: LiveSession): string {
  const unchanged = session.callCount === 0 ? "as opened" : "reset";
  const history = calls.length === 0 ? unchanged : formatCount(calls.length, "call");
  return session.owner === personOwner ? history : `${session.owner} · ${history}`;
}
