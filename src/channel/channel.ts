/**
 * Typed JSON-RPC between two programs, over the channel of a forked process or over a socket. The
 * types in `protocol` define which messages each end accepts. A `UserError` that a handler throws
 * is a `UserError` at the other end too, and a request can be canceled.
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
interface Messages {
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
   * once the other end has canceled the request, or with an `Error` if the handler failed or the
   * other end has disconnected.
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
  /**
   * The listener runs once, when either end has disconnected or the other end has sent what is not
   * JSON-RPC.
   */
  onClose(listener: () => void): void;
  /** Starts to read messages. Set handlers and listeners before. */
  open(): void;
  /** Sends the notifications that are still queued, then disconnects. */
  close(): Promise<void>;
}

/** A channel to a forked process or, in that process with `process`, to its parent. */
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

/** A channel over a connected socket. The socket is closed when the channel ends. */
export function createSocketChannel<Local extends Messages, Remote extends Messages>(
  socket: Socket,
): Channel<Local, Remote> {
  const reader = new StreamMessageReader(socket);
  // after half a message its timer would run again and again, and keep the process from exiting
  reader.partialMessageTimeout = 0;
  return new RpcChannel<Local, Remote>(reader, new StreamMessageWriter(socket), () =>
    socket.destroySoon(),
  );
}

/** Whether the connection queues a message. It can process a cancellation without queueing it. */
const isQueued = (message: Message): boolean =>
  (message as { readonly method?: string }).method !== "$/cancelRequest";

/** Error codes of this program, outside the range that JSON-RPC reserves. */
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
  /** How many messages were received, and how many of them the connection has handled. */
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
    // a write fails if the other end has disconnected, which `onClose` reports
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
    await this.end();
  }

  /**
   * Handles the messages that have arrived, rejects the open requests, disconnects and calls the
   * listeners, once. The connection handles one message per turn of the event loop and drops those
   * that are left when it is disposed. Messages that share an id can be handled as one, so the wait
   * also ends when nothing more is handled.
   */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    let idleTurns = 0;
    while (this.#handled < this.#received && idleTurns < 3) {
      const handled = this.#handled;
      await setImmediate();
      idleTurns = this.#handled === handled ? idleTurns + 1 : 0;
    }
    this.#connection.dispose();
    this.#closeTransport();
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
