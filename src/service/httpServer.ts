/**
 * The HTTP server for external trainers (`/v1`), for MCP clients (`/s/{session}/{server}/mcp`) and
 * for OpenEnv clients (`/ws`), which share one table of sessions. The command-line program and the
 * editor both run it. It serves no files.
 */
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Catalog } from "../environment/catalog.ts";
import { UserError } from "../userError.ts";
import { HttpError, toHttpError } from "./httpError.ts";
import { createRequestGuard, isLoopbackHost } from "./requestGuard.ts";
import { sendJson } from "./jsonResponse.ts";
import type { Metrics } from "./metrics.ts";
import { McpRoutes } from "./mcpRoutes.ts";
import { OpenEnvSockets } from "./openEnvSocket.ts";
import { Router } from "./router.ts";
import { createApi } from "./routes.ts";
import { SessionTable } from "./sessionTable.ts";
import { TaskStore } from "./taskStore.ts";

export interface HttpServerOptions {
  readonly catalog: Catalog;
  /** Loopback by default; another host needs a token. */
  readonly host?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly token?: string | undefined;
  /**
   * Names in the Host header under which other machines reach this one, besides its addresses and
   * its own name.
   */
  readonly allowedHosts?: readonly string[];
  readonly capacity?: number;
  /** A table to share, which is not closed with the server; a new table if absent. */
  readonly sessions?: SessionTable;
  /** The tasks for which sessions can be opened; none if absent. */
  readonly tasks?: TaskStore;
  /** Counts what the service does and is served at `/metrics`; nothing is counted if absent. */
  readonly metrics?: Metrics;
  /** Milliseconds from any starting point, used to find idle sessions. */
  readonly clock?: () => number;
  /** Receives unexpected errors, which clients see as `INTERNAL`. */
  readonly onBug?: (error: unknown) => void;
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
  const { catalog, host = "127.0.0.1", port = 0, token, capacity, clock } = options;
  if (!isLoopbackHost(host) && token === undefined)
    throw new UserError(
      `${host} can be reached from other machines and there is no token`,
      "set PROVE_TOKEN, name a file with --token-file, or serve on 127.0.0.1",
    );
  const table =
    options.sessions ??
    new SessionTable({
      catalog,
      ...(capacity === undefined ? {} : { capacity }),
      ...(clock ? { clock } : {}),
    });
  const { sessions, attempts, rpc, routes } = createApi(
    catalog,
    table,
    options.tasks ?? new TaskStore(),
  );
  const mcp = new McpRoutes(catalog, sessions);
  const { metrics } = options;
  metrics?.watch(table);
  const router = new Router(routes, mcp, metrics);
  const checkRequest = createRequestGuard(host, token, options.allowedHosts);
  const handleRequest = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      checkRequest(request);
      await router.answer(request, response);
    } catch (error) {
      const httpError = describeError(error, options.onBug);
      if (response.headersSent) response.destroy();
      else sendJson(response, httpError, httpError.headers);
    }
  };
  const server = createServer(
    // other upgrades are ignored and their requests answered, by versions of Node that can
    { keepAliveTimeout: keepAliveMs, shouldUpgradeCallback: isWebSocketRequest },
    (request, response) => void handleRequest(request, response),
  );
  const sockets = new OpenEnvSockets({
    catalog,
    sessions,
    attempts,
    rpc,
    clock: clock ?? (() => performance.now()),
    onBug: options.onBug,
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    try {
      checkRequest(request);
      checkSocketPath(request);
      sockets.accept(request, socket, head);
    } catch (error) {
      refuseUpgrade(socket, describeError(error, options.onBug));
    }
  });
  await listen(server, host, port);
  const timer = setInterval(() => {
    table.closeIdle();
    sockets.checkSilent();
  }, closeIdleEveryMs);
  timer.unref();
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}`,
    sessions: table,
    mcpPath: (session, name) => `/s/${session}/${name}/mcp`,
    async drain(milliseconds) {
      sessions.isDraining = true;
      await waitUntilEmpty(table, milliseconds);
    },
    async close() {
      clearInterval(timer);
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      await mcp.close();
      sockets.close();
      server.closeAllConnections();
      if (!options.sessions) table.closeAll();
      await closed;
    },
  };
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

function listen(server: Server, host: string, port: number): Promise<void> {
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

/** The error that the client receives. A bug is reported to `onBug` and not described. */
function describeError(error: unknown, onBug: HttpServerOptions["onBug"]): HttpError {
  const known = toHttpError(error);
  if (known) return known;
  onBug?.(error);
  return new HttpError(
    "INTERNAL",
    "the service has a fault, and the call is not to be scored",
    "report it with what the service printed",
  );
}
