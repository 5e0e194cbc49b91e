/**
 * Typed JSON-RPC between two programs, over a fork's channel or a socket. The types in `protocol`
 * say which messages each end accepts. A `UserError` and a cancellation arrive as what they were.
 */
import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import {
  CancellationTokenSource,
  ErrorCodes,
  IPCMessageReader,
  IPCMessageWriter,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
  createMessageConnection,
  type CancellationToken,
  type Message,
  type MessageConnection,
  type MessageReader,
  type MessageWriter,
} from "vscode-jsonrpc/node";
import { UserError } from "../userError.ts";

/** What one end of a channel accepts, by method. */
export interface Messages {
  /** Each request as `{ params, result }`. */
  readonly requests: object;
  /** Each notification as its parameters, an object. */
  readonly notifications: object;
}

type Name<Table> = keyof Table & string;
type Params<Request> = Request extends { readonly params: infer P } ? P : never;
type Result<Request> = Request extends { readonly result: infer R } ? R : never;

/** One end of a channel, which accepts `Local` messages and sends `Remote` ones. */
export interface Channel<Local extends Messages, Remote extends Messages> {
  /**
   * Resolves with the other end's answer. Rejects with its `UserError`, with the signal's reason
   * once the other end has stopped, or with an `Error` when it failed or has gone.
   */
  request<M extends Name<Remote["requests"]>>(
    method: M,
    params: Params<Remote["requests"][M]>,
    signal?: AbortSignal,
  ): Promise<Result<Remote["requests"][M]>>;
  notify<M extends Name<Remote["notifications"]>>(
    method: M,
    params: Remote["notifications"][M],
  ): void;
  /** Answers the requests of a method. The signal is aborted when the other end cancels. */
  handle<M extends Name<Local["requests"]>>(
    method: M,
    answer: (
      params: Params<Local["requests"][M]>,
      signal: AbortSignal,
    ) => Result<Local["requests"][M]> | Promise<Result<Local["requests"][M]>>,
  ): void;
  listen<M extends Name<Local["notifications"]>>(
    method: M,
    listener: (params: Local["notifications"][M]) => void,
  ): void;
  /** Runs when the other end has gone, or sends what is not JSON-RPC. */
  onClose(listener: () => void): void;
  /** Starts to read; handlers and listeners must have been set. */
  open(): void;
  /** Sends what was notified before, then closes. */
  close(): Promise<void>;
}

/** A channel to a forked program or, from inside it with `process`, to the one that forked it. */
export function createForkChannel<Local extends Messages, Remote extends Messages>(
  fork: ChildProcess | NodeJS.Process,
): Channel<Local, Remote> {
  const channel = new RpcChannel<Local, Remote>(
    new IPCMessageReader(fork),
    new IPCMessageWriter(fork),
    () => void (fork.connected && fork.disconnect()),
  );
  if (fork.connected) fork.once("disconnect", () => void channel.end());
  else void channel.end();
  return channel;
}

/** A channel over a connected socket, which is closed with it. */
export const createSocketChannel = <Local extends Messages, Remote extends Messages>(
  socket: Socket,
): Channel<Local, Remote> =>
  new RpcChannel<Local, Remote>(
    new StreamMessageReader(socket),
    new StreamMessageWriter(socket),
    () => void socket.end(),
  );

/** Whether the connection puts a message in its queue; it may process a cancellation at once. */
const isQueued = (message: Message): boolean =>
  (message as { readonly method?: string }).method !== "$/cancelRequest";

/** Codes of this program's own errors, outside the range that JSON-RPC reserves. */
const userErrorCode = 1;
const canceledCode = 2;

class RpcChannel<Local extends Messages, Remote extends Messages> implements Channel<
  Local,
  Remote
> {
  readonly #connection: MessageConnection;
  readonly #closeTransport: () => void;
  readonly #closeListeners: (() => void)[] = [];
  #lastWrite: Promise<void> = Promise.resolve();
  /** Messages that were received, and those among them that the connection has handled. */
  #received = 0;
  #handled = 0;
  #hasEnded = false;

  constructor(reader: MessageReader, writer: MessageWriter, closeTransport: () => void) {
    this.#closeTransport = closeTransport;
    const counting: MessageReader = {
      onError: reader.onError,
      onClose: reader.onClose,
      onPartialMessage: reader.onPartialMessage,
      dispose: () => reader.dispose(),
      listen: receive =>
        reader.listen(message => {
          if (isQueued(message)) this.#received++;
          receive(message);
        }),
    };
    this.#connection = createMessageConnection(counting, writer, undefined, {
      messageStrategy: {
        handleMessage: async (message, next) => {
          if (isQueued(message)) this.#handled++;
          await next(message);
        },
      },
    });
    this.#connection.onClose(() => void this.end());
    this.#connection.onError(() => void this.end());
  }

  async request(method: string, params: unknown, signal?: AbortSignal): Promise<never> {
    if (this.#hasEnded) throw new Error("the other program has gone");
    const cancellation = new CancellationTokenSource();
    const cancel = () => cancellation.cancel();
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel);
    try {
      return await this.#connection.sendRequest<never>(method, params, cancellation.token);
    } catch (error) {
      throw restoreError(error, signal);
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  notify(method: string, params: unknown): void {
    if (this.#hasEnded) return;
    // a write fails when the other end has gone, which `onClose` reports
    this.#lastWrite = this.#connection.sendNotification(method, params).catch(() => {});
  }

  handle(method: string, answer: (params: never, signal: AbortSignal) => unknown): void {
    this.#connection.onRequest(method, async (params: never, token: CancellationToken) => {
      if (token.isCancellationRequested) throw new ResponseError(canceledCode, "canceled");
      const controller = new AbortController();
      token.onCancellationRequested(() => controller.abort());
      try {
        return await answer(params, controller.signal);
      } catch (error) {
        throw toResponseError(error, controller.signal);
      }
    });
  }

  listen(method: string, listener: (params: never) => void): void {
    this.#connection.onNotification(method, (params: unknown) => listener(params as never));
  }

  onClose(listener: () => void): void {
    if (this.#hasEnded) listener();
    else this.#closeListeners.push(listener);
  }

  open(): void {
    if (!this.#hasEnded) this.#connection.listen();
  }

  async close(): Promise<void> {
    await this.#lastWrite;
    this.#closeTransport();
    await this.end();
  }

  /**
   * Handles the messages that have arrived, rejects the requests that are still open, and calls the
   * listeners, once. The connection handles one message per turn of the event loop and would drop
   * the others.
   */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    while (this.#handled < this.#received) await setImmediate();
    this.#connection.dispose();
    for (const it of this.#closeListeners) it();
  }
}

function toResponseError(error: unknown, signal: AbortSignal): ResponseError<unknown> {
  if (signal.aborted) return new ResponseError(canceledCode, "canceled");
  const { message, stack } = error as Error;
  if (error instanceof UserError)
    return new ResponseError(userErrorCode, message, { what: error.what, remedy: error.remedy });
  return new ResponseError(ErrorCodes.InternalError, message, { stack });
}

function restoreError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (!(error instanceof ResponseError)) return error;
  if (error.code === canceledCode) return signal?.reason ?? error;
  if (error.code !== userErrorCode) return new Error(error.message, { cause: error.data });
  const { what, remedy } = error.data as { readonly what: string; readonly remedy: string };
  return new UserError(what, remedy);
}
