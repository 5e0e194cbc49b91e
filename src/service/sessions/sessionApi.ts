/**
 * Answers the requests about sessions without regard to tasks: open, call, fork, state, restore,
 * reset, tools and delete. Calls are numbered, so that a client can repeat one after a lost
 * connection without running it twice.
 */
import type { Catalog, SessionPins } from "../../environment/catalog.ts";
import { canonicalJson, type Json } from "../../environment/json.ts";
import type { CallResult, Fault, Outcome } from "../../environment/outcome.ts";
import { HttpError } from "../httpError.ts";
import { createOkResponse, parseBody, type JsonResponse } from "../jsonBody.ts";
import { formatFault } from "../../mcp/exposedServer.ts";
import { toJsonResponse, type Peers } from "../peers.ts";
import {
  callBody,
  emptyBody,
  forkBody,
  openBody,
  restoreBody,
  stateQuery,
  toolsBody,
} from "../schemas.ts";
import { excerptJson } from "../../trajectory/excerpt.ts";
import type { JournalRecord } from "./journal.ts";
import type { SessionKeeper } from "./sessionKeeper.ts";
import {
  createSessionId,
  findSessionIdProblem,
  CapacityError,
  createForkKey,
  SessionIdConflict,
  type OpenOptions,
  type SessionTable,
  type TableSession,
} from "./sessionTable.ts";

/** A request with a number, and how the journal names it. */
interface NumberedRequest {
  readonly do: "call" | "message" | "user";
  readonly seq: number;
  /** What tells the request from others with the same number. */
  readonly request: object;
  readonly body: unknown;
}

export interface DirectCall {
  readonly name: string;
  readonly arguments: unknown;
  readonly isAlone: boolean;
}

/** A fork, as the process of the source passes it to that of the new session. */
export interface AdoptRequest {
  readonly id: string;
  /** Null for a session that is never idle for too long. */
  readonly ttlMs: number | null;
  /** What tells a repeated request from another one. */
  readonly key: string;
  readonly owner: string;
  /** What the source has executed. */
  readonly records: readonly JournalRecord[];
}

/** The last numbered request of a session, whose response is sent again if it is repeated. */
interface LastRequest {
  readonly seq: number;
  readonly request: object;
  readonly response: JsonResponse;
}

export class SessionApi {
  readonly #catalog: Catalog;
  readonly #table: SessionTable;
  readonly #peers: Peers | undefined;
  readonly #lastRequests = new WeakMap<TableSession, LastRequest>();
  /** No session is opened any more, because the service is about to end. */
  isDraining = false;
  /** Writes what sessions execute to a journal; nothing is written if absent. */
  keeper: SessionKeeper | undefined;

  constructor(catalog: Catalog, table: SessionTable, peers?: Peers) {
    this.#catalog = catalog;
    this.#table = table;
    this.#peers = peers;
  }

  /** A new id for a session of this process. */
  createId(): string {
    for (;;) {
      const id = createSessionId();
      if (this.#peers?.isOwn(id) ?? true) return id;
    }
  }

  /** Opens a session once there is room for it, which other processes may have to give up. */
  withRoom<T>(open: () => T | Promise<T>): T | Promise<T> {
    return this.#peers ? this.#withSharedRoom(open, this.#peers) : open();
  }

  async #withSharedRoom<T>(open: () => T | Promise<T>, peers: Peers): Promise<T> {
    const table = this.#table;
    while (table.room <= 0) {
      table.closeIdle();
      if (table.room <= 0 && !(await peers.requestRoom())) break;
    }
    table.opening++;
    try {
      return await open();
    } finally {
      table.opening--;
    }
  }

  open(sessionId: string, body: unknown): JsonResponse {
    const {
      servers = [...this.#catalog.servers.keys()],
      fixture = "full",
      seed = 1,
      menu,
      owner,
      ttl_s,
    } = parseBody(openBody, body);
    const pins = servers.map(it =>
      typeof it === "string"
        ? { name: it, fixture }
        : { name: it.name, fixture: it.fixture ?? fixture },
    );
    const duplicate = pins.find((it, i) => pins.findIndex(other => other.name === it.name) !== i);
    if (duplicate)
      throw new HttpError(
        "INVALID_REQUEST",
        `server ${duplicate.name} is listed twice`,
        "list it once",
      );
    if (menu) this.#checkMenu(menu, pins);
    const origin: SessionPins = { servers: pins, seed, ...(menu ? { menu } : {}) };
    const session = this.addSession(sessionId, {
      owner: owner ?? "client",
      ...createTtl(ttl_s),
      ...origin,
    });
    this.keeper?.recordOpening(session, body);
    return createOkResponse(describeSession(session));
  }

  /** Opens a session in the table. Throws an `HttpError` if the id is not valid or is in use. */
  addSession(id: string, options: Omit<OpenOptions, "id">): TableSession {
    return this.#withConflictErrors(id, () => this.#table.open({ id, ...options }));
  }

  fork(sessionId: string, body: unknown): JsonResponse | Promise<JsonResponse> {
    const source = this.#getWithoutTask(sessionId);
    const { session_id: id, owner = source.owner, ttl_s } = parseBody(forkBody, body);
    const ttlMs = ttl_s === undefined ? source.ttlMs : ttl_s * 1_000;
    if (!this.keeper)
      return createOkResponse(
        describeSession(
          this.#withConflictErrors(id, () => this.#table.fork(source, { id, owner, ttlMs })),
        ),
      );
    // the process of the new id opens it from the journal
    const request: AdoptRequest = {
      id,
      ttlMs: Number.isFinite(ttlMs) ? ttlMs : null,
      key: createForkKey(source),
      owner,
      records: this.keeper.read(source),
    };
    if (this.#peers?.isOwn(id) ?? true) return this.adopt(request);
    return this.#peers!.send(this.#peers!.findIndex(id), {
      method: "POST",
      url: "adopt",
      body: JSON.stringify(request),
      isRepeatable: true,
    }).then(toJsonResponse);
  }

  /** Opens a session that has executed what another one did, once there is room for it. */
  async adopt(request: AdoptRequest): Promise<JsonResponse> {
    return this.withRoom(() => this.#adopt(request));
  }

  async #adopt({ id, ttlMs, key, owner, records }: AdoptRequest): Promise<JsonResponse> {
    const keeper = this.keeper!;
    // without a pause after the last check, in which an equal request could begin the session
    for (let waking = keeper.wake(id); waking; waking = keeper.wake(id)) await waking;
    const open = this.#withConflictErrors(id, () => this.#table.findOpen(id, key));
    if (!open) {
      this.#withConflictErrors(id, () => this.#table.checkRoom());
      keeper.addCopy(id, ttlMs, records, { do: "fork", body: { key, owner, ttl_ms: ttlMs } });
      await keeper.wake(id);
    }
    return createOkResponse(describeSession(this.get(id)));
  }

  /** `repeatedMs` is how long the call took when it was executed before. */
  call(sessionId: string, body: unknown, repeatedMs?: number): JsonResponse {
    const session = this.get(sessionId);
    const { seq, name, arguments: args = {}, parallel = false } = parseBody(callBody, body);
    const request = { name, args, parallel };
    return this.runOnce(session, { do: "call", seq, request, body }, () => {
      const start = performance.now();
      const { outcome, digest } = session.call(name, args, { parallel });
      const ms = repeatedMs ?? performance.now() - start;
      return { response: createCallResponse(outcome, digest, ms), ms };
    });
  }

  /**
   * Executes a call that has no number, as other protocols have none. With `isAlone`, no other call
   * can follow it in the same message of an attempt.
   */
  callDirectly(session: TableSession, { name, arguments: args, isAlone }: DirectCall): CallResult {
    const result = session.call(name, args);
    if (isAlone) session.attempt?.finishMessage();
    this.keeper?.record(session, { do: "direct", body: { name, arguments: args, isAlone } });
    return result;
  }

  /**
   * Runs a numbered request, or returns its response again if it is repeated. Throws an `HttpError`
   * for any other number than the next one.
   */
  runOnce(
    session: TableSession,
    { seq, request, ...record }: NumberedRequest,
    run: () => { readonly response: JsonResponse; readonly ms?: number },
  ): JsonResponse {
    const last = this.#lastRequests.get(session);
    const nextSeq = (last?.seq ?? 0) + 1;
    if (last?.seq === seq) {
      if (canonicalJson(last.request) === canonicalJson(request)) return last.response;
      throw createOrderError(`seq ${seq} was used for another request`, last);
    }
    if (seq !== nextSeq) throw createOrderError(`seq ${seq} is out of order`, last);
    const { response, ms } = run();
    this.#lastRequests.set(session, { seq, request, response });
    this.keeper?.record(session, ms === undefined ? record : { ...record, ms });
    return response;
  }

  /** The state of the whole session, or of one of its servers. */
  state(sessionId: string, query: unknown): JsonResponse {
    const session = this.get(sessionId);
    const { server } = parseBody(stateQuery, query);
    if (server !== undefined && !Object.hasOwn(session.state, server))
      throw new HttpError(
        "UNKNOWN_SERVER",
        `session ${sessionId} has no server ${server}`,
        `choose one of ${Object.keys(session.state).join(", ")}`,
      );
    return createOkResponse({
      session_id: session.id,
      digest: session.digest,
      state: server === undefined ? session.state : { [server]: session.state[server] },
    });
  }

  restore(sessionId: string, body: unknown): JsonResponse {
    const session = this.#getWithoutTask(sessionId);
    session.restore(parseBody(restoreBody, body).state);
    this.keeper?.record(session, { do: "restore", body });
    return createOkResponse(describeSession(session));
  }

  /** Puts more tools on the menu, as when a task's turn adds them. */
  tools(sessionId: string, body: unknown): JsonResponse {
    const session = this.#getWithoutTask(sessionId);
    const { add } = parseBody(toolsBody, body);
    this.#checkMenu(add, session.origin.servers);
    session.addTools(add);
    this.keeper?.record(session, { do: "tools", body });
    return createOkResponse(describeSession(session));
  }

  reset(sessionId: string, body: unknown): JsonResponse {
    const session = this.#getWithoutTask(sessionId);
    parseBody(emptyBody, body);
    session.reset();
    this.keeper?.record(session, { do: "reset", body });
    return createOkResponse(describeSession(session));
  }

  delete(sessionId: string): JsonResponse {
    if (!this.#table.close(sessionId)) this.keeper?.close(sessionId);
    return createOkResponse({});
  }

  /** The session with that id. Throws an `HttpError` that says whether it was closed. */
  get(sessionId: string): TableSession {
    const session = this.#table.get(sessionId);
    if (session) return session;
    const loss = this.keeper?.findLoss(sessionId);
    throw new HttpError(
      "UNKNOWN_SESSION",
      this.#table.wasIdle(sessionId)
        ? `session ${sessionId} was idle for longer than its ttl_s and is closed`
        : loss
          ? `session ${sessionId} could not be rebuilt (${loss})`
          : `there is no session ${sessionId}`,
      `open it with PUT /v1/sessions/${sessionId}`,
    );
  }

  /** A session whose state may be changed other than by calls. */
  #getWithoutTask(sessionId: string): TableSession {
    const session = this.get(sessionId);
    if (!session.attempt) return session;
    throw new HttpError(
      "INVALID_REQUEST",
      `session ${sessionId} is for an attempt at a task, whose state only calls may change`,
      "open another session for the task, or one without a task",
    );
  }

  #withConflictErrors<T>(sessionId: string, open: () => T): T {
    const problem = findSessionIdProblem(sessionId);
    if (problem) throw new HttpError("INVALID_REQUEST", problem, "choose another id");
    if (this.isDraining && !this.#table.get(sessionId) && !this.#table.rebuilding.has(sessionId))
      throw new HttpError(
        "DRAINING",
        "the service is about to end and opens no more sessions",
        "open it on another one",
        { "retry-after": "5" },
      );
    try {
      return open();
    } catch (error) {
      if (error instanceof CapacityError)
        throw new HttpError(
          "CAPACITY_REACHED",
          `all ${this.#table.capacity} sessions are in use`,
          "delete one, or try again later",
          { "retry-after": "5" },
        );
      if (error instanceof SessionIdConflict)
        throw new HttpError(
          "INVALID_REQUEST",
          `session ${sessionId} is open already and was opened otherwise`,
          "delete it first, or choose another id",
        );
      throw error;
    }
  }

  /** Throws an `HttpError` for a menu with a tool that none of the servers has. */
  #checkMenu(menu: readonly string[], pins: SessionPins["servers"]): void {
    const unknown = menu.find(
      it => !pins.some(pin => this.#catalog.getServer(pin.name).tools.has(it)),
    );
    if (unknown !== undefined)
      throw new HttpError(
        "INVALID_REQUEST",
        `the menu offers ${unknown}, which none of the session's servers has`,
        "GET /v1/catalog lists the tools",
      );
  }
}

const createOrderError = (what: string, last: LastRequest | undefined) =>
  new HttpError(
    "OUT_OF_ORDER",
    what,
    `the next number is ${(last?.seq ?? 0) + 1}${last ? `, and ${last.seq} may be repeated` : ""}`,
  );

export const createTtl = (seconds: number | undefined) =>
  seconds === undefined ? {} : { ttlMs: seconds * 1_000 };

export const describeSession = ({ id: session_id, digest, servers }: TableSession) => ({
  session_id,
  digest,
  mcp: Object.fromEntries(servers.map(it => [it.name, `/s/${session_id}/${it.name}/mcp`])),
});

/** What a model sees of an outcome, and the whole of it. */
export function formatOutcome(outcome: Outcome): {
  readonly structured: Json;
  readonly text: string;
  readonly truncated: boolean;
} {
  const structured: Json = outcome.kind === "ok" ? outcome.value : { ...formatFault(outcome) };
  return { structured, ...excerptJson(structured) };
}

/** The part of a response that follows from the outcome, which attempts at one task may share. */
const outcomeTexts = new WeakMap<Outcome, { readonly start: string; readonly end: string }>();

function formatOutcomeParts(outcome: Outcome): { readonly start: string; readonly end: string } {
  let parts = outcomeTexts.get(outcome);
  if (!parts) {
    const { structured, text, truncated } = formatOutcome(outcome);
    // assembled by hand, because the text is mostly the JSON of the whole result already
    const whole = truncated ? JSON.stringify(structured) : text;
    parts = {
      start: `{"is_error":${outcome.kind !== "ok"},"text":${JSON.stringify(text)},"structured":${whole}`,
      end: `"truncated":${truncated}}`,
    };
    outcomeTexts.set(outcome, parts);
  }
  return parts;
}

/** A tool's failure is a normal response. A broken call is an error, so that it is never scored. */
function createCallResponse(outcome: Outcome, digest: string, elapsedMs: number): JsonResponse {
  if (outcome.kind === "broken") return createBrokenResponse(outcome);
  const { start, end } = formatOutcomeParts(outcome);
  const elapsed = Number(elapsedMs.toFixed(3));
  return { status: 200, text: `${start},"digest":"${digest}","elapsed_ms":${elapsed},${end}` };
}

/** The response to a call that broke, which is a fault of the service. */
function createBrokenResponse(fault: Fault): JsonResponse {
  const { status, text } = new HttpError(
    "INTERNAL",
    formatFault(fault).message,
    "do not score the attempt, and report what the service printed",
  );
  return { status, text };
}
