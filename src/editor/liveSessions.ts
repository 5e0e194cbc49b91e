/**
 * The sessions that a person has opened by hand, with every call made in them. Knows neither trees nor how arguments are
 * asked for.
 */
import { EventEmitter, type Disposable, type Event } from "vscode";
import { openByName } from "../environment/catalog.ts";
import type { JsonObject } from "../environment/json.ts";
import type { Called } from "../environment/outcome.ts";
import type { Session, State } from "../environment/session.ts";
import type { Definitions } from "./definitions.ts";
import { mustBeTrusted } from "./proveFolder.ts";

/** One call made by hand. States are shared values: keeping both costs nothing. */
export interface MadeCall {
  readonly number: number;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly called: Called;
  readonly before: State;
  readonly after: State;
}

export interface LiveSession {
  readonly number: number;
  readonly server: string;
  readonly fixture: string;
  readonly session: Session;
  readonly calls: readonly MadeCall[];
}

export class LiveSessions implements Disposable {
  readonly #definitions: Definitions;
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange: Event<void> = this.#changed.event;
  readonly #begun = new EventEmitter<LiveSession>();
  readonly onDidOpen: Event<LiveSession> = this.#begun.event;
  readonly #sessions = new Map<number, LiveSession & { session: Session; calls: MadeCall[] }>();
  #opened = 0;

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  get all(): readonly LiveSession[] {
    return [...this.#sessions.values()];
  }

  of(server: string): readonly LiveSession[] {
    return this.all.filter(it => it.server === server);
  }

  get(number: number): LiveSession | undefined {
    return this.#sessions.get(number);
  }

  async open(server: string, fixture: string): Promise<LiveSession> {
    const session = await this.#fresh(server, fixture);
    const live = { number: ++this.#opened, server, fixture, session, calls: [] };
    this.#sessions.set(live.number, live);
    this.#changed.fire();
    this.#begun.fire(live);
    return live;
  }

  call(live: LiveSession, name: string, args: JsonObject): MadeCall {
    const own = this.#sessions.get(live.number)!;
    const before = own.session.state;
    const called = own.session.call(name, args);
    const made = { number: own.calls.length + 1, name, arguments: args, called, before, after: own.session.state };
    own.calls.push(made);
    this.#changed.fire();
    return made;
  }

  /** Starts over from the fixture as it is saved now. */
  async reset(live: LiveSession): Promise<void> {
    const own = this.#sessions.get(live.number)!;
    own.session = await this.#fresh(own.server, own.fixture);
    own.calls.length = 0;
    this.#changed.fire();
  }

  close(live: LiveSession): void {
    this.#sessions.delete(live.number);
    this.#changed.fire();
  }

  dispose(): void {
    this.#sessions.clear();
    this.#changed.dispose();
    this.#begun.dispose();
  }

  async #fresh(server: string, fixture: string): Promise<Session> {
    mustBeTrusted("opening a session");
    return openByName(await this.#definitions.catalog(), { servers: [{ name: server, fixture }], seed: 1 });
  }
}
