/**
 * The WebSocket of OpenEnv, at `/ws`: a connection has one episode at a time, which ends with it.
 * The connection's messages are answered one after the other.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { isJsonObject, type JsonObject } from "../../environment/json.ts";
import { HttpError, toHttpError, type HttpErrorCode } from "../httpError.ts";
import { parseBody, maxBodyBytes } from "../jsonBody.ts";
import { parseMessageJson } from "../../storage/jsonDepth.ts";
import { OpenEnvEpisode, type EpisodeOptions } from "./openEnvEpisode.ts";
import type { OpenEnvRpc } from "./openEnvRoutes.ts";
import { action, resetOptions } from "./openEnvSchemas.ts";

interface SocketOptions extends EpisodeOptions {
  readonly rpc: OpenEnvRpc;
  /** Milliseconds from any starting point. */
  readonly clock: () => number;
  readonly onBug: ((error: unknown) => void) | undefined;
}

/** Clients that have gone without closing are noticed; those that only wait answer pings. */
const silentMs = { beforePing: 60_000, beforeEnd: 620_000 };

export class OpenEnvSockets {
  readonly #options: SocketOptions;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: maxBodyBytes });
  /** When something was last received from each socket. */
  readonly #heardAt = new Map<WebSocket, number>();

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Accepts a connection that the caller has checked. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, it => this.#serve(it));
  }

  /** Pings the clients that are silent, and disconnects those that have been for too long. */
  checkSilent(): void {
    const now = this.#options.clock();
    for (const [socket, heardAt] of this.#heardAt) {
      if (now - heardAt > silentMs.beforeEnd) socket.terminate();
      else if (now - heardAt > silentMs.beforePing) socket.ping();
    }
  }

  close(): void {
    for (const socket of this.#heardAt.keys()) socket.terminate();
  }

  #serve(socket: WebSocket): void {
    const { clock } = this.#options;
    const episode = new OpenEnvEpisode(this.#options);
    const hear = () => this.#heardAt.set(socket, clock());
    hear();
    let waiting = 0;
    let last = Promise.resolve();
    socket.on("message", data => {
      hear();
      // a client that does not wait for answers is not read from
      socket.pause();
      waiting++;
      last = last
        .then(() => this.#answer(socket, episode, (data as Buffer).toString()))
        .then(() => {
          if (--waiting === 0) socket.resume();
        });
    });
    socket.on("ping", hear);
    socket.on("pong", hear);
    // a violation of the protocol or a message that is too large, which ws answers by closing
    socket.on("error", () => episode.close());
    socket.on("close", () => {
      this.#heardAt.delete(socket);
      episode.close();
    });
  }

  /** Resolves when the answer was sent, or cannot be. */
  async #answer(socket: WebSocket, episode: OpenEnvEpisode, text: string): Promise<void> {
    if (socket.readyState !== socket.OPEN) return;
    const answer = await this.#createAnswer(episode, text);
    if (!answer) {
      episode.close();
      return socket.close(1000);
    }
    await new Promise<void>(resolve => socket.send(JSON.stringify(answer), () => resolve()));
  }

  async #createAnswer(episode: OpenEnvEpisode, text: string): Promise<object | undefined> {
    try {
      return await this.#execute(episode, parseMessage(text));
    } catch (error) {
      if (error instanceof MessageError) return createError(error.code, error.message);
      const known = toHttpError(error);
      if (known) return createError(findCode(error, known.code), known.message);
      this.#options.onBug?.(error);
      return createError("EXECUTION_ERROR", "the service has a fault: do not score the episode");
    }
  }

  /** The answer to a message; undefined if it asks to close the connection. */
  async #execute(
    episode: OpenEnvEpisode,
    { type, data = {} }: JsonObject,
  ): Promise<object | undefined> {
    switch (type) {
      case "reset":
        return { type: "observation", data: await episode.reset(parseBody(resetOptions, data)) };
      case "step":
        return { type: "observation", data: await episode.step(parseBody(action, data)) };
      case "state":
        return { type: "state", data: episode.state };
      case "mcp":
        return { type: "mcp", data: await this.#options.rpc.answer(data, episode.session) };
      case "close":
        return undefined;
      default:
        throw new MessageError(
          "UNKNOWN_TYPE",
          "there is no message of this type: send reset, step, state, mcp or close",
        );
    }
  }
}

type ErrorCode =
  | "INVALID_JSON"
  | "UNKNOWN_TYPE"
  | "VALIDATION_ERROR"
  | "EXECUTION_ERROR"
  | "CAPACITY_REACHED"
  | "FACTORY_ERROR"
  | "SESSION_ERROR";

/** A message that is not one of the protocol. */
class MessageError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

function parseMessage(text: string): JsonObject {
  let message: unknown;
  try {
    message = parseMessageJson(text);
  } catch (error) {
    throw new MessageError("INVALID_JSON", `the message is not JSON (${(error as Error).message})`);
  }
  if (isJsonObject(message)) return message;
  throw new MessageError("VALIDATION_ERROR", "the message is not a JSON object");
}

const codes: Partial<Record<HttpErrorCode, ErrorCode>> = {
  INVALID_REQUEST: "VALIDATION_ERROR",
  CAPACITY_REACHED: "CAPACITY_REACHED",
  DRAINING: "CAPACITY_REACHED",
  UNKNOWN_SESSION: "SESSION_ERROR",
};

/** An error that no `HttpError` describes comes from opening the session of a task. */
const findCode = (error: unknown, code: HttpErrorCode): ErrorCode =>
  error instanceof HttpError ? (codes[code] ?? "EXECUTION_ERROR") : "FACTORY_ERROR";

const createError = (code: ErrorCode, message: string) => ({
  type: "error",
  data: { message, code },
});
