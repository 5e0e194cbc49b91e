/**
 * The sessions of the person as they are kept over a reload of the window: the fixture and the
 * calls, from which the state follows, and the attempt that a session was forked from.
 */
import type { Memento } from "vscode";
import { z } from "zod";
import type { Json } from "../../environment/json.ts";
import { headerSchema, type Event, type Header } from "../../trajectory/trajectory.ts";
import { eventSchema, formatTrajectoryLine } from "../../trajectory/trajectoryLine.ts";

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

const sessionsKey = "prove.sessions";

/** Reads the stored sessions. What another version has stored in another form is left out. */
export const readStoredSessions = (storage: Memento): readonly StoredSession[] =>
  storage.get<readonly unknown[]>(sessionsKey, []).flatMap(it => {
    const { data } = storedSessionSchema.safeParse(it);
    return data ? [data] : [];
  });

export const writeStoredSessions = (
  storage: Memento,
  sessions: readonly StoredSession[],
): Thenable<void> =>
  storage.update(sessionsKey, sessions.length > 0 ? sessions.map(formatSession) : undefined);

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
