/**
 * The sessions that are open in this window, each with its owner and its last calls. The person
 * opens sessions from the editor, agents through the HTTP service.
 */
import { EventEmitter, type Disposable, type Event } from "vscode";
import type { JsonObject } from "../../environment/json.ts";
import { UserError } from "../../userError.ts";
import type { SessionTable } from "../../service/sessionTable.ts";
import type { SessionChange, TableSession, SessionCall } from "../../service/tableSession.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { formatCount } from "../shared/count.ts";
import { requireTrust } from "../shared/proveFolder.ts";

/** The owner of the sessions that the person opened. */
export const personOwner = "you";

export interface LiveSession {
  /** The number in the title, counted from 1 in this window. */
  readonly number: number;
  readonly session: TableSession;
  /** The number of the session that it was forked from. */
  readonly forkOf?: number;
  /** The last calls since the session was opened or reset, in order. */
  readonly calls: readonly SessionCall[];
}

/** The most calls kept of a session: an agent may call for hours. */
const maxCalls = 500;

export class LiveSessions implements Disposable {
  readonly #definitions: ServerDefinitions;
  readonly #changed = new EventEmitter<void>();
  /** Fires at most every 40 ms. */
  readonly onDidChange: Event<void> = this.#changed.event;
  readonly #sessionOpened = new EventEmitter<LiveSession>();
  /** Fires for the sessions that the person opens. */
  readonly onDidOpen: Event<LiveSession> = this.#sessionOpened.event;
  readonly #sessions = new Map<TableSession, LiveSession & { calls: SessionCall[] }>();
  #table: Promise<SessionTable> | undefined;
  #sessionCount = 0;
  #forkSource: number | undefined;
  #pendingChange: NodeJS.Timeout | undefined;

  constructor(definitions: ServerDefinitions) {
    this.#definitions = definitions;
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
  call(live: LiveSession, name: string, args: JsonObject): SessionCall {
    this.#requireOpen(live).call(name, args);
    return live.calls.at(-1)!;
  }

  /** Resets a session to the state it was opened with. */
  reset(live: LiveSession): void {
    this.#requireOpen(live).reset();
  }

  /** Opens another session of the person's that starts from this one's state. */
  async fork(live: LiveSession): Promise<LiveSession> {
    requireTrust("opening a session");
    const table = await this.openTable();
    this.#forkSource = live.number;
    try {
      return this.#findLive(
        table.fork(this.#requireOpen(live), { owner: personOwner, ttlMs: Infinity }),
      );
    } finally {
      this.#forkSource = undefined;
    }
  }

  async close(live: LiveSession): Promise<void> {
    (await this.openTable()).close(live.session.id);
  }

  dispose(): void {
    clearTimeout(this.#pendingChange);
    void this.#table?.then(it => it.closeAll());
    this.#sessions.clear();
    this.#changed.dispose();
    this.#sessionOpened.dispose();
  }

  async #openTable(): Promise<SessionTable> {
    const [catalog, { SessionTable: Table }] = await Promise.all([
      this.#definitions.openLiveCatalog(),
      import("../../service/sessionTable.ts"),
    ]);
    const table = new Table({ catalog });
    table.onChange(it => this.#applyChange(it));
    return table;
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
        this.#addSession(change.session);
        break;
      case "called":
        if (live && live.calls.push(change.call) > maxCalls) live.calls.shift();
        break;
      case "restored":
        live?.calls.splice(0);
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
    this.#changed.fire();
  }

  #addSession(session: TableSession): void {
    const live = {
      number: ++this.#sessionCount,
      session,
      calls: [],
      ...(this.#forkSource === undefined ? {} : { forkOf: this.#forkSource }),
    };
    this.#sessions.set(session, live);
    if (session.owner !== personOwner) return;
    // the tree must be current before the session is revealed in it
    this.#fireChange();
    this.#sessionOpened.fire(live);
  }
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
