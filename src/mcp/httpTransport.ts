/**
 * MCP over Streamable HTTP: one POST brings one message or a list of them, and its answers go back
 * as plain JSON. Only where something is said before the answer does the reply become an event
 * stream. Which session is meant is given by the URL, never by a header. Knows neither routes nor
 * who may come in; the body is read and the door is watched elsewhere.
 */
import type {
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  SUPPORTED_PROTOCOL_VERSIONS,
  type JSONRPCMessage,
} from "@modelcontextprotocol/sdk/types.js";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { sessionIdKey, type ExposedServer } from "./exposedServer.ts";
import { formatError, isRecord, parseMessage, JsonRpcError, type Params } from "./jsonRpc.ts";

/** What a request for MCP brought along. */
export interface McpRequest {
  readonly headers: IncomingHttpHeaders;
  /** The body as parsed JSON. Its messages become ours: their `_meta` gets the session. */
  readonly body: unknown;
  /** The session that the URL names; absent where the server has none. */
  readonly session?: string;
}

/** One list of requests that came together, and what has been answered of it. */
interface Post {
  readonly response: ServerResponse;
  readonly isList: boolean;
  readonly replies: string[];
  open: number;
}

const longestList = 100;

/**
 * One for each exposed server: requests of all its sessions and clients pass through it, told apart
 * by numbers of our own.
 */
export class HttpTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly #answer: ExposedServer["answer"];
  readonly #asked = new Map<number, { readonly post: Post; readonly id: string | number }>();
  #number = 0;

  /** `answer` gives what is answered at once; without it everything goes through the SDK. */
  constructor(answer: ExposedServer["answer"] = () => undefined) {
    this.#answer = answer;
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {
    for (const { post } of this.#asked.values()) post.response.destroy();
    this.#asked.clear();
    this.onclose?.();
  }

  /** Answers one POST. Whatever is wrong with it is said in the reply. */
  handlePost({ headers, body, session }: McpRequest, response: ServerResponse): void {
    const why =
      complaintOf(headers) ??
      (Array.isArray(body) && (body.length === 0 || body.length > longestList)
        ? refused(400, `a list holds 1 to ${longestList} messages`)
        : undefined);
    if (why) return reply(response, why.status, formatError(null, why.fault));
    const post: Post = { response, isList: Array.isArray(body), replies: [], open: 0 };
    const later: JSONRPCMessage[] = [];
    try {
      for (const it of post.isList ? (body as unknown[]) : [body]) {
        const message = session === undefined ? it : inSession(it, session);
        const answer = isRecord(message) ? this.#answer(message) : undefined;
        if (answer === undefined) later.push(parseMessage(message));
        else post.replies.push(answer);
      }
    } catch (error) {
      if (error instanceof JsonRpcError) return reply(response, 400, formatError(null, error));
      throw error;
    }
    this.#handOver(later, post);
    if (post.open > 0) return;
    if (post.replies.length > 0) this.#finish(post);
    else response.writeHead(202).end();
  }

  /** Gives the SDK what it has to answer, or only to hear. */
  #handOver(messages: readonly JSONRPCMessage[], post: Post): void {
    const numbers: number[] = [];
    const numbered = messages.map(message => {
      if (!("method" in message && "id" in message)) return message;
      const number = ++this.#number;
      this.#asked.set(number, { post, id: message.id });
      numbers.push(number);
      return { ...message, id: number };
    });
    post.open = numbers.length;
    if (numbers.length > 0)
      post.response.once("close", () => numbers.forEach(it => this.#asked.delete(it)));
    // a client cancels by its own number, which may be another client's as well: what is asked here
    // is answered before that
    for (const it of numbered)
      if (!("method" in it && it.method === "notifications/cancelled")) this.onmessage?.(it);
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const isAnswer = !("method" in message);
    const number = isAnswer ? message.id : options?.relatedRequestId;
    const asked = typeof number === "number" ? this.#asked.get(number) : undefined;
    // who asked has gone, or nobody did: there is no stream beside the requests'
    if (!asked) return;
    const { post, id } = asked;
    const text = JSON.stringify(isAnswer ? { ...message, id } : message);
    if (!isAnswer) return this.#event(post, text);
    this.#asked.delete(number as number);
    post.open--;
    if (post.response.headersSent) this.#event(post, text);
    else post.replies.push(text);
    if (post.open === 0) this.#finish(post);
  }

  #event({ response, replies }: Post, text: string): void {
    if (!response.headersSent)
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
      });
    for (const it of [...replies.splice(0), text])
      response.write(`event: message\ndata: ${it}\n\n`);
  }

  #finish({ response, isList, replies }: Post): void {
    if (response.headersSent) response.end();
    else reply(response, 200, isList ? `[${replies.join(",")}]` : replies[0]!);
  }
}

/**
 * An ordinary GET asks for a stream of what a server says unasked, and DELETE ends a session of
 * headers: there is neither.
 */
export function sendMethodNotAllowed(response: ServerResponse): void {
  response.setHeader("allow", "POST");
  reply(
    response,
    405,
    formatError(
      null,
      new JsonRpcError(
        "invalid request",
        "only POST is answered here: there is no stream beside the requests', and the session is the URL's",
      ),
    ),
  );
}

const refused = (status: number, message: string) => ({
  status,
  fault: new JsonRpcError("invalid request", message),
});

function complaintOf({
  accept,
  "mcp-protocol-version": protocol,
}: IncomingHttpHeaders): { status: number; fault: JsonRpcError } | undefined {
  if (accept !== undefined && !/\bapplication\/(json|\*)|\*\/\*/.test(accept))
    return refused(406, "the client must accept application/json");
  if (protocol !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(protocol as string))
    return refused(
      400,
      `protocol version ${String(protocol)} is not supported; choose one of ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}`,
    );
  return undefined;
}

/** The message as one about the URL's session, whatever it says itself. */
function inSession(message: unknown, session: string): unknown {
  if (!isRecord(message) || !("id" in message) || !("method" in message)) return message;
  const { params = {} } = message as { params?: unknown };
  if (!isRecord(params)) return message;
  return {
    ...message,
    params: {
      ...params,
      _meta: { ...(params["_meta"] as Params | undefined), [sessionIdKey]: session },
    },
  };
}

function reply(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    })
    .end(text);
}
