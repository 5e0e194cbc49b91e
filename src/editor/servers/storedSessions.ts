/**
 * The sessions of the person as they are kept over a reload of the window: the fixture and the
 * calls, from which the state follows, and the attempt that a session was forked from; all windows
 * on a workspace store theirs in the same file. A session becomes a trajectory to be stepped
 * through and scored.
 */
import type { Call } from "../../environment/outcome.ts";
import type { Memento } from "vscode";
import { z } from "zod";
import { type Catalog, openSessionByName } from "../../environment/catalog.ts";
import { computeDigest } from "../../environment/digest.ts";
import { canonicalJson } from "../../environment/json.ts";
import type { TableSession } from "../../service/sessions/sessionTable.ts";
import {
  createCallEvent,
  type Event,
  type Header,
  headerSchema,
  noTask,
  type Trajectory,
  trajectoryFormat,
  eventSchema,
  formatTrajectoryLine,
} from "../../trajectory/trajectory.ts";
import { UserError } from "../../userError.ts";
import {
  keepAside,
  readSharedFile,
  type SharedFile,
  writeSharedFile,
} from "../shared/sharedFile.ts";

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
  attempt: attemptSchema.optional(),
});

/** A position in an attempt, from which a session goes on. */
export interface AttemptPosition {
  readonly title: string;
  readonly header: Header;
  /** The events before the position. */
  readonly events: readonly Event[];
}

export interface StoredSession {
  readonly number: number;
  /** The number of the session, or the title of the attempt, that it was forked from. */
  readonly forkOf?: number | string | undefined;
  readonly servers: readonly { readonly name: string; readonly fixture: string }[];
  readonly seed: number;
  readonly menu?: readonly string[] | undefined;
  readonly calls: readonly Call[];
  readonly digest: string;
  /** The attempt that it goes on from, whose task it belongs to. */
  readonly attempt?: AttemptPosition | undefined;
}

/** A session as it is stored. The rest of its form may be that of another version. */
const numberedSchema = z.looseObject({ number: z.int().min(1) });

type NumberedJson = z.infer<typeof numberedSchema>;

interface SessionRecord {
  readonly json: NumberedJson;
  readonly text: string;
}

const createRecord = (json: NumberedJson): SessionRecord => ({ json, text: JSON.stringify(json) });

export class SessionStore {
  readonly #shared: SharedFile<readonly NumberedJson[]>;
  /** The texts of this window's sessions when they were last read or written, by number. */
  readonly #known = new Map<number, string>();
  /** The new numbers of sessions that another window has changed, too. */
  readonly #newNumbers = new Map<number, number>();

  constructor(file: string) {
    this.#shared = {
      file,
      schema: z.array(numberedSchema),
      contents: "the open sessions",
      remedy: "open them again",
    };
  }

  /**
   * The stored sessions. If some are in another form, such as that of another version, the whole
   * file is kept aside and reported; the others stay, and so does one without its attempt.
   */
  read(): readonly StoredSession[] {
    const records = this.#readRecords();
    const sessions: StoredSession[] = [];
    const unread: number[] = [];
    for (const [number, { json }] of records) {
      let { data } = storedSessionSchema.safeParse(json);
      if (!data) {
        unread.push(number);
        const { attempt: _, ...rest } = json;
        data = storedSessionSchema.safeParse(rest).data;
        if (data) records.set(number, createRecord(rest));
        else records.delete(number);
      }
      if (!data) continue;
      sessions.push(data);
      this.#known.set(number, records.get(number)!.text);
    }
    if (unread.length > 0) {
      keepAside(this.#shared, describeUnread(unread, this.#shared.file));
      this.#writeRecords(records);
    }
    return sessions;
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
      result.set(record.json.number, record);
      this.#known.set(record.json.number, record.text);
    };
    const open = new Set<number>();
    for (const session of sessions) {
      const number = this.#newNumbers.get(session.number) ?? session.number;
      const record = createRecord({ ...formatSession(session), number });
      const [theirs, known] = [stored.get(number)?.text, this.#known.get(number)];
      open.add(number);
      if (theirs === undefined || theirs === known) put(record);
      else if (record.text !== known && record.text !== theirs) {
        const other = 1 + Math.max(...result.keys(), ...sessions.map(it => it.number));
        this.#newNumbers.set(session.number, other);
        open.add(other);
        const forkOf = known === undefined ? {} : { forkOf: number };
        put(createRecord({ ...formatSession(session), ...forkOf, number: other }));
      }
    }
    for (const [number, text] of this.#known) {
      if (open.has(number)) continue;
      if (stored.get(number)?.text === text) result.delete(number);
      this.#known.delete(number);
    }
    this.#writeRecords(result);
  }

  #readRecords(): Map<number, SessionRecord> {
    const stored = readSharedFile(this.#shared) ?? [];
    return new Map(stored.map(it => [it.number, createRecord(it)]));
  }

  #writeRecords(records: ReadonlyMap<number, SessionRecord>): void {
    writeSharedFile(
      this.#shared,
      [...records.values()].map(it => it.json),
    );
  }
}

const describeUnread = (numbers: readonly number[], file: string) =>
  `${numbers.length === 1 ? "session" : "sessions"} ${numbers.join(", ")} could not be read in full: ${file} is not in the form that this version stores`;

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

/** A session with the calls that lead from its fixture to its state, if they are known. */
interface RecordedSession {
  readonly number: number;
  readonly session: TableSession;
  readonly history: readonly Call[] | undefined;
  readonly attempt?: AttemptPosition;
}

/**
 * Creates the trajectory of a session. It begins with the events of the attempt that the session
 * was forked from; after a reset, with the attempt's first request. Throws a `UserError` if the
 * session has no calls, or if they do not lead from its fixtures to its state.
 */
export function createSessionTrajectory(catalog: Catalog, live: RecordedSession): Trajectory {
  const { session, number, history, attempt } = live;
  const cause = `session ${number} cannot be saved, because`;
  if (!history)
    throw new UserError(
      `${cause} its calls do not lead from its fixture to its state, or are too many to keep`,
      "reset it and make the calls again",
    );
  if (history.length === 0)
    throw new UserError(`${cause} it has no calls`, "call a tool in it first");
  const events = [...listFirstEvents(attempt, history)];
  const { servers, seed, menu = [...session.tools.keys()] } = session.origin;
  const replay = openSessionByName(catalog, { servers, seed, menu });
  const last = events.findLast(it => it.kind === "assistant" || it.kind === "call");
  const done = events.filter(it => it.kind === "call").length;
  let message = last === undefined ? 0 : last.message + 1;
  for (const [i, { name, arguments: args }] of history.entries()) {
    const result = replay.call(name, args);
    if (i < done) continue;
    events.push({ kind: "assistant", message, text: "" });
    events.push(createCallEvent(message++, name, args, result));
  }
  if (replay.digest !== session.digest)
    throw new UserError(
      `${cause} its fixture or tools have changed since it was opened`,
      "reset it and make the calls again",
    );
  // without a task, nothing says that the calls are complete
  if (attempt) events.push({ kind: "ended", by: "policy" });
  const task = attempt?.header.task ?? noTask;
  const header: Header = {
    kind: "header",
    format: trajectoryFormat,
    task,
    menu: [...menu],
    ...attempt?.header,
    id: `${task}/${session.owner}-${number}`,
    servers: servers.map(it => ({
      name: it.name,
      fixture: it.fixture,
      digest: computeDigest(catalog.getFixture(it.name, it.fixture)),
    })),
    catalog: catalog.hashTools(servers.map(it => it.name)),
    seed,
    policy: session.owner,
  };
  return { header, events };
}

/** The events of the attempt whose calls the session has made, too. */
function listFirstEvents(
  attempt: AttemptPosition | undefined,
  history: readonly Call[],
): readonly Event[] {
  const events = attempt?.events.filter(it => it.kind !== "ended") ?? [];
  const calls = events.filter(it => it.kind === "call");
  const isSame = calls.every(
    (it, i) =>
      it.name === history[i]?.name &&
      canonicalJson(it.arguments) === canonicalJson(history[i].arguments),
  );
  if (isSame) return events;
  const first = events.findIndex(it => it.kind !== "user");
  return events.slice(0, first);
}
