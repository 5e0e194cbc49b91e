/**
 * The HTTP server for external trainers (`/v1`), for MCP clients (`/s/{session}/{server}/mcp`) and
 * for OpenEnv clients (`/ws`), which share one table of sessions: it checks a request, finds its
 * route and answers it, or passes it to the process that has the session. The command-line program
 * and the editor both run it. It serves no files.
 */
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Server as ListeningServer } from "node:net";
import type { Duplex } from "node:stream";
import type { Catalog } from "../environment/catalog.ts";
import type { ResponseWriter } from "../mcp/httpTransport.ts";
import type { ServedPolicy } from "../policy/servedPolicy.ts";
import { UserError } from "../userError.ts";
import { formatChatError } from "./chat/chatRequest.ts";
import { ChatRoutes, isChatPath } from "./chat/chatRoutes.ts";
import { describeError, HttpError, toHttpError } from "./httpError.ts";
import { sendJson, readJsonBody, readBytes, type JsonResponse } from "./jsonBody.ts";
import { McpRoutes } from "./mcpRoutes.ts";
import type { Metrics } from "./metrics.ts";
import { OpenEnvSockets } from "./openEnv/openEnvSocket.ts";
import { metricsRequest, parsePeerJson, findSessionInPath, type Peers } from "./peers.ts";
import { createRequestGuard, isLoopbackHost } from "./requestGuard.ts";
import { createOpenApi, decodeSegment, type CheckedRequest, type Route } from "./route.ts";
import { createApi } from "./routes.ts";
import type { SessionJournal } from "./sessions/journal.ts";
import { SessionKeeper } from "./sessions/sessionKeeper.ts";
import { SessionTable } from "./sessions/sessionTable.ts";
import { TaskStore } from "./taskStore.ts";

export interface HttpServerOptions {
  readonly catalog: Catalog;
  /** Loopback by default; another host needs a token. */
  readonly host?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly token?: string | undefined;
  /**
   * Names in the Host header under which clients reach this machine, besides loopback names and, on
   * another host, its addresses and its own name.
   */
  readonly allowedHosts?: readonly string[];
  readonly capacity?: number;
  /** A table to share, which is not closed with the server; a new table if absent. */
  readonly sessions?: SessionTable;
  /** Keeps sessions beyond this process; they end with it if absent. */
  readonly journal?: SessionJournal | undefined;
  /** The tasks for which sessions can be opened; none if absent. */
  readonly tasks?: TaskStore;
  /** The policy that answers chat completions; there are none if absent. */
  readonly policy?: ServedPolicy | undefined;
  /** Counts what the service does and is served at `/metrics`; nothing is counted if absent. */
  readonly metrics?: Metrics;
  /** Milliseconds from any starting point, used to find idle sessions. */
  readonly clock?: () => number;
  /** Receives unexpected errors, which clients see as `INTERNAL`. */
  readonly onBug?: (error: unknown) => void;
}

/** How a process takes part in a service of several, which share its sessions among them. */
interface PartOptions {
  readonly peers: Peers;
  /** How many sessions this process may open before it asks for room. */
  readonly share: number;
}

export interface RunningHttpServer {
  /** `http://127.0.0.1:8970`, without a slash at the end. */
  readonly url: string;
  readonly sessions: SessionTable;
  /** The path under `url` at which a server of a session is exposed over MCP. */
  readonly mcpPath: (session: string, server: string) => string;
  /**
   * Opens no more sessions from now on. Resolves when none is open any more, or the time is over.
   */
  readonly drain: (milliseconds: number) => Promise<void>;
  /** Closes all connections, and all sessions unless the table is shared. */
  readonly close: () => Promise<void>;
}

/** Connections stay open between the turns of a slow model. */
const keepAliveMs = 620_000;
const closeIdleEveryMs = 15_000;

/** Starts listening. Throws a `UserError` if the port is in use or a token is required. */
export async function startHttpServer(options: HttpServerOptions): Promise<RunningHttpServer> {
  const { host = "127.0.0.1", port = 0, token } = options;
  checkHost(host, token);
  const service = createUnboundServer(options);
  await listen(service.server, host, port);
  const { port: actualPort } = service.server.address() as AddressInfo;
  return {
    url: formatUrl(host, actualPort),
    sessions: service.sessions,
    mcpPath: (session, name) => `/s/${session}/${name}/mcp`,
    drain: milliseconds => {
      service.startDraining();
      return waitUntilEmpty(service.sessions, milliseconds);
    },
    close: service.close,
  };
}

/** Throws a `UserError` for a host that other machines can reach, if there is no token. */
export function checkHost(host: string, token: string | undefined): void {
  if (!isLoopbackHost(host) && token === undefined)
    throw new UserError(
      `${host} can be reached from other machines and there is no token`,
      "set PROVE_TOKEN, name a file with --token-file, or serve on 127.0.0.1",
    );
}

export const formatUrl = (host: string, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

export interface UnboundServer {
  /** Answers requests; does not listen yet. */
  readonly server: Server;
  readonly sessions: SessionTable;
  /** Answers a request that another process of the service has checked. */
  readonly answer: (request: CheckedRequest, response: ResponseWriter) => Promise<void>;
  /** Answers what only processes of the service ask one another; undefined for another name. */
  readonly answerInternal: (name: string, body: unknown) => Promise<JsonResponse> | undefined;
  readonly startDraining: () => void;
  readonly close: () => Promise<void>;
}

/** Creates a service: its sessions, and a server that does not listen yet. */
export function createUnboundServer(options: HttpServerOptions, part?: PartOptions): UnboundServer {
  const { catalog, host = "127.0.0.1", token, metrics, onBug } = options;
  const clock = options.clock ?? (() => performance.now());
  const table = options.sessions ?? createTable(options, clock, part);
  const peers = part?.peers;
  const api = createApi({
    catalog,
    table,
    tasks: options.tasks ?? new TaskStore(),
    metrics,
    peers,
    onBug,
  });
  const { sessions, attempts, rpc, routes, repeat } = api;
  if (peers)
    metrics?.collectFrom(async () =>
      (await peers.sendToOthers(metricsRequest)).map(it => parsePeerJson(it)),
    );
  if (options.journal)
    sessions.keeper = new SessionKeeper({
      table,
      journal: options.journal,
      clock,
      isOwn: id => peers?.isOwn(id) ?? true,
      repeat,
      onRebuilt: () => metrics?.countRebuilt(),
    });
  const mcp = new McpRoutes(catalog, sessions);
  metrics?.watch(table, catalog.own.values());
  const chat = options.policy && new ChatRoutes(options.policy, Math.floor(Date.now() / 1_000));
  const router = new Router(routes, mcp, { metrics, chat });
  const checkRequest = createRequestGuard(host, token, options.allowedHosts);
  const isChat = ({ url }: IncomingMessage) => chat !== undefined && isChatPath(url);
  const describe = (error: unknown) => describeError(error, onBug);
  const answer = async (request: CheckedRequest, response: ResponseWriter) => {
    try {
      await router.answer(request, response);
    } catch (error) {
      sendError(response, describeError(error, onBug));
    }
  };
  const handleRequest = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      checkRequest(request);
      if (isChat(request)) return await chat!.answer(request, response, describe);
      if (peers && (await passToOwner(request, response, peers))) return;
      await router.answer(withJson(request), response);
    } catch (error) {
      // the client of a chat has disconnected, which ended the answer
      if (response.destroyed && (error as Error).name === "AbortError") return;
      if (isChat(request)) sendChatError(response, describe(error));
      else sendError(response, describe(error));
    }
  };
  const server = createServer(
    // other upgrades are ignored and their requests answered, by versions of Node that can
    { keepAliveTimeout: keepAliveMs, shouldUpgradeCallback: isWebSocketRequest },
    (request, response) => void handleRequest(request, response),
  );
  const sockets = new OpenEnvSockets({ catalog, sessions, attempts, rpc, clock, onBug });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    try {
      checkRequest(request, "WebSocket");
      checkSocketPath(request);
      sockets.accept(request, socket, head);
    } catch (error) {
      refuseUpgrade(socket, describeError(error, onBug));
    }
  });
  const timer = setInterval(() => {
    table.closeIdle();
    sessions.keeper?.closeIdle();
    sockets.checkSilent();
  }, closeIdleEveryMs);
  timer.unref();
  return {
    server,
    sessions: table,
    answer,
    answerInternal(name, body) {
      const ask = Object.hasOwn(api.internal, name) ? api.internal[name] : undefined;
      return ask && answerSafely(() => ask(body), onBug);
    },
    startDraining: () => void (sessions.isDraining = true),
    async close() {
      clearInterval(timer);
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      await mcp.close();
      sockets.close();
      server.closeAllConnections();
      if (!options.sessions) table.closeAll();
      options.journal?.close();
      await closed;
    },
  };
}

async function answerSafely(
  ask: () => JsonResponse | Promise<JsonResponse>,
  onBug: HttpServerOptions["onBug"],
): Promise<JsonResponse> {
  try {
    return await ask();
  } catch (error) {
    const { status, text } = describeError(error, onBug);
    return { status, text };
  }
}

const createTable = (
  { catalog, capacity }: HttpServerOptions,
  clock: () => number,
  part: PartOptions | undefined,
) =>
  new SessionTable({
    catalog,
    ...(capacity === undefined ? {} : { capacity }),
    clock,
    ...(part ? { share: part.share } : {}),
  });

function withJson(request: IncomingMessage): CheckedRequest {
  const { method, url, headers } = request;
  return { method, url, headers, readJson: () => readJsonBody(request) };
}

function sendError(response: ResponseWriter, error: HttpError): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, error, error.headers);
}

function sendChatError(response: ServerResponse, error: HttpError): void {
  const { status, headers } = error;
  if (response.headersSent) response.destroy();
  else sendJson(response, { status, text: formatChatError(error) }, headers);
}

const isWebSocketRequest = ({ headers }: IncomingMessage) =>
  headers.upgrade?.toLowerCase() === "websocket";

function checkSocketPath({ url }: IncomingMessage): void {
  if (url?.split("?", 1)[0] !== "/ws")
    throw new HttpError("UNKNOWN_ROUTE", "there is no WebSocket at this address", "use /ws");
}

/** Answers a request for a WebSocket as it would be answered without one. */
function refuseUpgrade(socket: Duplex, { status, text, headers }: HttpError): void {
  // the client has disconnected already
  socket.once("error", () => socket.destroy());
  const lines = Object.entries({
    connection: "close",
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${text}`, () =>
    socket.destroy(),
  );
}

function waitUntilEmpty(table: SessionTable, milliseconds: number): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer);
      removeListener();
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    const removeListener = table.onChange(() => table.size === 0 && end());
    if (table.size === 0) end();
  });
}

export function listen(server: ListeningServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const remedy =
        cause.code === "EADDRINUSE"
          ? "choose another port, or 0 for any free one"
          : "choose another host or port";
      reject(
        new UserError(`cannot listen on ${host}:${port} (${cause.code ?? cause.message})`, remedy, {
          cause,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}

/** The segment of a path that may be an id: `/v1/sessions/{id}`. */
const idIndex = 2;

interface RouterOptions {
  readonly metrics?: Metrics | undefined;
  /** Describes the routes that the caller answers itself. */
  readonly chat?: ChatRoutes | undefined;
}

class Router {
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

/** The headers of a request that routes read. */
const passedHeaders = [
  "content-type",
  "accept",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
] as const;

/** Returns false for a request that this process answers itself. */
async function passToOwner(
  request: IncomingMessage,
  response: ServerResponse,
  peers: Peers,
): Promise<boolean> {
  const { method = "", url = "", headers } = request;
  const id = findSessionInPath(url);
  if (id === undefined || peers.isOwn(id)) return false;
  const body = await readBytes(request);
  const passed = passedHeaders.flatMap(name => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  const answer = await peers.send(peers.findIndex(id), {
    method,
    url,
    headers: Object.fromEntries(passed),
    body,
    // calls over MCP have no number
    isRepeatable: url.startsWith("/v1/"),
  });
  response.writeHead(answer.status, answer.headers).end(answer.body);
  return true;
}
