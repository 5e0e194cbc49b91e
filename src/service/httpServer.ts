/**
 * The HTTP service: one door for outside trainers (`/v1`) and for MCP clients
 * (`/s/{session}/{server}/mcp`), over one table of sessions. Runs in the terminal program and in
 * the editor's host alike; plain node:http, no file is ever opened for a request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Catalog } from "../environment/catalog.ts";
import { UserError } from "../userError.ts";
import { HttpError } from "./httpError.ts";
import { createRequestGuard, isLoopbackHost } from "./requestGuard.ts";
import { Routes, sendJson } from "./routes.ts";
import { SessionTable } from "./sessionTable.ts";

export interface HttpServerOptions {
  readonly catalog: Catalog;
  /** Loopback by default; another host needs a token. */
  readonly host?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly token?: string | undefined;
  readonly capacity?: number;
  /**
   * A table that is open already, and that whoever hands it in ends; a new one where it is absent.
   */
  readonly sessions?: SessionTable;
  /** Milliseconds, for telling what is idle. */
  readonly clock?: () => number;
  /** Hears of bugs of ours that a request met. */
  readonly onBug?: (error: unknown) => void;
}

export interface RunningHttpServer {
  /** `http://127.0.0.1:8970`, without a slash at the end. */
  readonly url: string;
  readonly sessions: SessionTable;
  /** The path under `url` where a server of a session speaks MCP. */
  readonly mcpPath: (session: string, server: string) => string;
  /** Ends every session and connection. */
  readonly close: () => Promise<void>;
}

/** Connections stay open between the turns of a slow model. */
const keepAliveMs = 620_000;
const reapEveryMs = 15_000;

/** Listens. Throws a `UserError` where it may not or cannot. */
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
  const routes = new Routes(catalog, table);
  const gate = createRequestGuard(host, token);
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      gate.check(request);
      await routes.answer(request, response);
    } catch (error) {
      const failure = failureOf(error, options.onBug);
      if (response.headersSent) response.destroy();
      else sendJson(response, failure, failure.headers);
    }
  };
  const server = createServer(
    { keepAliveTimeout: keepAliveMs },
    (request, response) => void answer(request, response),
  );
  await listening(server, host, port);
  const reaper = setInterval(() => table.reap(), reapEveryMs);
  reaper.unref();
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    sessions: table,
    mcpPath: (session, name) => `/s/${session}/${name}/mcp`,
    async close() {
      clearInterval(reaper);
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      await routes.close();
      server.closeAllConnections();
      if (!options.sessions) table.end();
      await closed;
    },
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
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

/** What the other side is told: its own mistakes in full, of ours only that there was one. */
function failureOf(error: unknown, onBug: HttpServerOptions["onBug"]): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof UserError) return new HttpError("INVALID_REQUEST", error.message);
  onBug?.(error);
  return new HttpError(
    "INTERNAL",
    "this is a fault of the service, and the call is not to be scored",
  );
}
