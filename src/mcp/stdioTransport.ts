/** Serves a server over MCP on this process's stdin and stdout, where each line is one message. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Readable, Writable } from "node:stream";
import { isJsonObject } from "../environment/json.ts";
import type { Server } from "../environment/server.ts";
import { parseMessageJson } from "../storage/jsonDepth.ts";
import { createConnectionSessions, type SessionDefaults } from "./connectionSessions.ts";
import { exposeServer, type ExposedServer } from "./exposedServer.ts";
import { formatError, parseMessage, JsonRpcError } from "./jsonRpc.ts";

/** Serves until the client closes stdin or the signal aborts. */
export async function serveStdio(
  server: Server,
  defaults: SessionDefaults,
  signal: AbortSignal,
): Promise<void> {
  const { getSession, methods } = createConnectionSessions(server, defaults);
  const exposed = exposeServer(server, getSession, methods);
  const closed = new Promise<void>(resolve => {
    exposed.sdkServer.onclose = resolve;
    signal.addEventListener("abort", () => void exposed.sdkServer.close(), { once: true });
  });
  await exposed.sdkServer.connect(new StdioTransport(exposed, process.stdin, process.stdout));
  await closed;
}

/** A limit, so that a message that never ends does not fill the memory. */
const maxLineLength = 16 * 2 ** 20;

/**
 * Reads and writes messages as lines. Unlike the SDK's own transport it answers requests about a
 * session without the SDK's validation, writes all replies to a chunk of input together, notices
 * the end of its input, and stops reading while its output is not read.
 */
export class StdioTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly #exposed: ExposedServer;
  readonly #input: Readable;
  readonly #output: Writable;
  /** The beginning of a line whose end has not been read. */
  #partialLine = "";
  #isClosed = false;
  readonly #onData = (chunk: string) => this.#handleChunk(chunk);
  readonly #onEnd = () => void this.close();

  constructor(exposed: ExposedServer, input: Readable, output: Writable) {
    this.#exposed = exposed;
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.setEncoding("utf8").on("data", this.#onData).once("end", this.#onEnd);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off("data", this.#onData).off("end", this.#onEnd).pause();
    this.onclose?.();
  }

  #handleChunk(chunk: string): void {
    let replies = "";
    if (chunk.includes("\n")) {
      const lines = (this.#partialLine + chunk).split("\n");
      this.#partialLine = lines.pop()!;
      for (const line of lines) if (line.trim() !== "") replies += this.#handleLine(line);
    } else this.#partialLine += chunk;
    if (this.#partialLine.length > maxLineLength) {
      this.#partialLine = "";
      const message = `a message is longer than ${maxLineLength} characters`;
      replies += formatErrorLine(new JsonRpcError("invalid request", message));
      void this.close();
    }
    if (replies !== "") this.#write(replies);
  }

  /** The reply to one line; empty if the SDK will send it. */
  #handleLine(line: string): string {
    let message: unknown;
    try {
      message = parseMessageJson(line);
    } catch {
      return formatErrorLine(new JsonRpcError("parse error", "this line is not JSON"));
    }
    const answer = isJsonObject(message) ? this.#exposed.answer(message) : undefined;
    if (answer !== undefined) return `${answer}\n`;
    try {
      this.onmessage?.(parseMessage(message));
      return "";
    } catch (error) {
      if (error instanceof JsonRpcError) return formatErrorLine(error);
      throw error;
    }
  }

  #write(text: string): void {
    if (this.#output.write(text)) return;
    this.#input.pause();
    this.#output.once("drain", () => {
      if (!this.#isClosed) this.#input.resume();
    });
  }
}

const formatErrorLine = (error: JsonRpcError): string => `${formatError(null, error)}\n`;
