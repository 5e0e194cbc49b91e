/**
 * `/v1/sessions/{id}`: opened, called, forked, read, restored, reset and deleted. A call carries
 * its number, so that repeating it after a cut connection gives the stored answer and never runs
 * twice. Knows no HTTP beyond what a request says and what is answered.
 */
import { z } from "zod";
import type { Catalog } from "../environment/catalog.ts";
import { isJsonObject, type Json } from "../environment/json.ts";
import type { Outcome } from "../environment/outcome.ts";
import { formatFault } from "../mcp/exposedServer.ts";
import { excerptJson } from "../trajectory/excerpt.ts";
import { HttpError } from "./httpError.ts";
import { findSessionIdProblem } from "./sessionId.ts";
import {
  CapacityError,
  SessionIdConflict,
  type TableSession,
  type Origin,
  type SessionTable,
} from "./sessionTable.ts";

const name = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/);
/** A name and no path: it becomes part of a file's name. */
const fixtureName = z.string().regex(/^[a-z][a-z0-9-]{0,40}(~[1-9]\d{0,5})?$/);
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
const emptyBody = z.strictObject({});

/** What is answered: a status and JSON text. */
export interface JsonResponse {
  readonly status: number;
  readonly text: string;
}

export class SessionApi {
  readonly #catalog: Catalog;
  readonly #table: SessionTable;
  /** The last numbered call of each session and its answer. */
  readonly #last = new WeakMap<
    TableSession,
    { readonly seq: number; readonly answer: JsonResponse }
  >();

  constructor(catalog: Catalog, table: SessionTable) {
    this.#catalog = catalog;
    this.#table = table;
  }

  open(sessionId: string, body: unknown): JsonResponse {
    if (isTask(body))
      throw new HttpError(
        "UNKNOWN_TASK",
        `there is no task ${String(body.task_id).slice(0, 200)}: this service was given none`,
      );
    const {
      servers = [...this.#catalog.servers.keys()],
      fixture = "full",
      seed = 1,
      menu,
      owner: by,
      ttl_s,
    } = parsed(openBody, body);
    const pins = servers.map(it =>
      typeof it === "string"
        ? { name: it, fixture }
        : { name: it.name, fixture: it.fixture ?? fixture },
    );
    const twice = pins.find((it, i) => pins.findIndex(other => other.name === it.name) !== i);
    if (twice) throw new HttpError("INVALID_REQUEST", `server ${twice.name} is listed twice`);
    const origin: Origin = {
      servers: pins,
      seed,
      ...(menu ? { menu: this.#checkedMenu(menu, pins) } : {}),
    };
    return opened(
      this.#held(sessionId, () =>
        this.#table.open({ id: sessionId, owner: by ?? "client", ...ttlOf(ttl_s), ...origin }),
      ),
    );
  }

  fork(sessionId: string, body: unknown): JsonResponse {
    const from = this.get(sessionId);
    const { session_id, owner: by, ttl_s } = parsed(forkBody, body);
    return opened(
      this.#held(session_id, () =>
        this.#table.fork(from, { id: session_id, ...(by ? { owner: by } : {}), ...ttlOf(ttl_s) }),
      ),
    );
  }

  call(sessionId: string, body: unknown): JsonResponse {
    const session = this.get(sessionId);
    const { seq, name: tool, arguments: args = {} } = parsed(callBody, body);
    const last = this.#last.get(session);
    if (last?.seq === seq) return last.answer;
    const due = (last?.seq ?? 0) + 1;
    if (seq !== due)
      throw new HttpError(
        "OUT_OF_ORDER",
        `seq ${seq} is out of order: the next call is ${due}${last ? `, and ${last.seq} may be repeated` : ""}`,
      );
    const start = performance.now();
    const { outcome, digest } = session.call(tool, args);
    const answer = answerOf(outcome, digest, performance.now() - start);
    this.#last.set(session, { seq, answer });
    return answer;
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
    session.restore(parsed(restoreBody, body).state);
    return opened(session);
  }

  reset(sessionId: string, body: unknown): JsonResponse {
    const session = this.get(sessionId);
    parsed(emptyBody, body);
    session.reset();
    return opened(session);
  }

  delete(sessionId: string): JsonResponse {
    this.#table.close(sessionId);
    return ok({});
  }

  /** The session of that id, or a `Failure` that says what became of it. */
  get(sessionId: string): TableSession {
    const session = this.#table.get(sessionId);
    if (session) return session;
    const why = this.#table.wasIdle(sessionId)
      ? `session ${sessionId} was idle for longer than its ttl_s and is closed`
      : `there is no session ${sessionId}`;
    throw new HttpError("UNKNOWN_SESSION", `${why}: open it with PUT /v1/sessions/${sessionId}`);
  }

  #held(sessionId: string, open: () => TableSession): TableSession {
    const why = findSessionIdProblem(sessionId);
    if (why) throw new HttpError("INVALID_REQUEST", why);
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

  #checkedMenu(menu: readonly string[], pins: Origin["servers"]): readonly string[] {
    const unknown = menu.find(
      it => !pins.some(pin => this.#catalog.getServer(pin.name).tools.has(it)),
    );
    if (unknown !== undefined)
      throw new HttpError(
        "INVALID_REQUEST",
        `the menu offers ${unknown}, which none of the session's servers has`,
      );
    return menu;
  }
}

const ok = (value: object): JsonResponse => ({ status: 200, text: JSON.stringify(value) });
const ttlOf = (seconds: number | undefined) =>
  seconds === undefined ? {} : { ttlMs: seconds * 1_000 };
const isTask = (body: unknown): body is { readonly task_id: unknown } =>
  isJsonObject(body) && Object.hasOwn(body, "task_id");

const opened = ({ id: session_id, digest, servers }: TableSession): JsonResponse =>
  ok({
    session_id,
    digest,
    mcp: Object.fromEntries(servers.map(it => [it.name, `/s/${session_id}/${it.name}/mcp`])),
  });

/** A tool's own failure is an answer; a bug of ours is none, and is never scored. */
function answerOf(outcome: Outcome, digest: string, elapsed: number): JsonResponse {
  if (outcome.kind === "broken")
    return { status: 500, text: new HttpError("INTERNAL", formatFault(outcome).message).text };
  const structured: Json = outcome.kind === "ok" ? outcome.value : { ...formatFault(outcome) };
  const { text, truncated } = excerptJson(structured);
  return ok({
    is_error: outcome.kind !== "ok",
    text,
    structured,
    digest,
    elapsed_ms: Number(elapsed.toFixed(3)),
    truncated,
  });
}

function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new HttpError(
    "INVALID_REQUEST",
    path.length > 0 ? `${path.join(".")}: ${message}` : message,
  );
}
