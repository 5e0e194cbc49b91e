/**
 * Sends JSON-RPC requests to a server and receives its replies. Unlike the SDK's client
 * it takes a null at the level of the protocol for an absent value, and leaves it to the caller to
 * read a result, so that what is odd in a result costs no more than itself.
 */
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import { formatError, formatReply, isRequestId, JsonRpcError } from "./jsonRpc.ts";

/** The longest message that is accepted, in bytes. */
export const maxMessageBytes = 10 * 1024 * 1024;

type RequestHeaders = Readonly<Record<string, string>>;

/** How messages get to a server and back: a process, or an address. */
export interface ServerChannel {
  onMessage?: (message: JsonObject) => void;
  /** Resolves when no message is exchanged any more. */
  readonly exited: Promise<void>;
  /** How it ended; undefined before. Completes "the server …". */
  getExitReason(): string | undefined;
  start(): Promise<void>;
  /** Sends the text of a message, over HTTP with these headers. */
  send(message: string, headers?: RequestHeaders): Promise<void>;
  /** The version of the protocol that was agreed on. */
  setProtocolVersion?(version: string): void;
  close(): Promise<void>;
}

/** The code of the error by which a server says that it does not know a method. */
export const methodNotFound = -32601;

/** The error that a server sent instead of a result. */
export class ReplyError extends Error {
  readonly code: number | undefined;
  readonly data: Json | undefined;

  constructor(error: Json) {
    const { message, code, data } = isJsonObject(error) ? error : {};
    const text = typeof error === "string" ? error : message;
    super(typeof text === "string" ? text : "an error without a message");
    this.code = typeof code === "number" ? code : undefined;
    this.data = data;
  }
}

/** A request that was not answered in time. */
export class TimeoutError extends Error {}

interface Pending {
  readonly resolve: (result: Json) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export class RpcClient {
  readonly #channel: ServerChannel;
  readonly #pending = new Map<string, Pending>();
  #lastId = 0;
  /** Completes a request for the version of the protocol that was agreed on. */
  complete: (method: string, params: string) => { params: string; headers?: RequestHeaders } = (
    _,
    params,
  ) => ({ params });

  constructor(channel: ServerChannel) {
    this.#channel = channel;
    channel.onMessage = message => this.#handle(message);
    void channel.exited.then(() => this.#rejectAll());
  }

  /**
   * The result of a request, whatever it is; `params` are JSON in one line. Throws a `ReplyError`
   * for an error of the server, a `TimeoutError` after that many milliseconds, and an `Error` if
   * the server has ended.
   */
  request(method: string, params: string, timeout: number): Promise<Json> {
    const id = ++this.#lastId;
    const { params: completed, headers } = this.complete(method, params);
    return new Promise<Json>((resolve, reject) => {
      const timer = setTimeout(() => reject(new TimeoutError(`${method} timed out`)), timeout);
      this.#pending.set(String(id), { resolve, reject, timer });
      this.#channel
        .send(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${completed}}`, headers)
        .catch(reject);
    }).finally(() => {
      clearTimeout(this.#pending.get(String(id))?.timer);
      this.#pending.delete(String(id));
    });
  }

  /** Throws a `TimeoutError` if the message is not accepted after that many milliseconds. */
  notify(method: string, timeout: number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new TimeoutError(`${method} timed out`)), timeout);
      const stop = () => clearTimeout(timer);
      this.#channel
        .send(JSON.stringify({ jsonrpc: "2.0", method }))
        .finally(stop)
        .then(resolve, reject);
    });
  }

  #handle(message: JsonObject): void {
    const { id, method, result, error } = message;
    if (typeof method === "string") {
      if (isRequestId(id)) this.#answer(id, method);
      return;
    }
    // some servers return the id as text
    const pending = isRequestId(id) ? this.#pending.get(String(id)) : undefined;
    if (error !== undefined && error !== null) pending?.reject(new ReplyError(error));
    else pending?.resolve(result ?? null);
  }

  /** Answers a request of the server, which may only ask whether this program is there. */
  #answer(id: string | number, method: string): void {
    const refusal = new JsonRpcError("method not found", `${method} is not supported`);
    const reply = method === "ping" ? formatReply(id, "{}") : formatError(id, refusal);
    // a server that has ended needs no answer
    this.#channel.send(reply).catch(() => {});
  }

  #rejectAll(): void {
    for (const { reject } of this.#pending.values())
      reject(new Error(this.#channel.getExitReason()));
  }
}
