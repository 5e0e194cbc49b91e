/**
 * Keeps sessions beyond the process that executes them: writes what they execute to a journal, and
 * rebuilds a session from it when it is used for the first time after the process has ended.
 */
import { LRUCache } from "lru-cache";
import type { JsonObject } from "../../environment/json.ts";
import { HttpError } from "../httpError.ts";
import type { JournalRecord, SessionJournal } from "./journal.ts";
import type { SessionTable, TableSession } from "./sessionTable.ts";

/** Executes a request of a journal again. `ms` is how long a call took the first time. */
export type Repeat = (
  session: string,
  record: Pick<JournalRecord, "do" | "body" | "ms">,
) => unknown;

interface SessionKeeperOptions {
  readonly table: SessionTable;
  readonly journal: SessionJournal;
  /** Milliseconds from any starting point. */
  readonly clock: () => number;
  /** Whether a session of the journal belongs to this process. */
  readonly isOwn: (id: string) => boolean;
  readonly repeat: Repeat;
  readonly onRebuilt: () => void;
}

/** A session of the journal that is not in the table. */
interface DormantSession {
  readonly ttlMs: number;
  readonly usedAt: number;
}

export class SessionKeeper {
  readonly #options: SessionKeeperOptions;
  readonly #dormant = new Map<string, DormantSession>();
  readonly #rebuilding = new Map<string, Promise<void>>();
  /** Sessions whose requests are written to the journal. */
  readonly #kept = new WeakSet<TableSession>();
  /** Why the last sessions that could not be rebuilt could not be. */
  readonly #lost = new LRUCache<string, string>({ max: 4_096 });

  constructor(options: SessionKeeperOptions) {
    this.#options = options;
    const { table, journal, clock, isOwn } = options;
    for (const { session_id: id, ttl_ms: ttlMs } of journal.list())
      if (isOwn(id)) this.#addDormant(id, { ttlMs: ttlMs ?? Infinity, usedAt: clock() });
    table.onChange(it => {
      if (it.kind === "closed" && it.why !== "ended" && this.#kept.has(it.session))
        journal.remove(it.session.id);
    });
  }

  /** Writes that a session was opened. A session that is open already is not written again. */
  recordOpening(session: TableSession, body: unknown): void {
    if (this.#kept.has(session) || this.#options.table.rebuilding.has(session.id)) return;
    this.#write(session, () =>
      this.#options.journal.begin(
        { session_id: session.id, ttl_ms: session.ttlMs },
        { do: "open", body, digest: session.digest },
      ),
    );
    this.#kept.add(session);
  }

  /** Writes that a session has executed a request. */
  record(session: TableSession, request: Omit<JournalRecord, "digest">): void {
    if (!this.#kept.has(session)) return;
    this.#write(session, () =>
      this.#options.journal.append(session.id, { ...request, digest: session.digest }),
    );
  }

  /** The requests that a session has executed, and with them everything about it. */
  read(session: TableSession): readonly JournalRecord[] {
    if (this.#kept.has(session)) return this.#options.journal.read(session.id);
    throw new HttpError(
      "INVALID_REQUEST",
      `session ${session.id} belongs to a connection and is not in the journal`,
      "open a session with PUT /v1/sessions/{id}",
    );
  }

  /** Adds a session that has executed what another one did, and after it `last`. */
  addCopy(
    id: string,
    ttlMs: number | null,
    records: readonly JournalRecord[],
    last: Omit<JournalRecord, "digest">,
  ): void {
    const { journal, clock } = this.#options;
    const { digest } = records.at(-1)!;
    journal.copy(records, { session_id: id, ttl_ms: ttlMs }, { ...last, digest });
    this.#addDormant(id, { ttlMs: ttlMs ?? Infinity, usedAt: clock() });
  }

  /** Closes a session that is in the journal only. Returns whether there was one. */
  close(id: string): boolean {
    const isDormant = this.#dormant.delete(id);
    if (!isDormant) return false;
    this.#options.table.setAside--;
    this.#options.journal.remove(id);
    return true;
  }

  closeIdle(): void {
    const now = this.#options.clock();
    for (const [id, { usedAt, ttlMs }] of this.#dormant) if (now - usedAt > ttlMs) this.close(id);
  }

  /** Why a session could not be rebuilt. */
  findLoss(id: string): string | undefined {
    return this.#lost.get(id);
  }

  /** Waits until a session is rebuilt; undefined if it is not being rebuilt. */
  findRebuilding(id: string): Promise<void> | undefined {
    return this.#rebuilding.get(id);
  }

  /** Rebuilds a session that is in the journal only; undefined if there is nothing to wait for. */
  wake(id: string): Promise<void> | undefined {
    const rebuilding = this.findRebuilding(id);
    if (rebuilding) return rebuilding;
    const dormant = this.#dormant.get(id);
    if (!dormant) return undefined;
    if (this.#options.clock() - dormant.usedAt > dormant.ttlMs) {
      this.close(id);
      return undefined;
    }
    const done = this.#rebuild(id).finally(() => this.#rebuilding.delete(id));
    this.#rebuilding.set(id, done);
    return done;
  }

  async #rebuild(id: string): Promise<void> {
    const { table, journal, repeat, onRebuilt } = this.#options;
    this.#dormant.delete(id);
    table.setAside--;
    table.rebuilding.add(id);
    try {
      const records = journal.read(id);
      for (const it of records) await repeat(id, it);
      const session = table.get(id);
      if (!session) throw new Error("its time was over");
      if (session.digest !== records.at(-1)!.digest)
        throw new Error("its state is not what it was: the servers or fixtures have changed");
      this.#kept.add(session);
      onRebuilt();
    } catch (error) {
      table.close(id);
      journal.remove(id);
      this.#lost.set(id, (error as Error).message);
    } finally {
      table.rebuilding.delete(id);
    }
  }

  /**
   * Writes to the journal. If that fails, the session goes back to what the journal has, because
   * the client will repeat the request.
   */
  #write(session: TableSession, write: () => void): void {
    const { table, clock } = this.#options;
    try {
      write();
    } catch (cause) {
      table.drop(session.id);
      if (this.#kept.has(session))
        this.#addDormant(session.id, { ttlMs: session.ttlMs, usedAt: clock() });
      throw new HttpError(
        "UNAVAILABLE",
        `the request was undone, because the journal cannot be written (${(cause as Error).message})`,
        "repeat the request later",
        { "retry-after": "5" },
      );
    }
  }

  #addDormant(id: string, session: DormantSession): void {
    if (!this.#dormant.has(id)) this.#options.table.setAside++;
    this.#dormant.set(id, session);
  }
}

/** The body of the record that ends the copied part of a fork's journal. */
export interface ForkRecord extends JsonObject {
  /** How the fork was opened, to tell a repeated request from a different one. */
  readonly key: string;
  readonly owner: string;
  /** Null for a session that is never idle for too long; that of the source if absent. */
  readonly ttl_ms?: number | null;
}
