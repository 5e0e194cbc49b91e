/**
 * The connections of a process to the other processes of its service, in both directions, each over
 * a socket of the operating system that only processes of this machine can reach. A message has a
 * length, a number that pairs an answer with its request, a head of JSON, and a body of bytes that
 * is not looked into.
 */
import type { IncomingHttpHeaders } from "node:http";
import { connect, createServer, type Socket, type Server } from "node:net";
import { HttpError } from "../httpError.ts";
import type { UnboundServer } from "../httpServer.ts";
import { checkJsonType, parseJsonBody } from "../jsonBody.ts";
import type { ResponseWriter } from "../../mcp/httpTransport.ts";
import { findProcessIndex, type PeerRequest, type PeerResponse, type Peers } from "../peers.ts";

interface PeerOptions {
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

/** Creates the server, which does not listen yet. */
export function createPeerServer({ answer, answerInternal }: UnboundServer): Server {
  const answerFrame = async (socket: Socket, { number, head, body }: Frame): Promise<void> => {
    const [method, url, headers] = JSON.parse(head) as [string, string, IncomingHttpHeaders];
    const send = (status: number, own: object, text: Uint8Array | string) => {
      if (socket.writable) writeFrame(socket, number, JSON.stringify([status, own]), text);
    };
    const json = () => (body.length > 0 ? parseJsonBody(body) : undefined);
    const internal = url.startsWith("/") ? undefined : answerInternal(url, json());
    if (internal) {
      const { status, text } = await internal;
      return send(status, {}, text);
    }
    const readJson = async () => {
      checkJsonType(headers["content-type"]);
      return parseJsonBody(body);
    };
    await answer(
      { method, url, headers, readJson },
      new CollectedResponse(it => send(it.status, it.headers, it.body)),
    );
  };
  return createServer(socket => {
    // the other process has ended
    socket.on("error", () => socket.destroy());
    readFrames(socket, frame => {
      answerFrame(socket, frame).catch((error: unknown) => {
        // the other process passes its requests on again, or says that they cannot be
        socket.destroy(error as Error);
      });
    });
  });
}

interface Frame {
  readonly number: number;
  /** JSON text. */
  readonly head: string;
  readonly body: Buffer;
}

/** Two lengths and the number. */
const prefixBytes = 12;

/** Writes a frame. Frames that are written at the same time are sent together. */
function writeFrame(
  socket: Socket,
  number: number,
  head: string,
  body: Uint8Array | string | undefined,
): void {
  const headBytes = Buffer.byteLength(head);
  const bodyBytes = body === undefined ? 0 : Buffer.byteLength(body);
  const isText = typeof body === "string";
  const frame = Buffer.allocUnsafe(prefixBytes + headBytes + (isText ? bodyBytes : 0));
  frame.writeUInt32LE(headBytes, 0);
  frame.writeUInt32LE(bodyBytes, 4);
  frame.writeUInt32LE(number, 8);
  frame.write(head, prefixBytes, "utf8");
  if (isText) frame.write(body, prefixBytes + headBytes, "utf8");
  if (socket.writableCorked === 0) {
    socket.cork();
    process.nextTick(() => socket.uncork());
  }
  socket.write(frame);
  if (!isText && body !== undefined && bodyBytes > 0) socket.write(body);
}

/** Calls back with each frame that arrives at a socket. */
function readFrames(socket: Socket, onFrame: (frame: Frame) => void): void {
  let waiting: Buffer[] = [];
  let length = 0;
  /** The bytes without which the next frame is not complete. */
  let needed = prefixBytes;
  socket.on("data", (chunk: Buffer) => {
    waiting.push(chunk);
    length += chunk.length;
    if (length < needed) return;
    let rest = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting);
    for (;;) {
      needed = prefixBytes;
      if (rest.length < prefixBytes) break;
      const headBytes = rest.readUInt32LE(0);
      const bodyAt = prefixBytes + headBytes;
      needed = bodyAt + rest.readUInt32LE(4);
      if (rest.length < needed) break;
      onFrame({
        number: rest.readUInt32LE(8),
        head: rest.toString("utf8", prefixBytes, bodyAt),
        body: rest.subarray(bodyAt, needed),
      });
      rest = rest.subarray(needed);
    }
    waiting = rest.length > 0 ? [rest] : [];
    length = rest.length;
  });
}

interface CollectedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string | Uint8Array;
}

class CollectedResponse implements ResponseWriter {
  readonly #onEnd: (answer: CollectedAnswer) => void;
  #status = 0;
  #headers: Record<string, string | number> = {};
  #text = "";

  /** Calls back once the answer is complete. */
  constructor(onEnd: (answer: CollectedAnswer) => void) {
    this.#onEnd = onEnd;
  }

  get headersSent(): boolean {
    return this.#status !== 0;
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  writeHead(status: number, headers: Record<string, string | number> = {}): this {
    this.#status = status;
    this.#headers = { ...this.#headers, ...headers };
    return this;
  }

  write(text: string): void {
    this.#text += text;
  }

  end(last: string | Uint8Array = ""): void {
    const body = typeof last === "string" ? this.#text + last : last;
    this.#onEnd({ status: this.#status, headers: this.#headers, body });
  }

  /** What was written so far is not a whole answer. */
  destroy(): void {
    this.#onEnd({ status: 500, headers: {}, body: "" });
  }

  /** The other process does not say when its client has disconnected. */
  once(): void {}
}
