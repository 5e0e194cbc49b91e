/**
 * The sessions that are open in this window, whoever opened them: a person by hand, or an agent
 * through the service. Each with its owner and its last calls. Knows neither trees nor how
 * arguments are asked for.
 */
import { EventEmitter, type Disposable, type Event } from "vscode";
import type { JsonObject } from "../../environment/json.ts";
import { UserError } from "../../userError.ts";
import type { Change, HeldSession, MadeCall, SessionTable } from "../../service/table.ts";
import type { Definitions } from "./definitions.ts";
import { requireTrust } from "../shared/proveFolder.ts";

/** The owner of what a person opened by hand. */
export const byHand = "you";

export interface LiveSession {
  /** As it is shown: the first of this window is 1. */
  readonly number: number;
  readonly held: HeldSession;
  /** The number of the session that it was forked from. */
  readonly forkOf?: number;
  /** The last ones, in order; since the last reset. */
  readonly calls: readonly MadeCall[];
}

/** An agent may call for hours: what is further back than this is no longer shown. */
const mostCalls = 500;

export class LiveSessions implements Disposable {
  readonly #definitions: Definitions;
  readonly #changed = new EventEmitter<void>();
  /** Told at most a few times in a tenth of a second. */
  readonly onDidChange: Event<void> = this.#changed.event;
  readonly #begun = new EventEmitter<LiveSession>();
  /** Of those that a person opened. */
  readonly onDidOpen: Event<LiveSession> = this.#begun.event;
  readonly #sessions = new Map<HeldSession, LiveSession & { calls: MadeCall[] }>();
  #table: Promise<SessionTable> | undefined;
  #opened = 0;
  #forking: number | undefined;
  #telling: NodeJS.Timeout | undefined;

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  get all(): readonly LiveSession[] {
    return [...this.#sessions.values()];
  }

  of(server: string): readonly LiveSession[] {
    return this.all.filter(it => it.held.servers.some(of => of.name === server));
  }

  get(number: number): LiveSession | undefined {
    return this.all.find(it => it.number === number);
  }

  /** The table itself, for a service that lets others in. */
  table(): Promise<SessionTable> {
    return (this.#table ??= this.#openTable());
  }

  /** Opens a session on a fixture as it is saved now. It stays until it is closed. */
  async open(server: string, fixture: string, owner = byHand): Promise<LiveSession> {
    requireTrust("opening a session");
    const table = await this.table();
    return this.#live(
      table.open({ servers: [{ name: server, fixture }], seed: 1, owner, ttlMs: Infinity }),
    );
  }

  /** The call is made, and shown by everyone who listens. */
  call(live: LiveSession, name: string, args: JsonObject): MadeCall {
    this.#open(live).call(name, args);
    return live.calls.at(-1)!;
  }

  /** Back to the state that it was opened on. */
  reset(live: LiveSession): void {
    this.#open(live).reset();
  }

  /** Another session that starts from this one's state, and is the person's. */
  async fork(live: LiveSession): Promise<LiveSession> {
    requireTrust("opening a session");
    const table = await this.table();
    this.#forking = live.number;
    try {
      return this.#live(table.fork(this.#open(live), { owner: byHand, ttlMs: Infinity }));
    } finally {
      this.#forking = undefined;
    }
  }

  async close(live: LiveSession): Promise<void> {
    (await this.table()).close(live.held.id);
  }

  dispose(): void {
    clearTimeout(this.#telling);
    void this.#table?.then(it => it.end());
    this.#sessions.clear();
    this.#changed.dispose();
    this.#begun.dispose();
  }

  async #openTable(): Promise<SessionTable> {
    const [catalog, { SessionTable: Table }] = await Promise.all([
      this.#definitions.followingCatalog(),
      import("../../service/table.ts"),
    ]);
    const table = new Table({ catalog });
    table.onChange(it => this.#hear(it));
    return table;
  }

  /**
   * It may have been closed, by its owner or another command, while a person was asked something.
   */
  #open({ held, number }: LiveSession): HeldSession {
    if (!this.#sessions.has(held))
      throw new UserError(`session ${number} was closed`, "open another one");
    return held;
  }

  #live(held: HeldSession): LiveSession {
    const live = this.#sessions.get(held);
    if (!live) throw new Error(`session ${held.id} was opened and is not known`);
    return live;
  }

  #hear(change: Change): void {
    const live = this.#sessions.get(change.session);
    switch (change.kind) {
      case "opened":
        this.#begin(change.session);
        break;
      case "called":
        if (live && live.calls.push(change.call) > mostCalls) live.calls.shift();
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
    this.#telling ??= setTimeout(() => this.#tell(), 40);
  }

  #tell(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    this.#changed.fire();
  }

  #begin(held: HeldSession): void {
    const live = {
      number: ++this.#opened,
      held,
      calls: [],
      ...(this.#forking === undefined ? {} : { forkOf: this.#forking }),
    };
    this.#sessions.set(held, live);
    if (held.owner !== byHand) return;
    // a tree shows what it was told of
    this.#tell();
    this.#begun.fire(live);
  }
}

/** A session in words: `Session 3 on small`. */
export function titleOf({ number, held, forkOf }: LiveSession): string {
  const fixtures = [...new Set(held.origin.servers.map(it => it.fixture))].join(", ");
  return `Session ${number} ${forkOf === undefined ? `on ${fixtures}` : `forked from ${forkOf}`}`;
}

/** Whose session it is and what has happened in it. */
export function storyOf({ held, calls }: LiveSession): string {
  const done =
    held.calls === 0
      ? "as opened"
      : calls.length === 0
        ? "reset"
        : `${calls.length} ${calls.length === 1 ? "call" : "calls"}`;
  return held.owner === byHand ? done : `${held.owner} · ${done}`;
}
