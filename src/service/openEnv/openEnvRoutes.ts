/**
 * The HTTP routes of OpenEnv. They have no state: each request is answered by an episode of its
 * own, as in OpenEnv's own servers. Episodes of more than one step need the WebSocket. The reduced
 * JSON-RPC of OpenEnv lists and calls tools without rewards; clients of MCP use
 * `/s/{session}/{server}/mcp` instead.
 */
import { z } from "zod";
import type { Catalog } from "../../environment/catalog.ts";
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { HttpError, toHttpError } from "../httpError.ts";
import { createOkResponse, parseBody } from "../jsonBody.ts";
import { parsePeerJson, type Peers } from "../peers.ts";
import { toJsonSchema, type Route } from "../route.ts";
import { formatOutcome, type SessionApi } from "../sessions/sessionApi.ts";
import type { TableSession } from "../sessions/sessionTable.ts";
import { version } from "../../version.ts";
import {
  OpenEnvEpisode,
  formatTool,
  type EpisodeOptions,
  type StepResult,
} from "./openEnvEpisode.ts";
import * as schemas from "./openEnvSchemas.ts";

export function createOpenEnvRoutes(options: EpisodeOptions, rpc: OpenEnvRpc): readonly Route[] {
  const withEpisode = async (
    work: (episode: OpenEnvEpisode) => StepResult | Promise<StepResult>,
  ) => {
    const episode = new OpenEnvEpisode(options);
    try {
      return createOkResponse(await work(episode));
    } finally {
      episode.close();
    }
  };
  return [
    {
      method: "GET",
      path: "/metadata",
      summary: "OpenEnv: what this environment is",
      response: schemas.metadataResponse,
      answer: () =>
        createOkResponse({
          name: "PROVE",
          description:
            "Conversations with a scripted user on stateful tool servers, with a programmatic reward",
          version,
        }),
    },
    {
      method: "GET",
      path: "/schema",
      summary: "OpenEnv: the schemas of actions, observations and state",
      response: schemas.schemaResponse,
      answer: () =>
        createOkResponse({
          action: toJsonSchema(schemas.action, "input"),
          observation: toJsonSchema(schemas.observation, "output"),
          state: toJsonSchema(schemas.state, "output"),
        }),
    },
    {
      method: "GET",
      path: "/state",
      summary: "OpenEnv: the state before an episode; that of an episode is asked for over /ws",
      response: schemas.state,
      answer: () => createOkResponse(new OpenEnvEpisode(options).state),
    },
    {
      method: "POST",
      path: "/reset",
      summary: "OpenEnv: the first observation of an episode, which is not kept",
      body: schemas.resetOptions,
      response: schemas.stepResponse,
      answer: ({ body }) => withEpisode(it => it.reset(parseBody(schemas.resetOptions, body))),
    },
    {
      method: "POST",
      path: "/step",
      summary: "OpenEnv: list the tools; other actions need an episode, over /ws",
      body: schemas.stepBody,
      response: schemas.stepResponse,
      answer: ({ body }) => withEpisode(it => it.step(parseBody(schemas.stepBody, body).action)),
    },
    {
      method: "POST",
      path: "/mcp",
      summary: "OpenEnv: list and call tools by JSON-RPC, in a session or without one",
      body: schemas.rpcBody,
      response: schemas.rpcResponse,
      answer: async ({ body }) => createOkResponse(await rpc.answer(body)),
    },
  ];
}

const request = z.object({
  jsonrpc: z.literal("2.0"),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
  id: z.union([z.string(), z.number()]).nullish(),
});

const codes = { invalidRequest: -32_600, noMethod: -32_601, invalidParams: -32_602 };
const serverError = -32_000;

export class OpenEnvRpc {
  readonly #catalog: Catalog;
  readonly #sessions: SessionApi;
  readonly #peers: Peers | undefined;

  constructor(catalog: Catalog, sessions: SessionApi, peers?: Peers) {
    this.#catalog = catalog;
    this.#sessions = sessions;
    this.#peers = peers;
  }

  /**
   * Answers a request, in the process that has the session that it names. `own` is the session of
   * the socket through which it came.
   */
  async answer(body: unknown, own?: TableSession): Promise<JsonObject> {
    const id = findSessionId(body);
    if (id === undefined || id === own?.id) return this.#answerHere(body, own);
    const peers = this.#peers;
    if (peers && !peers.isOwn(id)) {
      const response = await peers.send(peers.findIndex(id), {
        method: "POST",
        url: "/mcp",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        isRepeatable: false,
      });
      return parsePeerJson(response) as JsonObject;
    }
    await this.#sessions.keeper?.wake(id);
    return this.#answerHere(body, own);
  }

  async #answerHere(body: unknown, own?: TableSession): Promise<JsonObject> {
    const parsed = request.safeParse(body);
    if (!parsed.success)
      return createError(null, codes.invalidRequest, "the request is not JSON-RPC 2.0");
    const { id = null, method, params = {} } = parsed.data;
    const run = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined;
    if (!run) return createError(id, codes.noMethod, `there is no method ${method}`);
    try {
      return { jsonrpc: "2.0", id, result: (await run(params, own)) as Json };
    } catch (error) {
      const known = toHttpError(error);
      if (!known) throw error;
      const isInvalid = known.code === "INVALID_REQUEST" || known.code === "UNKNOWN_SESSION";
      return createError(id, isInvalid ? codes.invalidParams : serverError, known.message);
    }
  }

  readonly #methods: Readonly<
    Record<
      string,
      (params: Readonly<Record<string, unknown>>, own?: TableSession) => object | Promise<object>
    >
  > = {
    "openenv/session/create": async (_, own) => ({ session_id: own?.id ?? (await this.#open()) }),
    "openenv/session/close": ({ session_id: id }, own) => {
      const session = this.#find(id);
      if (!session || session === own)
        throw new HttpError(
          "INVALID_REQUEST",
          session ? "the session belongs to this connection" : "session_id is missing",
          session ? "close the connection" : "send the session_id to close",
        );
      this.#sessions.delete(session.id);
      return { session_id: session.id, closed: true };
    },
    "tools/list": ({ session_id: id }, own) => {
      const session = this.#find(id) ?? own;
      const offered = session?.attempt?.conversation.tools ?? [
        ...(session ?? this.#catalog).tools.values(),
      ];
      return {
        tools: offered.map(it => {
          const { name, description, input_schema: inputSchema } = formatTool(it);
          return { name, description, inputSchema };
        }),
      };
    },
    "tools/call": async ({ session_id: id, name, arguments: args = {} }, own) => {
      if (typeof name !== "string")
        throw new HttpError("INVALID_REQUEST", "name is missing", "send the name of the tool");
      const session = this.#find(id) ?? own;
      if (session) return this.#call(session, name, args);
      // as if the session had been created and closed around the call
      const created = await this.#open();
      try {
        return await this.#call(this.#sessions.get(created), name, args);
      } finally {
        this.#sessions.delete(created);
      }
    },
  };

  /** Opens a session of this process, and returns its id. */
  async #open(): Promise<string> {
    const id = this.#sessions.createId();
    await this.#sessions.withRoom(() => this.#sessions.open(id, { owner: "openenv" }));
    return id;
  }

  async #call(session: TableSession, name: string, args: unknown): Promise<object> {
    const call = { name, arguments: args, isAlone: true };
    const { outcome } = await session.runPrepared(
      () => [call],
      () => this.#sessions.callDirectly(session, call),
    );
    const { text, structured } = formatOutcome(outcome);
    return {
      content: [{ type: "text", text }],
      structured_content: isJsonObject(structured) ? structured : null,
      data: text,
      is_error: outcome.kind !== "ok",
    };
  }

  #find(id: unknown): TableSession | undefined {
    return id === undefined
      ? undefined
      : this.#sessions.get(typeof id === "string" ? id : JSON.stringify(id));
  }
}

/** The session that a request names, if its parameters have one. */
function findSessionId(body: unknown): string | undefined {
  const params = isJsonObject(body) ? body["params"] : undefined;
  const id = params !== undefined && isJsonObject(params) ? params["session_id"] : undefined;
  return typeof id === "string" ? id : undefined;
}

const createError = (id: string | number | null, code: number, message: string): JsonObject => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});
