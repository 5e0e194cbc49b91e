/** Connects one server to this process's stdin and stdout, where each line is one MCP message. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Readable, Writable } from "node:stream";
import type { Server } from "../environment/server.ts";
import { createConnectionSessions, type SessionDefaults } from "./connectionSessions.ts";
import { exposeServer, type ExposedServer } from "./exposedServer.ts";
import { formatError, isRecord, parseMessage, JsonRpcError } from "./jsonRpc.ts";

/** Serves until the other side closes stdin, or the signal aborts. */
export async function serveStdio(
  server: Server,
  start: SessionDefaults,
  signal: AbortSignal,
): Promise<void> {
  const { getSession: sessionOf, methods } = createConnectionSessions(server, start);
  const exposed = exposeServer(server, sessionOf, methods);
  const closed = new Promise<void>(resolve => {
    exposed.sdkServer.onclose = resolve;
    signal.addEventListener("abort", () => void exposed.sdkServer.close(), { once: true });
  });
  await exposed.sdkServer.connect(new StdioTransport(exposed, process.stdin, process.stdout));
  await closed;
}

/** No line may be longer: a message that never ends would fill the memory. */
const longestLine = 16 * 2 ** 20;

/**
 * Messages as lines. Unlike the SDK's own transport it answers what is about a session without the
 * SDK's checks of each message's whole shape, writes the answers to one chunk of input at once,
 * notices the end of its input, and reads no faster than it is read.
 */
export class StdioTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly #exposed: ExposedServer;
  readonly #input: Readable;
  readonly #output: Writable;
  #rest = "";
  #closed = false;
  readonly #take = (chunk: string) => this.#chunk(chunk);
  readonly #end = () => void this.close();

  constructor(exposed: ExposedServer, input: Readable, output: Writable) {
    this.#exposed = exposed;
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.setEncoding("utf8").on("data", this.#take).once("end", this.#end);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off("data", this.#take).off("end", this.#end).pause();
    this.onclose?.();
  }

  #chunk(chunk: string): void {
    let answers = "";
    if (chunk.includes("\n")) {
      const lines = (this.#rest + chunk).split("\n");
      this.#rest = lines.pop()!;
      for (const line of lines) if (line.trim() !== "") answers += this.#line(line);
    } else this.#rest += chunk;
    if (this.#rest.length > longestLine) {
      this.#rest = "";
      answers += `${formatError(null, new JsonRpcError("invalid request", `a message is longer than ${longestLine} characters`))}\n`;
      void this.close();
    }
    if (answers !== "") this.#write(answers);
  }

  /** The answer to one line, or nothing where the SDK will send it. */
  #line(line: string): string {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return `${formatError(null, new JsonRpcError("parse error", "this line is not JSON"))}\n`;
    }
    const answer = isRecord(message) ? this.#exposed.answer(message) : undefined;
    if (answer !== undefined) return `${answer}\n`;
    try {
      this.onmessage?.(parseMessage(message));
      return "";
    } catch (error) {
      if (error instanceof JsonRpcError) return `${formatError(null, error)}\n`;
      throw error;
    }
  }

  #write(text: string): void {
    if (this.#output.write(text)) return;
    this.#input.pause();
    this.#output.once("drain", () => {
      if (!this.#closed) this.#input.resume();
    });
  }
}
