/** Serves a server over MCP on this process's stdin and stdout, where each line is one message. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Readable, Writable } from "node:stream";
import { isJsonObject } from "../environment/json.ts";
import type { Server } from "../environment/server.ts";
import { parseMessageJson } from "../storage/jsonDepth.ts";
import { exposeServer, type ExposedServer, type RequestMethod } from "./exposedServer.ts";
import { formatError, parseMessage, JsonRpcError, type Params } from "./jsonRpc.ts";
import { z } from "zod";
import type { Catalog } from "../environment/catalog.ts";
import { openSession, type Session } from "../environment/session.ts";
import { parseState, type State } from "../environment/state.ts";

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
    if (answer) return `${answer.texts.join("\n")}\n`;
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

// The sessions of one connection, and the requests that open, read, restore and close them. These
// are custom requests rather than tools, so that an agent cannot reset its own environment.

/** What sessions start from when `prove/open` does not say otherwise. */
interface SessionDefaults {
  readonly catalog: Catalog;
  readonly fixture: string;
  readonly seed: number;
}

/** How many sessions a connection may have. Opening another one is refused; none is evicted. */
const maxSessions = 16_384;

interface ConnectionSessions {
  readonly getSession: (id: string | undefined) => Session;
  readonly methods: Readonly<Record<string, RequestMethod>>;
}

/** The id of the connection's own session, which requests without an id are about. */
const ownId = "";

interface OpenedSession {
  readonly session: Session;
  readonly initialState: State;
}

export function createConnectionSessions(
  server: Server,
  defaults: SessionDefaults,
): ConnectionSessions {
  const sessions = new Map<string, OpenedSession>();

  const open = (id: string, fixture: string, seed: number): OpenedSession => {
    if (!sessions.has(id) && sessions.size >= maxSessions)
      throw new JsonRpcError(
        "invalid request",
        `limit_exceeded: this connection holds ${maxSessions} sessions; close one first`,
      );
    const session = openSession({
      servers: [{ server, fixture: defaults.catalog.getFixture(server.name, fixture) }],
      seed,
    });
    const opened = { session, initialState: session.state };
    sessions.set(id, opened);
    return opened;
  };
  /**
   * The connection's own session opens on first use, so that it works for clients that know no
   * custom requests. Others are opened by `prove/open`.
   */
  const find = (id = ownId): OpenedSession => {
    const opened = sessions.get(id);
    if (opened) return opened;
    if (id !== ownId)
      throw new JsonRpcError(
        "no such session",
        `there is no session ${id}; open it with prove/open`,
      );
    return open(ownId, defaults.fixture, defaults.seed);
  };

  return {
    getSession: id => find(id).session,
    methods: {
      "prove/open": (params, id = ownId) => {
        const { fixture = defaults.fixture, seed = defaults.seed } = parseOpenParams(params);
        return { digest: open(id, fixture, seed).session.digest };
      },
      "prove/state": (_, id) => describeState(find(id)),
      "prove/restore": ({ state }, id) => {
        const opened = find(id);
        const { session, initialState } = opened;
        session.restore(state === undefined ? initialState : parseState([server], state));
        return describeState(opened);
      },
      "prove/close": (_, id = ownId) => {
        sessions.delete(id);
        return {};
      },
    },
  };
}

const describeState = ({ session: { state, digest } }: OpenedSession) => ({ state, digest });

const openParams = z.object({
  fixture: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,40}(@[1-9]\d{0,5})?(~[1-9]\d{0,5})?$/)
    .optional(),
  seed: z.int().min(0).optional(),
});

function parseOpenParams(params: Params): z.output<typeof openParams> {
  const { success, data, error } = openParams.safeParse(params);
  if (success) return data;
  const issue = error.issues[0]!;
  throw new JsonRpcError("invalid params", `${issue.path.join(".")}: ${issue.message}`);
}
