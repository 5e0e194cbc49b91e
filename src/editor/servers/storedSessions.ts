/**
 * The sessions of the person as they are kept over a reload of the window: the fixture and the
 * calls, from which the state follows, and the attempt that a session was forked from. All windows
 * on a workspace store theirs in the same file.
 */
import type { Memento } from "vscode";
import { z } from "zod";
import type { Json } from "../../environment/json.ts";
import { headerSchema, type Event, type Header } from "../../trajectory/trajectory.ts";
import { eventSchema, formatTrajectoryLine } from "../../trajectory/trajectoryLine.ts";
import { readSharedFile, writeSharedFile } from "../shared/sharedFile.ts";

const attemptSchema = z.object({
  title: z.string(),
  header: headerSchema,
  events: z.array(eventSchema),
});

const storedSessionSchema = z.object({
  number: z.int().min(1),
  forkOf: z.union([z.int().min(1), z.string()]).optional(),
  servers: z.array(z.object({ name: z.string(), fixture: z.string() })).min(1),
  seed: z.int().min(0),
  menu: z.array(z.string()).optional(),
  /** Since the session was opened or reset. */
  calls: z.array(z.object({ name: z.string(), arguments: z.json() })),
  /** Of the state after the calls. */
  digest: z.string(),
  /** One that another version has stored in another form is left out. */
  attempt: attemptSchema.optional().catch(undefined),
});

/** A position in an attempt, from which a session goes on. */
export interface AttemptPosition {
  readonly title: string;
  readonly header: Header;
  /** The events before the position. */
  readonly events: readonly Event[];
}

export interface MadeCall {
  readonly name: string;
  readonly arguments: Json;
}

export interface StoredSession {
  readonly number: number;
  /** The number of the session, or the title of the attempt, that it was forked from. */
  readonly forkOf?: number | string | undefined;
  readonly servers: readonly { readonly name: string; readonly fixture: string }[];
  readonly seed: number;
  readonly menu?: readonly string[] | undefined;
  readonly calls: readonly MadeCall[];
  readonly digest: string;
  /** The attempt that it goes on from, whose task it belongs to. */
  readonly attempt?: AttemptPosition | undefined;
}

const numberSchema = z.object({ number: z.int().min(1) });

/** A session as it is stored. Its form may be that of another version. */
interface SessionRecord {
  readonly number: number;
  readonly json: unknown;
  readonly text: string;
}

const createRecord = (number: number, json: object): SessionRecord => ({
  number,
  json,
  text: JSON.stringify(json),
});

export class SessionStore {
  readonly #file: string;
  /** The texts of this window's sessions when they were last read or written, by number. */
  readonly #known = new Map<number, string>();
  /** The new numbers of sessions that another window has changed, too. */
  readonly #newNumbers = new Map<number, number>();

  constructor(file: string) {
    this.#file = file;
  }

  /** The stored sessions. What another version has stored in another form is left out. */
  read(): readonly StoredSession[] {
    const records = [...this.#readRecords().values()];
    return records.flatMap(({ number, json, text }) => {
      const { data } = storedSessionSchema.safeParse(json);
      if (!data) return [];
      this.#known.set(number, text);
      return [data];
    });
  }

  /** The highest number of a session in any window. */
  get lastNumber(): number {
    return Math.max(0, ...this.#known.keys(), ...this.#readRecords().keys());
  }

  /**
   * Stores the sessions of this window. What other windows have stored is kept: their sessions, and
   * their calls in a session that both have open. If this window made calls in it, too, its own
   * version gets a number of its own.
   */
  write(sessions: readonly StoredSession[]): void {
    const stored = this.#readRecords();
    const result = new Map(stored);
    const put = (record: SessionRecord) => {
      result.set(record.number, record);
      this.#known.set(record.number, record.text);
    };
    const open = new Set<number>();
    for (const session of sessions) {
      const number = this.#newNumbers.get(session.number) ?? session.number;
      const record = createRecord(number, { ...formatSession(session), number });
      const [theirs, known] = [stored.get(number)?.text, this.#known.get(number)];
      open.add(number);
      if (theirs === undefined || theirs === known) put(record);
      else if (record.text !== known && record.text !== theirs) {
        const other = 1 + Math.max(...result.keys(), ...sessions.map(it => it.number));
        this.#newNumbers.set(session.number, other);
        open.add(other);
        const forkOf = known === undefined ? {} : { forkOf: number };
        put(createRecord(other, { ...formatSession(session), ...forkOf, number: other }));
      }
    }
    for (const [number, text] of this.#known) {
      if (open.has(number)) continue;
      if (stored.get(number)?.text === text) result.delete(number);
      this.#known.delete(number);
    }
    writeSharedFile(
      this.#file,
      [...result.values()].map(it => it.json),
    );
  }

  #readRecords(): ReadonlyMap<number, SessionRecord> {
    const { data = [] } = z.array(z.unknown()).safeParse(readSharedFile(this.#file));
    return new Map(
      data.flatMap(json => {
        const { data: named } = numberSchema.safeParse(json);
        return named ? [[named.number, createRecord(named.number, json as object)]] : [];
      }),
    );
  }
}

const formatSession = ({ attempt, ...session }: StoredSession) =>
  attempt
    ? { ...session, attempt: { title: attempt.title, ...formatTrajectoryLine(attempt) } }
    : session;

const draftsKey = "prove.argumentDrafts";

/** What the person typed into argument forms that were not finished, by tool and argument. */
export class ArgumentDrafts {
  readonly #storage: Memento;
  readonly #texts: Map<string, string>;

  constructor(storage: Memento) {
    this.#storage = storage;
    this.#texts = new Map(Object.entries(storage.get<Record<string, string>>(draftsKey, {})));
  }

  get(tool: string, argument: string): string | undefined {
    return this.#texts.get(`${tool}/${argument}`);
  }

  set(tool: string, argument: string, text: string): void {
    this.#texts.set(`${tool}/${argument}`, text);
    this.#store();
  }

  /** Forgets the texts of a form that was finished. */
  clear(tool: string): void {
    for (const key of this.#texts.keys()) if (key.startsWith(`${tool}/`)) this.#texts.delete(key);
    this.#store();
  }

  #store(): void {
    void this.#storage.update(draftsKey, Object.fromEntries(this.#texts));
  }
}
