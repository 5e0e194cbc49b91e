/**
 * The connections of a process to the other processes of its service, each over a socket of the
 * operating system that only processes of this machine can reach.
 */
import { connect, type Socket } from "node:net";
import { HttpError } from "../httpError.ts";
import { findProcessIndex, type PeerRequest, type PeerResponse, type Peers } from "../peers.ts";
import { readFrames, writeFrame } from "./frames.ts";

export interface PeerOptions {
  /** The index of this process. */
  readonly index: number;
  /** The addresses of all processes, by their index. */
  readonly addresses: readonly string[];
  readonly requestRoom: () => Promise<boolean>;
}

interface WaitingRequest {
  readonly request: PeerRequest;
  readonly resolve: (response: PeerResponse) => void;
  readonly reject: (error: Error) => void;
}

/** A process that has ended is started again, which takes a second or two. */
const patienceMs = 30_000;
/** Questions to all processes are not answered by one that is being started. */
const othersMs = 2_000;
const reconnectEveryMs = 50;

export class PeerConnections implements Peers {
  readonly #options: PeerOptions;
  readonly #connections: readonly PeerConnection[];

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#connections = options.addresses.map(it => new PeerConnection(it));
  }

  isOwn(id: string): boolean {
    return this.findIndex(id) === this.#options.index;
  }

  findIndex(id: string): number {
    return findProcessIndex(id, this.#connections.length);
  }

  send(index: number, request: PeerRequest): Promise<PeerResponse> {
    return this.#connections[index]!.send(request);
  }

  /** Processes that do not answer are left out. */
  async sendToOthers(request: PeerRequest): Promise<readonly PeerResponse[]> {
    const others = this.#connections.filter((_, i) => i !== this.#options.index);
    const answers = await Promise.allSettled(
      others.map(it => Promise.race([it.send(request), rejectLater(othersMs)])),
    );
    return answers.flatMap(it => (it.status === "fulfilled" ? it.value : []));
  }

  requestRoom(): Promise<boolean> {
    return this.#options.requestRoom();
  }

  close(): void {
    for (const it of this.#connections) it.close();
  }
}

/** The connection to one process, which is opened when it is needed, and again after a loss. */
class PeerConnection {
  readonly #address: string;
  #socket: Socket | undefined;
  #lastNumber = 0;
  /** Requests without an answer, by their number. */
  readonly #waiting = new Map<number, WaitingRequest>();
  #isClosed = false;

  constructor(address: string) {
    this.#address = address;
  }

  send(request: PeerRequest): Promise<PeerResponse> {
    return new Promise((resolve, reject) => {
      const number = (this.#lastNumber = (this.#lastNumber + 1) >>> 0);
      this.#waiting.set(number, { request, resolve, reject });
      if (this.#socket) writeRequest(this.#socket, number, request);
      else this.#connect();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
  }

  /** Connects, and sends what is waiting. */
  #connect(since = performance.now()): void {
    const socket = connect(this.#address);
    this.#socket = socket;
    for (const [number, { request }] of this.#waiting) writeRequest(socket, number, request);
    let isConnected = false;
    socket.once("connect", () => (isConnected = true));
    readFrames(socket, ({ number, head, body }) => {
      const waiting = this.#waiting.get(number);
      if (!waiting) return;
      this.#waiting.delete(number);
      const [status, headers] = JSON.parse(head) as [number, PeerResponse["headers"]];
      waiting.resolve({ status, headers, body });
    });
    socket.once("error", () => socket.destroy());
    socket.once("close", () => {
      this.#socket = undefined;
      // what was not sent yet can be sent again in any case
      if (isConnected) this.#rejectLost();
      if (this.#waiting.size === 0) return;
      if (this.#isClosed || (!isConnected && performance.now() - since > patienceMs))
        return this.#rejectAll();
      setTimeout(
        () => {
          if (!this.#socket) this.#connect(isConnected ? performance.now() : since);
        },
        isConnected ? 0 : reconnectEveryMs,
      );
    });
  }

  /** Rejects the requests that the process may have executed, unless they can be repeated. */
  #rejectLost(): void {
    for (const [number, { request, reject }] of this.#waiting) {
      if (request.isRepeatable) continue;
      this.#waiting.delete(number);
      reject(
        new HttpError(
          "UNAVAILABLE",
          "the worker process of the session ended, and the request may have been executed",
          "look at the session's state before you repeat the request",
          { "retry-after": "1" },
        ),
      );
    }
  }

  #rejectAll(): void {
    for (const { reject } of this.#waiting.values())
      reject(
        new HttpError(
          "UNAVAILABLE",
          "the worker process of the session does not answer",
          "try again later",
          { "retry-after": "5" },
        ),
      );
    this.#waiting.clear();
  }
}

const rejectLater = (milliseconds: number) =>
  new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error("no answer")), milliseconds).unref();
  });

const writeRequest = (
  socket: Socket,
  number: number,
  { method, url, headers = {}, body }: PeerRequest,
) => writeFrame(socket, number, JSON.stringify([method, url, headers]), body);
