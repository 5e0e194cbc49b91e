/**
 * Finds the route of a request by path and method, and answers it. The caller has checked who sends
 * it (`requestGuard.ts`).
 */
import type { ResponseWriter } from "../mcp/httpTransport.ts";
import type { ChatRoutes } from "./chatRoutes.ts";
import { HttpError, toHttpError } from "./httpError.ts";
import { sendJson, type JsonResponse } from "./jsonResponse.ts";
import type { McpRoutes } from "./mcpRoutes.ts";
import type { Metrics } from "./metrics.ts";
import { createOpenApi } from "./openApi.ts";
import { decodeSegment, type Route, type CheckedRequest } from "./route.ts";

/** The segment of a path that may be an id: `/v1/sessions/{id}`. */
const idIndex = 2;

interface RouterOptions {
  readonly metrics?: Metrics | undefined;
  /** Describes the routes that the caller answers itself. */
  readonly chat?: ChatRoutes | undefined;
}

export class Router {
  /** By path, with `{id}` in place of an id, and method. */
  readonly #routes = new Map<string, Map<string, Route>>();
  readonly #mcp: McpRoutes;
  readonly #metrics: Metrics | undefined;
  readonly #document: () => JsonResponse;

  constructor(routes: readonly Route[], mcp: McpRoutes, { metrics, chat }: RouterOptions = {}) {
    this.#metrics = metrics;
    for (const route of routes) {
      const methods = this.#routes.get(route.path) ?? new Map<string, Route>();
      this.#routes.set(route.path, methods.set(route.method, route));
    }
    this.#mcp = mcp;
    let text: string | undefined;
    this.#document = () => ({
      status: 200,
      text: (text ??= JSON.stringify(createOpenApi([...routes, ...(chat?.routes ?? [])]))),
    });
  }

  /** Answers a request. Rejects with an `HttpError`. */
  async answer(request: CheckedRequest, response: ResponseWriter): Promise<void> {
    const [path, search] = (request.url ?? "").split("?", 2) as [string, string | undefined];
    const parts = path.split("/").slice(1);
    if (parts[0] === "s" && parts.length === 4 && parts[3] === "mcp")
      return this.#mcp.answer(decodeId(parts[1]!), parts[2]!, request, response);
    if (path === "/openapi.json" && request.method === "GET")
      return sendJson(response, this.#document());
    if (path === "/metrics" && request.method === "GET" && this.#metrics)
      return sendMetrics(response, this.#metrics);
    const { route, id } = this.#find(request.method ?? "", parts);
    const body = route.body ? await request.readJson() : undefined;
    const query = search === undefined ? {} : Object.fromEntries(new URLSearchParams(search));
    const start = performance.now();
    let status = 0;
    try {
      const answer = await route.answer({ id, query, body });
      status = answer.status;
      sendJson(response, answer);
    } catch (error) {
      status = toHttpError(error)?.status ?? 500;
      throw error;
    } finally {
      this.#metrics?.countRequest(
        `${route.method} ${route.path}`,
        status,
        (performance.now() - start) / 1_000,
      );
    }
  }

  #find(method: string, parts: readonly string[]): { readonly route: Route; readonly id: string } {
    const exact = this.#routes.get(`/${parts.join("/")}`);
    const methods =
      exact ??
      (parts[idIndex]
        ? this.#routes.get(`/${parts.map((it, i) => (i === idIndex ? "{id}" : it)).join("/")}`)
        : undefined);
    if (!methods)
      throw new HttpError(
        "UNKNOWN_ROUTE",
        "nothing is served at this address",
        "GET /openapi.json lists the addresses",
      );
    const route = methods.get(method);
    if (route) return { route, id: exact ? "" : decodeId(parts[idIndex]!) };
    const allow = [...methods.keys()].join(", ");
    throw new HttpError(
      "METHOD_NOT_ALLOWED",
      `this address does not answer ${method}`,
      `use ${allow}`,
      { allow },
    );
  }
}

async function sendMetrics(response: ResponseWriter, metrics: Metrics): Promise<void> {
  const { text, type } = await metrics.format();
  response.writeHead(200, { "content-type": type }).end(text);
}

function decodeId(segment: string): string {
  const id = decodeSegment(segment);
  if (id !== undefined) return id;
  throw new HttpError(
    "INVALID_REQUEST",
    "the id in the address is not percent-encoded UTF-8",
    "encode it",
  );
}
