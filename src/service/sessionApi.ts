/**
 * Answers the requests about sessions without regard to tasks: open, call, fork, state, restore,
 * reset, tools and delete. Calls are numbered, so that a client can repeat one after a lost
 * connection without running it twice.
 */
import type { Catalog, SessionPins } from "../environment/catalog.ts";
import { canonicalJson, type Json } from "../environment/json.ts";
import type { Fault, Outcome } from "../environment/outcome.ts";
import { formatFault } from "../mcp/exposedServer.ts";
import { excerptJson } from "../trajectory/excerpt.ts";
import { HttpError } from "./httpError.ts";
import { createOkResponse, parseBody, type JsonResponse } from "./jsonResponse.ts";
import {
  callBody,
  emptyBody,
  forkBody,
  openBody,
  restoreBody,
  stateQuery,
  toolsBody,
} from "./schemas.ts";
import { findSessionIdProblem } from "./sessionId.ts";
import {
  CapacityError,
  SessionIdConflict,
  type OpenOptions,
  type SessionTable,
} from "./sessionTable.ts";
import type { TableSession } from "./tableSession.ts";

/** The last numbered request of a session, whose response is sent again if it is repeated. */
interface LastRequest {
  readonly seq: number;
  readonly request: object;
  readonly response: JsonResponse;
}

export class SessionApi {
  readonly #catalog: Catalog;
  readonly #table: SessionTable;
  readonly #lastRequests = new WeakMap<TableSession, LastRequest>();
  /** No session is opened any more, because the service is about to end. */
  isDraining = false;

  constructor(catalog: Catalog, table: SessionTable) {
    this.#catalog = catalog;
    this.#table = table;
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
    return createOkResponse(
      describeSession(
        this.addSession(sessionId, { owner: owner ?? "client", ...createTtl(ttl_s), ...origin }),
      ),
    );
  }

  /** Opens a session in the table. Throws an `HttpError` if the id is not valid or is in use. */
  addSession(id: string, options: Omit<OpenOptions, "id">): TableSession {
    return this.#withConflictErrors(id, () => this.#table.open({ id, ...options }));
  }

  fork(sessionId: string, body: unknown): JsonResponse {
    const source = this.#getWithoutTask(sessionId);
    const { session_id, owner, ttl_s } = parseBody(forkBody, body);
    const session = this.#withConflictErrors(session_id, () =>
      this.#table.fork(source, {
        id: session_id,
        ...(owner ? { owner } : {}),
        ...createTtl(ttl_s),
      }),
    );
    return createOkResponse(describeSession(session));
  }

  call(sessionId: string, body: unknown): JsonResponse {
    const session = this.get(sessionId);
    const { seq, name, arguments: args = {}, parallel = false } = parseBody(callBody, body);
    return this.runOnce(session, seq, { name, args, parallel }, () => {
      const start = performance.now();
      const { outcome, digest } = session.call(name, args, { parallel });
      return createCallResponse(outcome, digest, performance.now() - start);
    });
  }

  /**
   * Runs a numbered request, or returns its response again if it is repeated. Throws an `HttpError`
   * for any other number than the next one.
   */
  runOnce(
    session: TableSession,
    seq: number,
    request: object,
    run: () => JsonResponse,
  ): JsonResponse {
    const last = this.#lastRequests.get(session);
    const nextSeq = (last?.seq ?? 0) + 1;
    const remedy = `the next number is ${nextSeq}${last ? `, and ${last.seq} may be repeated` : ""}`;
    if (last?.seq !== seq && seq !== nextSeq)
      throw new HttpError("OUT_OF_ORDER", `seq ${seq} is out of order`, remedy);
    if (last?.seq === seq) {
      if (canonicalJson(last.request) === canonicalJson(request)) return last.response;
      throw new HttpError("OUT_OF_ORDER", `seq ${seq} was used for another request`, remedy);
    }
    const response = run();
    this.#lastRequests.set(session, { seq, request, response });
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
    return createOkResponse(describeSession(session));
  }

  /** Puts more tools on the menu, as when a task's turn adds them. */
  tools(sessionId: string, body: unknown): JsonResponse {
    const session = this.#getWithoutTask(sessionId);
    const { add } = parseBody(toolsBody, body);
    this.#checkMenu(add, session.origin.servers);
    session.addTools(add);
    return createOkResponse(describeSession(session));
  }

  reset(sessionId: string, body: unknown): JsonResponse {
    const session = this.#getWithoutTask(sessionId);
    parseBody(emptyBody, body);
    session.reset();
    return createOkResponse(describeSession(session));
  }

  delete(sessionId: string): JsonResponse {
    this.#table.close(sessionId);
    return createOkResponse({});
  }

  /** The session with that id. Throws an `HttpError` that says whether it was closed. */
  get(sessionId: string): TableSession {
    const session = this.#table.get(sessionId);
    if (session) return session;
    throw new HttpError(
      "UNKNOWN_SESSION",
      this.#table.wasIdle(sessionId)
        ? `session ${sessionId} was idle for longer than its ttl_s and is closed`
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

  #withConflictErrors(sessionId: string, open: () => TableSession): TableSession {
    const problem = findSessionIdProblem(sessionId);
    if (problem) throw new HttpError("INVALID_REQUEST", problem, "choose another id");
    if (this.isDraining && !this.#table.get(sessionId))
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

/** A tool's failure is a normal response. A broken call is an error, so that it is never scored. */
function createCallResponse(outcome: Outcome, digest: string, elapsedMs: number): JsonResponse {
  if (outcome.kind === "broken") return createBrokenResponse(outcome);
  const { structured, text, truncated } = formatOutcome(outcome);
  // assembled by hand, because the text is mostly the JSON of the whole result already
  return {
    status: 200,
    text: `{"is_error":${outcome.kind !== "ok"},"text":${JSON.stringify(text)},"structured":${
      truncated ? JSON.stringify(structured) : text
    },"digest":"${digest}","elapsed_ms":${Number(elapsedMs.toFixed(3))},"truncated":${truncated}}`,
  };
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
