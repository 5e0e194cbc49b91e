/** Serves each server of a session over MCP, at `/s/{session}/{server}/mcp`. */
import type { Catalog } from "../environment/catalog.ts";
import { isJsonObject } from "../environment/json.ts";
import { exposeServer, type CallableSession } from "../mcp/exposedServer.ts";
import { HttpTransport, sendMethodNotAllowed, type ResponseWriter } from "../mcp/httpTransport.ts";
import { HttpError } from "./httpError.ts";
import type { CheckedRequest } from "./route.ts";
import type { SessionApi } from "./sessions/sessionApi.ts";

export class McpRoutes {
  readonly #catalog: Catalog;
  readonly #sessions: SessionApi;
  /** One transport for each server, shared by all sessions and created on first use. */
  readonly #transports = new Map<string, HttpTransport>();

  constructor(catalog: Catalog, sessions: SessionApi) {
    this.#catalog = catalog;
    this.#sessions = sessions;
  }

  /** Answers a request to a server of a session. Rejects with an `HttpError`. */
  async answer(
    id: string,
    name: string,
    request: CheckedRequest,
    response: ResponseWriter,
  ): Promise<void> {
    await this.#sessions.keeper?.wake(id);
    const { servers } = this.#sessions.get(id);
    if (!servers.some(it => it.name === name))
      throw new HttpError(
        "UNKNOWN_SERVER",
        `session ${id} has no server ${name}`,
        `choose one of ${servers.map(it => it.name).join(", ")}`,
      );
    if (request.method !== "POST") return sendMethodNotAllowed(response);
    const body = await request.readJson();
    const transport = await this.#openTransport(name);
    await this.#sessions.get(id).runPrepared(
      () => listToolCalls(body),
      () => transport.handlePost({ headers: request.headers, body, sessionId: id }, response),
    );
  }

  async close(): Promise<void> {
    for (const it of this.#transports.values()) await it.close();
  }

  #getCallable(id: string): CallableSession {
    const sessions = this.#sessions;
    const session = sessions.get(id);
    return {
      tools: session.tools,
      state: session.state,
      call: (name, args) =>
        sessions.callDirectly(session, { name, arguments: args, isAlone: false }),
    };
  }

  async #openTransport(name: string): Promise<HttpTransport> {
    const existing = this.#transports.get(name);
    if (existing) return existing;
    const exposed = exposeServer(this.#catalog.getServer(name), id => this.#getCallable(id ?? ""));
    const transport = new HttpTransport(exposed.answer);
    this.#transports.set(name, transport);
    await exposed.sdkServer.connect(transport);
    return transport;
  }
}

/** The calls of tools in a message or a batch of messages; what else is in it is checked later. */
const listToolCalls = (body: unknown): { name: string; arguments: unknown }[] =>
  [body].flat().flatMap((message: unknown) => {
    const { method, params } = isJsonObject(message) ? message : {};
    if (method !== "tools/call" || !isJsonObject(params)) return [];
    const { name, arguments: args = {} } = params;
    return typeof name === "string" ? [{ name, arguments: args }] : [];
  });
