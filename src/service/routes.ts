/** Routes requests by path and method. The caller has validated them (`requestGuard.ts`). */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Catalog } from "../environment/catalog.ts";
import { exposeServer } from "../mcp/exposedServer.ts";
import { HttpTransport, sendMethodNotAllowed } from "../mcp/httpTransport.ts";
import { readJsonBody } from "./requestBody.ts";
import { describeCatalog, describeHealth } from "./catalog.ts";
import { HttpError } from "./httpError.ts";
import { SessionApi, type JsonResponse } from "./sessionApi.ts";
import type { SessionTable } from "./sessionTable.ts";

export class Routes {
  readonly #catalog: Catalog;
  readonly #table: SessionTable;
  readonly #sessions: SessionApi;
  /** One transport for each server, shared by all sessions and created on first use. */
  readonly #transports = new Map<string, HttpTransport>();

  constructor(catalog: Catalog, table: SessionTable) {
    this.#catalog = catalog;
    this.#table = table;
    this.#sessions = new SessionApi(catalog, table);
  }

  /** Answers a request. Throws an `HttpError`. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path, query] = (request.url ?? "").split("?", 2) as [string, string | undefined];
    const parts = path.split("/").slice(1);
    if (parts[0] === "s" && parts.length === 4 && parts[3] === "mcp")
      return this.#answerMcp(parts[1]!, parts[2]!, request, response);
    sendJson(response, await this.#answerJson(request, parts, new URLSearchParams(query)));
  }

  async close(): Promise<void> {
    for (const it of this.#transports.values()) await it.close();
  }

  async #answerJson(
    request: IncomingMessage,
    parts: readonly string[],
    query: URLSearchParams,
  ): Promise<JsonResponse> {
    const [first, second, id, action, ...rest] = parts;
    if (first === "health" && parts.length === 1)
      return answerMethod(request, "GET", () => ({
        status: 200,
        text: JSON.stringify(describeHealth(this.#catalog, this.#table)),
      }));
    if (first === "v1" && second === "catalog" && parts.length === 2)
      return answerMethod(request, "GET", () => ({
        status: 200,
        text: JSON.stringify(describeCatalog(this.#catalog)),
      }));
    if (first === "v1" && second === "sessions" && id && rest.length === 0)
      return this.#answerSession(request, id, action, query);
    throw new HttpError("UNKNOWN_ROUTE", "nothing is served at this address");
  }

  async #answerSession(
    request: IncomingMessage,
    id: string,
    action: string | undefined,
    query: URLSearchParams,
  ): Promise<JsonResponse> {
    const sessions = this.#sessions;
    switch (action) {
      case undefined:
        if (request.method === "DELETE") return sessions.delete(id);
        return answerMethod(
          request,
          "PUT",
          async () => sessions.open(id, await readJsonBody(request)),
          "PUT, DELETE",
        );
      case "state":
        return answerMethod(request, "GET", () => sessions.state(id, query.get("server")));
      case "call":
      case "fork":
      case "restore":
      case "reset":
      case "tools":
        return answerMethod(request, "POST", async () =>
          sessions[action](id, await readJsonBody(request)),
        );
      default:
        throw new HttpError("UNKNOWN_ROUTE", `a session has no ${action}`);
    }
  }

  async #answerMcp(
    id: string,
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (!this.#sessions.get(id).servers.some(it => it.name === name))
      throw new HttpError("UNKNOWN_SERVER", `session ${id} has no server ${name}`);
    if (request.method !== "POST") return sendMethodNotAllowed(response);
    const body = await readJsonBody(request);
    const transport = await this.#openTransport(name);
    transport.handlePost({ headers: request.headers, body, sessionId: id }, response);
  }

  async #openTransport(name: string): Promise<HttpTransport> {
    const existing = this.#transports.get(name);
    if (existing) return existing;
    const exposed = exposeServer(this.#catalog.getServer(name), id => this.#sessions.get(id ?? ""));
    const transport = new HttpTransport(exposed.answer);
    this.#transports.set(name, transport);
    await exposed.sdkServer.connect(transport);
    return transport;
  }
}

/** Answers requests with one method; refuses others and lists the allowed methods. */
async function answerMethod(
  request: IncomingMessage,
  method: string,
  answer: () => JsonResponse | Promise<JsonResponse>,
  allow = method,
): Promise<JsonResponse> {
  if (request.method === method) return answer();
  throw new HttpError("METHOD_NOT_ALLOWED", `this address answers ${allow}`, { allow });
}

export function sendJson(
  response: ServerResponse,
  { status, text }: JsonResponse,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
}
