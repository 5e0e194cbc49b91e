/**
 * The sessions that are open in this window, whoever opened them: a person by hand, or an agent
 * through the service. Each with its owner and its last calls. Knows neither trees nor how
 * arguments are asked for.
 */
import { EventEmitter, type Disposable, type Event } from "vscode";
import type { JsonObject } from "../../environment/json.ts";
import { UserError } from "../../userError.ts";
import type { Change, HeldSession, SessionCall, SessionTable } from "../../service/table.ts";
import type { Definitions } from "./definitions.ts";
import { requireTrust } from "../shared/proveFolder.ts";

/** The owner of what a person opened by hand. */
export const personOwner = "you";

export interface LiveSession {
  /** As it is shown: the first of this window is 1. */
  readonly number: number;
  readonly held: HeldSession;
  /** The number of the session that it was forked from. */
  readonly forkOf?: number;
  /** The last ones, in order; since the last reset. */
  readonly calls: readonly SessionCall[];
}

/** An agent may call for hours: what is further back than this is no longer shown. */
const maxCalls = 500;

export class LiveSessions implements Disposable {
  readonly #definitions: Definitions;
  readonly #changed = new EventEmitter<void>();
  /** Told at most a few times in a tenth of a second. */
  readonly onDidChange: Event<void> = this.#changed.event;
  readonly #sessionOpened = new EventEmitter<LiveSession>();
  /** Of those that a person opened. */
  readonly onDidOpen: Event<LiveSession> = this.#sessionOpened.event;
  readonly #sessions = new Map<HeldSession, LiveSession & { calls: SessionCall[] }>();
  #table: Promise<SessionTable> | undefined;
  #sessionCount = 0;
  #forkSource: number | undefined;
  #pendingChange: NodeJS.Timeout | undefined;

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  get all(): readonly LiveSession[] {
    return [...this.#sessions.values()];
  }

  listByServer(server: string): readonly LiveSession[] {
    return this.all.filter(it => it.held.servers.some(of => of.name === server));
  }

  get(number: number): LiveSession | undefined {
    return this.all.find(it => it.number === number);
  }

  /** The table itself, for a service that lets others in. */
  openTable(): Promise<SessionTable> {
    return (this.#table ??= this.#openTable());
  }

  /** Opens a session on a fixture as it is saved now. It stays until it is closed. */
  async open(server: string, fixture: string, owner = personOwner): Promise<LiveSession> {
    requireTrust("opening a session");
    const table = await this.openTable();
    return this.#findLive(
      table.open({ servers: [{ name: server, fixture }], seed: 1, owner, ttlMs: Infinity }),
    );
  }

  /** The call is made, and shown by everyone who listens. */
  call(live: LiveSession, name: string, args: JsonObject): SessionCall {
    this.#requireOpen(live).call(name, args);
    return live.calls.at(-1)!;
  }

  /** Back to the state that it was opened on. */
  reset(live: LiveSession): void {
    this.#requireOpen(live).reset();
  }

  /** Another session that starts from this one's state, and is the person's. */
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
    (await this.openTable()).close(live.held.id);
  }

  dispose(): void {
    clearTimeout(this.#pendingChange);
    void this.#table?.then(it => it.end());
    this.#sessions.clear();
    this.#changed.dispose();
    this.#sessionOpened.dispose();
  }

  async #openTable(): Promise<SessionTable> {
    const [catalog, { SessionTable: Table }] = await Promise.all([
      this.#definitions.followingCatalog(),
      import("../../service/table.ts"),
    ]);
    const table = new Table({ catalog });
    table.onChange(it => this.#applyChange(it));
    return table;
  }

  /**
   * It may have been closed, by its owner or another command, while a person was asked something.
   */
  #requireOpen({ held, number }: LiveSession): HeldSession {
    if (!this.#sessions.has(held))
      throw new UserError(`session ${number} was closed`, "open another one");
    return held;
  }

  #findLive(held: HeldSession): LiveSession {
    const live = this.#sessions.get(held);
    if (!live) throw new Error(`session ${held.id} was opened and is not known`);
    return live;
  }

  #applyChange(change: Change): void {
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
        throw new Error(`no such change ${JSON.stringify(change satisfies never)}`);
    }
    // an agent calls faster than anyone reads
    this.#pendingChange ??= setTimeout(() => this.#fireChange(), 40);
  }

  #fireChange(): void {
    clearTimeout(this.#pendingChange);
    this.#pendingChange = undefined;
    this.#changed.fire();
  }

  #addSession(held: HeldSession): void {
    const live = {
      number: ++this.#sessionCount,
      held,
      calls: [],
      ...(this.#forkSource === undefined ? {} : { forkOf: this.#forkSource }),
    };
    this.#sessions.set(held, live);
    if (held.owner !== personOwner) return;
    // a tree shows what it was told of
    this.#fireChange();
    this.#sessionOpened.fire(live);
  }
}

/** A session in words: `Session 3 on small`. */
export function formatSessionTitle({ number, held, forkOf }: LiveSession): string {
  const fixtures = [...new Set(held.origin.servers.map(it => it.fixture))].join(", ");
  return `Session ${number} ${forkOf === undefined ? `on ${fixtures}` : `forked from ${forkOf}`}`;
}

/** Whose session it is and what has happened in it. */
export function describeSession({ held, calls }: LiveSession): string {
  const done =
    held.calls === 0
      ? "as opened"
      : calls.length === 0
        ? "reset"
        : `${calls.length} ${calls.length === 1 ? "call" : "calls"}`;
  return held.owner === personOwner ? done : `${held.owner} · ${done}`;
}
