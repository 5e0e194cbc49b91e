/**
 * Answers the requests under `/v1/sessions/{id}`: open, call, fork, state, restore, reset, tools
 * and delete. Calls are numbered, so that a client can repeat one after a lost connection without
 * running it twice.
 */
import { z } from "zod";
import type { Catalog, SessionPins } from "../environment/catalog.ts";
import { canonicalJson, isJsonObject, type Json } from "../environment/json.ts";
import type { Outcome } from "../environment/outcome.ts";
import { formatFault } from "../mcp/exposedServer.ts";
import { excerptJson } from "../trajectory/excerpt.ts";
import { HttpError } from "./httpError.ts";
import { findSessionIdProblem } from "./sessionId.ts";
import { CapacityError, SessionIdConflict, type SessionTable } from "./sessionTable.ts";
import type { TableSession } from "./tableSession.ts";

const name = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/);
/** Becomes part of a file name, so it must not be a path. */
const fixtureName = z.string().regex(/^[a-z][a-z0-9-]{0,40}(@[1-9]\d{0,5})?(~[1-9]\d{0,5})?$/);
const id = z.string().max(200);
const ttl = z.number().min(1).max(86_400).optional();
const owner = z
  .string()
  .regex(/^[^\p{C}]{1,80}$/u)
  .optional();

const openBody = z.strictObject({
  servers: z
    .array(z.union([name, z.strictObject({ name, fixture: fixtureName.optional() })]))
    .min(1)
    .max(50)
    .optional(),
  fixture: fixtureName.optional(),
  seed: z.int().min(0).optional(),
  menu: z.array(name).max(1_000).optional(),
  owner,
  ttl_s: ttl,
});
const callBody = z.strictObject({
  seq: z.int().min(1),
  name: z.string().max(200),
  arguments: z.unknown().optional(),
});
const forkBody = z.strictObject({ session_id: id, owner, ttl_s: ttl });
const restoreBody = z.strictObject({ state: z.record(z.string(), z.unknown()) });
const toolsBody = z.strictObject({ add: z.array(name).min(1).max(1_000) });
const emptyBody = z.strictObject({});

/** A response: its status and its body as JSON text. */
export interface JsonResponse {
  readonly status: number;
  readonly text: string;
}

/** The last call in a session, whose response is sent again if the client repeats it. */
interface LastCall {
  readonly seq: number;
  readonly name: string;
  readonly arguments: unknown;
  readonly response: JsonResponse;
}

export class SessionApi {
  readonly #catalog: Catalog;
  readonly #table: SessionTable;
  readonly #lastCalls = new WeakMap<TableSession, LastCall>();

  constructor(catalog: Catalog, table: SessionTable) {
    this.#catalog = catalog;
    this.#table = table;
  }

  open(sessionId: string, body: unknown): JsonResponse {
    if (hasTaskId(body))
      throw new HttpError(
        "UNKNOWN_TASK",
        `there is no task ${String(body.task_id).slice(0, 200)}: this service was given none`,
      );
    const {
      servers = [...this.#catalog.servers.keys()],
      fixture = "full",
      seed = 1,
      menu,
      owner: ownerName,
      ttl_s,
    } = parseBody(openBody, body);
    const pins = servers.map(it =>
      typeof it === "string"
        ? { name: it, fixture }
        : { name: it.name, fixture: it.fixture ?? fixture },
    );
    const duplicate = pins.find((it, i) => pins.findIndex(other => other.name === it.name) !== i);
    if (duplicate)
      throw new HttpError("INVALID_REQUEST", `server ${duplicate.name} is listed twice`);
    if (menu) this.#checkMenu(menu, pins);
    const origin: SessionPins = { servers: pins, seed, ...(menu ? { menu } : {}) };
    return createOpenResponse(
      this.#withConflictErrors(sessionId, () =>
        this.#table.open({
          id: sessionId,
          owner: ownerName ?? "client",
          ...createTtl(ttl_s),
          ...origin,
        }),
      ),
    );
  }

  fork(sessionId: string, body: unknown): JsonResponse {
    const source = this.get(sessionId);
    const { session_id, owner: ownerName, ttl_s } = parseBody(forkBody, body);
    return createOpenResponse(
      this.#withConflictErrors(session_id, () =>
        this.#table.fork(source, {
          id: session_id,
          ...(ownerName ? { owner: ownerName } : {}),
          ...createTtl(ttl_s),
        }),
      ),
    );
  }

  call(sessionId: string, body: unknown): JsonResponse {
    const session = this.get(sessionId);
    const { seq, name: tool, arguments: args = {} } = parseBody(callBody, body);
    const last = this.#lastCalls.get(session);
    const nextSeq = (last?.seq ?? 0) + 1;
    if (last?.seq === seq) {
      if (last.name === tool && canonicalJson(last.arguments) === canonicalJson(args))
        return last.response;
      throw new HttpError(
        "OUT_OF_ORDER",
        `seq ${seq} was used for another call: the next call is ${nextSeq}`,
      );
    }
    if (seq !== nextSeq)
      throw new HttpError(
        "OUT_OF_ORDER",
        `seq ${seq} is out of order: the next call is ${nextSeq}${last ? `, and ${last.seq} may be repeated` : ""}`,
      );
    const start = performance.now();
    const { outcome, digest } = session.call(tool, args);
    const response = createCallResponse(outcome, digest, performance.now() - start);
    this.#lastCalls.set(session, { seq, name: tool, arguments: args, response });
    return response;
  }

  /** The state of the whole session, or of one of its servers. */
  state(sessionId: string, server: string | null): JsonResponse {
    const session = this.get(sessionId);
    if (server !== null && !Object.hasOwn(session.state, server))
      throw new HttpError("UNKNOWN_SERVER", `session ${sessionId} has no server ${server}`);
    return ok({
      session_id: session.id,
      digest: session.digest,
      state: server === null ? session.state : { [server]: session.state[server] },
    });
  }

  restore(sessionId: string, body: unknown): JsonResponse {
    const session = this.get(sessionId);
    session.restore(parseBody(restoreBody, body).state);
    return createOpenResponse(session);
  }

  /** Puts more tools on the menu, as when a task's turn adds them. */
  tools(sessionId: string, body: unknown): JsonResponse {
    const session = this.get(sessionId);
    const { add } = parseBody(toolsBody, body);
    this.#checkMenu(add, session.origin.servers);
    session.addTools(add);
    return createOpenResponse(session);
  }

  reset(sessionId: string, body: unknown): JsonResponse {
    const session = this.get(sessionId);
    parseBody(emptyBody, body);
    session.reset();
    return createOpenResponse(session);
  }

  delete(sessionId: string): JsonResponse {
    this.#table.close(sessionId);
    return ok({});
  }

  /** The session with that id. Throws an `HttpError` that says whether it was closed. */
  get(sessionId: string): TableSession {
    const session = this.#table.get(sessionId);
    if (session) return session;
    const reason = this.#table.wasIdle(sessionId)
      ? `session ${sessionId} was idle for longer than its ttl_s and is closed`
      : `there is no session ${sessionId}`;
    throw new HttpError("UNKNOWN_SESSION", `${reason}: open it with PUT /v1/sessions/${sessionId}`);
  }

  #withConflictErrors(sessionId: string, open: () => TableSession): TableSession {
    const problem = findSessionIdProblem(sessionId);
    if (problem) throw new HttpError("INVALID_REQUEST", problem);
    try {
      return open();
    } catch (error) {
      if (error instanceof CapacityError)
        throw new HttpError(
          "CAPACITY_REACHED",
          `all ${this.#table.capacity} sessions are in use; delete one, or try again later`,
          { "retry-after": "5" },
        );
      if (error instanceof SessionIdConflict)
        throw new HttpError(
          "INVALID_REQUEST",
          `session ${sessionId} is open already and was opened otherwise: delete it first, or choose another id`,
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
      );
  }
}

const ok = (value: object): JsonResponse => ({ status: 200, text: JSON.stringify(value) });
const createTtl = (seconds: number | undefined) =>
  seconds === undefined ? {} : { ttlMs: seconds * 1_000 };
const hasTaskId = (body: unknown): body is { readonly task_id: unknown } =>
  isJsonObject(body) && Object.hasOwn(body, "task_id");

const createOpenResponse = ({ id: session_id, digest, servers }: TableSession): JsonResponse =>
  ok({
    session_id,
    digest,
    mcp: Object.fromEntries(servers.map(it => [it.name, `/s/${session_id}/${it.name}/mcp`])),
  });

/** A tool's failure is a normal response. A broken call is an error, so that it is never scored. */
function createCallResponse(outcome: Outcome, digest: string, elapsedMs: number): JsonResponse {
  if (outcome.kind === "broken")
    return { status: 500, text: new HttpError("INTERNAL", formatFault(outcome).message).text };
  const structured: Json = outcome.kind === "ok" ? outcome.value : { ...formatFault(outcome) };
  const { text, truncated } = excerptJson(structured);
  return ok({
    is_error: outcome.kind !== "ok",
    text,
    structured,
    digest,
    elapsed_ms: Number(elapsedMs.toFixed(3)),
    truncated,
  });
}

function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new HttpError(
    "INVALID_REQUEST",
    path.length > 0 ? `${path.join(".")}: ${message}` : message,
  );
}
