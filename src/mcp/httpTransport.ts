/**
 * MCP over Streamable HTTP. A POST contains one message or a list of them; the response is plain
 * JSON, or an event stream if the server sends messages before its reply. The URL names the
 * session. Routing, authorization and reading the body are left to the caller.
 */
import type {
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { IncomingHttpHeaders } from "node:http";
import { isJsonObject } from "../environment/json.ts";
import { sessionIdKey, type ExposedServer } from "./exposedServer.ts";
import { formatError, isRequestId, parseMessage, JsonRpcError, type Params } from "./jsonRpc.ts";
import { checkHeaders, isStateless } from "./statelessProtocol.ts";

/** A POST to an MCP address. */
interface McpRequest {
  readonly headers: IncomingHttpHeaders;
  /** The body as parsed JSON. */
  readonly body: unknown;
  /** The id of the session that the URL names; absent for a server without sessions. */
  readonly sessionId?: string;
}

/** What an answer is written to: the response of Node's HTTP server, or an object like it. */
export interface ResponseWriter {
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  writeHead(status: number, headers?: Record<string, string | number>): ResponseWriter;
  write(text: string): unknown;
  end(text?: string | Uint8Array): unknown;
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
}

/** A POST that is being answered. */
interface PendingPost {
  readonly response: ResponseWriter;
  readonly isList: boolean;
  status: number;
  readonly replies: string[];
  /** How many of its requests have no reply yet. */
  openRequests: number;
}

interface PendingRequest {
  readonly post: PendingPost;
  /** The client's own id of the request. */
  readonly id: string | number;
}

const maxListLength = 100;

/**
 * The transport of one exposed server, which serves all its sessions and clients. Requests that the
 * SDK answers get ids of our own, because those of different clients may be equal.
 */
export class HttpTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly #answer: ExposedServer["answer"];
  /** The requests that the SDK is answering, by our id. */
  readonly #requests = new Map<number, PendingRequest>();
  #lastId = 0;

  /** `answer` is asked first; messages that it does not answer go to the SDK. */
  constructor(answer: ExposedServer["answer"] = () => undefined) {
    this.#answer = answer;
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {
    for (const { post } of this.#requests.values()) post.response.destroy();
    this.#requests.clear();
    this.onclose?.();
  }

  /** Answers one POST. An invalid request gets an error response. */
  handlePost({ headers, body, sessionId }: McpRequest, response: ResponseWriter): void {
    const isList = Array.isArray(body);
    const error =
      headers.accept !== undefined && !/\bapplication\/(json|\*)|\*\/\*/.test(headers.accept)
        ? createHttpError(406, "the client must accept application/json")
        : isList && (body.length === 0 || body.length > maxListLength)
          ? createHttpError(400, `a list holds 1 to ${maxListLength} messages`)
          : undefined;
    if (error) return sendText(response, error.status, formatError(null, error.cause));
    const post: PendingPost = { response, isList, status: 200, replies: [], openRequests: 0 };
    const sdkMessages: JSONRPCMessage[] = [];
    let id: string | number | null = null;
    try {
      for (const it of isList ? (body as unknown[]) : [body]) {
        const message = sessionId === undefined ? it : withSessionId(it, sessionId);
        if (!isJsonObject(message)) {
          sdkMessages.push(parseMessage(message));
          continue;
        }
        if (!isList && message["jsonrpc"] === "2.0" && isRequestId(message["id"]))
          id = message["id"];
        if (isList && isStateless(message))
          throw new JsonRpcError("invalid request", "a list has messages of earlier versions only");
        checkHeaders(headers, message);
        const answer = this.#answer(message);
        if (!answer) sdkMessages.push(parseMessage(message));
        else {
          post.replies.push(...answer.texts);
          post.status = answer.status;
        }
      }
    } catch (cause) {
      if (cause instanceof JsonRpcError) return sendText(response, 400, formatError(id, cause));
      throw cause;
    }
    this.#passToSdk(sdkMessages, post);
    if (post.openRequests > 0) return;
    if (post.replies.length > 0) this.#finish(post);
    else response.writeHead(202).end();
  }

  #passToSdk(messages: readonly JSONRPCMessage[], post: PendingPost): void {
    const ids: number[] = [];
    const sdkMessages = messages.map(message => {
      if (!("method" in message && "id" in message)) return message;
      const id = ++this.#lastId;
      this.#requests.set(id, { post, id: message.id });
      ids.push(id);
      return { ...message, id };
    });
    post.openRequests = ids.length;
    if (ids.length > 0)
      post.response.once("close", () => ids.forEach(it => this.#requests.delete(it)));
    // a cancellation names the client's id, which may be our id of another client's request;
    // requests are answered at once, so that ignoring it loses nothing
    for (const it of sdkMessages)
      if (!("method" in it && it.method === "notifications/cancelled")) this.onmessage?.(it);
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const isReply = !("method" in message);
    const sdkId = isReply ? message.id : options?.relatedRequestId;
    const request = typeof sdkId === "number" ? this.#requests.get(sdkId) : undefined;
    // the client has disconnected, or the message belongs to no request; there is no other stream
    if (!request) return;
    const { post, id } = request;
    const text = JSON.stringify(isReply ? { ...message, id } : message);
    if (!isReply) return this.#sendEvents(post, text);
    this.#requests.delete(sdkId as number);
    post.openRequests--;
    if (post.response.headersSent) this.#sendEvents(post, text);
    else post.replies.push(text);
    if (post.openRequests === 0) this.#finish(post);
  }

  /** Sends events, after the replies so far if the stream begins with them. */
  #sendEvents({ response, replies }: PendingPost, ...texts: readonly string[]): void {
    if (!response.headersSent)
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
      });
    for (const it of [...replies.splice(0), ...texts])
      response.write(`event: message\ndata: ${it}\n\n`);
  }

  #finish(post: PendingPost): void {
    const { response, isList, status, replies } = post;
    if (!isList && replies.length > 1) this.#sendEvents(post);
    if (response.headersSent) response.end();
    else sendText(response, status, isList ? `[${replies.join(",")}]` : replies[0]!);
  }
}

/**
 * Answers any method but POST. In the protocol, GET opens a stream for messages that belong to no
 * request and DELETE ends a session of headers; this server has neither.
 */
export function sendMethodNotAllowed(response: ResponseWriter): void {
  response.setHeader("allow", "POST");
  const error = createHttpError(
    405,
    "only POST is answered here: there is no stream beside the requests', and the session is the URL's",
  );
  sendText(response, error.status, formatError(null, error.cause));
}

interface StatusError {
  readonly status: number;
  readonly cause: JsonRpcError;
}

const createHttpError = (status: number, message: string): StatusError => ({
  status,
  cause: new JsonRpcError("invalid request", message),
});

/** The message with the URL's session in its `_meta`, in place of any that the client named. */
function withSessionId(message: unknown, sessionId: string): unknown {
  if (!isJsonObject(message) || !("id" in message) || !("method" in message)) return message;
  const { params = {} } = message as { params?: unknown };
  if (!isJsonObject(params)) return message;
  return {
    ...message,
    params: {
      ...params,
      _meta: { ...(params["_meta"] as Params | undefined), [sessionIdKey]: sessionId },
    },
  };
}

function sendText(response: ResponseWriter, status: number, text: string): void {
  response
    .writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    })
    .end(text);
}
