/**
 * Exchanges messages with a remote server over MCP's streamable HTTP. The SDK's transport
 * keeps the session, follows redirects within an origin, and resumes streams; what the server sends
 * is read here, so that long numbers keep their digits, an answer has a limit, and what is odd in a
 * message costs no more than itself.
 */
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import { parseExactJson } from "../storage/exactJson.ts";
import { parseMessageJson } from "../storage/jsonDepth.ts";
import { isRequestId } from "./jsonRpc.ts";
import type { RemoteEntry } from "./mcpConfig.ts";
import { describeUrl, fillInHeaders, listSecrets } from "./remoteSetting.ts";
import { maxMessageBytes, methodNotFound, type ServerChannel } from "./rpcClient.ts";
import { discoverMethod } from "./statelessProtocol.ts";

/** How long the end of a session may take, in milliseconds. */
const closeTimeout = 1000;

/** Why the server cannot be spoken to any more. */
class ChannelFailure extends Error {
  readonly remedy: string;
  constructor(reason: string, remedy: string) {
    super(reason);
    this.remedy = remedy;
  }
}

export class HttpChannel implements ServerChannel {
  onMessage?: (message: JsonObject) => void;
  readonly exited: Promise<void>;
  #resolveExited = () => {};
  readonly #entry: RemoteEntry;
  #transport: StreamableHTTPClientTransport | undefined;
  /** Header values and the like, which no message repeats. */
  #secrets: readonly string[] = [];
  /** What the SDK does not send: digits that it would round, and headers of one request. */
  readonly #requests = new Map<
    string,
    {
      readonly text: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly method: string | undefined;
    }
  >();
  #failure: ChannelFailure | undefined;

  constructor(entry: RemoteEntry) {
    this.#entry = entry;
    this.exited = new Promise(resolve => (this.#resolveExited = resolve));
  }

  getExitReason(): string | undefined {
    return this.#failure?.message;
  }

  /** What to do about the end of the connection. */
  get remedy(): string | undefined {
    return this.#failure?.remedy;
  }

  /** Throws a `UserError` if a variable of the headers is not set. */
  async start(): Promise<void> {
    const { name, url } = this.#entry;
    const headers = fillInHeaders(name, this.#entry, process.env);
    this.#secrets = listSecrets(url, headers);
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: (address, init) => this.#fetch(address, init),
    });
    transport.onerror = error => {
      // of a stream that the server promised to resume
      if (error.message.startsWith("Maximum reconnection attempts"))
        this.#fail("closed the stream of an answer, and it cannot be resumed", tryLater);
    };
    this.#transport = transport;
    await transport.start();
  }

  setProtocolVersion(version: string): void {
    this.#transport?.setProtocolVersion(version);
  }

  async send(text: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.#failure) throw this.#failure;
    const message = JSON.parse(text) as JSONRPCMessage;
    const formatted = JSON.stringify(message);
    const method = "method" in message ? message.method : undefined;
    this.#requests.set(formatted, { text, headers, method });
    try {
      await this.#transport!.send(message);
    } catch (error) {
      // what the server asked for is of no consequence here
      if (!("method" in message)) return;
      throw this.#fail(...this.#explain(error as Error));
    } finally {
      this.#requests.delete(formatted);
    }
  }

  /** Ends the session at the server, and every request. */
  async close(): Promise<void> {
    const transport = this.#transport;
    const isOpen = !this.#failure;
    this.#transport = undefined;
    this.#fail("was disconnected", "connect again");
    if (!transport) return;
    // a server that does not answer keeps its session until it drops it itself
    if (isOpen)
      await Promise.race([
        transport.terminateSession().catch(() => {}),
        sleep(closeTimeout, undefined, { ref: false }),
      ]);
    await transport.close();
  }

  #fail(reason: string, remedy: string): ChannelFailure {
    this.#failure ??= new ChannelFailure(this.#hide(reason), remedy);
    this.#resolveExited();
    return this.#failure;
  }

  #hide(text: string): string {
    return this.#secrets.reduce((it, secret) => it.replaceAll(secret, "(hidden)"), text);
  }

  #explain(error: Error): [reason: string, remedy: string] {
    if (error instanceof ChannelFailure) return [error.message, error.remedy];
    const { name, url } = this.#entry;
    const place = `entry ${name} of prove/mcp.json`;
    if (error instanceof StreamableHTTPError) {
      const [redirect] = /Redirect.*/s.exec(error.message) ?? [];
      return redirect === undefined
        ? [
            `answers with no MCP message (${error.message.replace(/^Streamable HTTP error: /, "")})`,
            `check that url in ${place} is an endpoint of MCP's streamable HTTP`,
          ]
        : [
            `redirects to another place, which would get its headers (${redirect})`,
            `write the address that it redirects to into ${place}, if you trust it`,
          ];
    }
    const { message = error.message } = (error.cause ?? {}) as Partial<Error>;
    return [
      `cannot be reached at ${describeUrl(url)} (${message})`,
      `check that it runs, and url in ${place}`,
    ];
  }

  async #fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const body = typeof init.body === "string" ? init.body : undefined;
    const request = body === undefined ? undefined : this.#requests.get(body);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(request?.headers ?? {})) headers.set(name, value);
    const answer = await fetch(url, request ? { ...init, headers, body: request.text } : init);
    const isProbe = request?.method === discoverMethod;
    const response = isProbe ? withoutSession(answer) : answer;
    const isRedirect = response.status >= 300 && response.status < 400;
    if (init.method === "DELETE" || isRedirect || !response.body) return response;
    const { id } = (body === undefined ? {} : JSON.parse(body)) as {
      readonly id?: string | number;
    };
    if (init.method === "POST" && !response.ok) {
      const said = await this.#readWhole(response);
      const error = this.#findError(response.status, said, request?.method);
      if (error !== undefined && isRequestId(id)) {
        this.#deliver({ jsonrpc: "2.0", id, error });
        return new Response(null, { status: 202, headers: response.headers });
      }
      throw new ChannelFailure(...this.#explainStatus(response, said));
    }
    const type = response.headers.get("content-type") ?? "";
    if (/^text\/event-stream\b/i.test(type))
      return new Response(this.#readEvents(response.body, String(id)), response);
    if (init.method !== "POST" || !isRequestId(id) || !/^application\/json\b/i.test(type))
      return response;
    const message = parseMessages(await this.#readWhole(response));
    if (!message)
      throw new ChannelFailure("answers with what is not JSON", "check that it is an MCP server");
    for (const it of message) this.#deliver(it);
    return new Response(null, { status: 202, headers: response.headers });
  }

  /** What the server says of a request that failed, unless it refuses everything. */
  #findError(status: number, said: string, method: string | undefined): Json | undefined {
    const error = findError(said);
    const isMissing = isJsonObject(error) && error["code"] === methodNotFound;
    // older servers refuse what is asked before the handshake in many ways
    if (method === discoverMethod && status < 500 && status !== 401 && status !== 403)
      return error ?? "not known";
    return isMissing || !isRefused(status) ? error : undefined;
  }

  /** Hands a message on once the SDK has read the headers that came with it. */
  #deliver(message: JsonObject): void {
    setImmediate(() => this.onMessage?.(message));
  }

  /** Why a request was refused as a whole. */
  #explainStatus(response: Response, said: string): [reason: string, remedy: string] {
    const { status, statusText } = response;
    const reason = `answers ${status}${statusText ? ` ${statusText}` : ""}`;
    const place = `entry ${this.#entry.name} of prove/mcp.json`;
    if (isRefused(status) && status !== 404)
      return [reason, `check headers in ${place}, and the variables that they take`];
    if (status === 404 || status === 405)
      return this.#transport?.sessionId === undefined
        ? [reason, `check that url in ${place} is an endpoint of MCP's streamable HTTP`]
        : [`has ended the session (${reason})`, "connect again"];
    const line = said.trim().replaceAll(/\s+/g, " ").slice(0, 200);
    return [`${reason}${line && !line.startsWith("<") ? ` (${line})` : ""}`, tryLater];
  }

  async #readWhole(response: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const it of response.body as unknown as AsyncIterable<Uint8Array>) {
      length += it.length;
      if (length > maxMessageBytes) throw tooLong();
      chunks.push(it);
    }
    return this.#hide(Buffer.concat(chunks).toString("utf8"));
  }

  /**
   * Reads a stream of events. The SDK gets events in their place that have the same effect on its
   * own state. Without an id of an event, a stream that ends before its answer is not resumed.
   */
  #readEvents(stream: ReadableStream<Uint8Array>, id: string): ReadableStream<Uint8Array> {
    const decoder = new TextDecoder();
    const encoder = new TextEncoder();
    let pending = "";
    let isAnswered = false;
    let isResumable = false;
    const readBlock = (block: string): string => {
      const lines = block.split(/\r\n|\r|\n/);
      if (lines.some(it => /^id:\s*\S/.test(it))) isResumable = true;
      const data = lines
        .filter(it => it.startsWith("data:"))
        .map(it => it.slice(5).replace(/^ /, ""))
        .join("\n");
      const others = lines.filter(it => !it.startsWith("data:"));
      let stub = "";
      for (const message of (data && parseMessages(this.#hide(data))) || []) {
        const { id: own } = message;
        if (!("method" in message) && isRequestId(own)) {
          // some servers return the id as text
          if (String(own) === id) isAnswered = true;
          stub = formatStub(own);
        }
        this.#deliver(message);
      }
      return `${[...others, `data:${stub && ` ${stub}`}`].join("\n")}\n\n`;
    };
    const source = stream.getReader();
    return new ReadableStream<Uint8Array>(
      {
        pull: async controller => {
          const { done, value } = await source
            .read()
            .catch(() => ({ done: true, value: undefined }));
          if (done || value === undefined) {
            if (id !== noId && !isAnswered && !isResumable)
              this.#fail("ended its answer in the middle", tryLater);
            return controller.close();
          }
          pending += decoder.decode(value, { stream: true });
          const blocks = pending.split(/\r\n\r\n|\n\n|\r\r/);
          pending = blocks.pop()!;
          for (const it of blocks) controller.enqueue(encoder.encode(readBlock(it)));
          if (pending.length > maxMessageBytes) {
            const { message, remedy } = tooLong();
            void source.cancel();
            throw this.#fail(message, remedy);
          }
          // what is asked for again would else wait for the next part
          if (blocks.length === 0) controller.enqueue(new Uint8Array());
        },
        cancel: reason => source.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }
}

/** Of a stream that answers no request. */
const noId = "undefined";

const tryLater = "try again later, or ask who runs the server";

const tooLong = () =>
  new ChannelFailure(
    `answered with more than ${maxMessageBytes} bytes`,
    "ask for less at once, such as a page",
  );

/** What is asked before the handshake belongs to no session. */
function withoutSession(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.delete("mcp-session-id");
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

/** Whether a status says that nothing is answered at this address, or to these headers. */
const isRefused = (status: number): boolean => status === 401 || status === 403 || status === 404;

const formatStub = (id: string | number): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: {} });

/** The messages of a text, of which a batch has several; undefined if it is not JSON. */
function parseMessages(text: string): readonly JsonObject[] | undefined {
  try {
    return [parseMessageJson(text, parseExactJson)].flat().filter(isJsonObject);
  } catch {
    return undefined;
  }
}

/** The error in the body of a request that failed, if it is a JSON-RPC message. */
const findError = (text: string) => parseMessages(text)?.find(it => "error" in it)?.["error"];
