/**
 * The connection to one process of an MCP server: starts it, lists its tools and makes calls. After
 * a time-out or a crash every further call is `broken`; a new connection is needed.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
  type Tool as ListedTool,
} from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../environment/json.ts";
import type { Fault, Outcome } from "../environment/outcome.ts";
import type { JsonSchema, Tool } from "../environment/server.ts";
import { UserError } from "../userError.ts";
import { version } from "../version.ts";
import type { ServerEntry } from "./mcpConfig.ts";
import { ServerProcess } from "./serverProcess.ts";
import { createErrorFault, createOutcome } from "./toolResult.ts";

/** A tool as its server lists it, without what is needed to run it and to check its results. */
export type ConnectedTool = Omit<Tool, "input" | "returns" | "run">;

/** How long to wait for a server to start, and for a call, in milliseconds. */
export interface Timeouts {
  readonly start: number;
  readonly call: number;
}

export class ServerConnection {
  /** The tools that the server lists, in its order. */
  readonly tools: ReadonlyMap<string, ConnectedTool>;
  readonly #entry: ServerEntry;
  readonly #client: Client;
  readonly #process: ServerProcess;
  readonly #timeouts: Timeouts;
  /** Why the server cannot answer calls any more. */
  #brokenReason: string | undefined;

  private constructor(
    entry: ServerEntry,
    client: Client,
    process: ServerProcess,
    timeouts: Timeouts,
    tools: ReadonlyMap<string, ConnectedTool>,
  ) {
    this.#entry = entry;
    this.#client = client;
    this.#process = process;
    this.#timeouts = timeouts;
    this.tools = tools;
  }

  /**
   * Starts the server of an entry. Throws a `UserError` that names the entry if the server does not
   * start or does not speak MCP.
   */
  static async open(
    entry: ServerEntry,
    signal: AbortSignal,
    timeouts: Timeouts,
  ): Promise<ServerConnection> {
    const process = new ServerProcess(entry);
    const client = new Client({ name: "prove", version }, {});
    const stop = () => void process.close();
    signal.addEventListener("abort", stop, { once: true });
    client.onclose = () => signal.removeEventListener("abort", stop);
    try {
      await client.connect(process, { timeout: timeouts.start, signal });
      const tools = await listTools(entry, client, timeouts);
      return new ServerConnection(entry, client, process, timeouts, tools);
    } catch (cause) {
      await process.close();
      signal.throwIfAborted();
      throw createStartError(entry, process, timeouts, cause as Error);
    }
  }

  /** Makes a call. It never throws: every failure is an outcome. */
  async call(name: string, args: JsonObject): Promise<Outcome> {
    const reason = this.#brokenReason ?? this.#process.getExitReason();
    if (reason !== undefined)
      return createBrokenFault(
        `${this.#entry.name} ${reason}, and answers nothing until it is started afresh`,
      );
    try {
      const result = await this.#client.request(
        { method: "tools/call", params: { name, arguments: args } },
        CallToolResultSchema,
        { timeout: this.#timeouts.call },
      );
      return createOutcome(result, this.#entry.errorKeys);
    } catch (error) {
      return this.#createFault(name, error as Error);
    }
  }

  close(): Promise<void> {
    this.#brokenReason ??= "was closed";
    return this.#process.close();
  }

  async #createFault(name: string, error: Error): Promise<Fault> {
    const server = this.#entry.name;
    const exitReason = this.#process.getExitReason();
    if (exitReason !== undefined)
      return createBrokenFault(
        `${server} ${exitReason} while it answered ${name}${formatStderr(this.#process)}`,
      );
    if (!(error instanceof McpError))
      return createBrokenFault(
        `${server} answered ${name} with what is no MCP result: ${error.message}`,
      );
    if (error.code !== (ErrorCode.RequestTimeout as number)) return createErrorFault(error);
    // the next call could see what this one still does, so the process is not used again
    this.#brokenReason = `did not answer ${name} within ${this.#timeouts.call / 1000} s`;
    await this.#process.close();
    return createBrokenFault(`${server} ${this.#brokenReason}`);
  }
}

export const createBrokenFault = (message: string): Fault => ({
  kind: "broken",
  type: "internal",
  message,
});

/** The last lines that a server wrote to stderr, to append to a message. */
function formatStderr({ stderrTail }: ServerProcess): string {
  const lines = stderrTail.trim().split("\n").slice(-3).join(" ⏎ ").slice(-300);
  return lines ? ` (it said: ${lines})` : "";
}

function createStartError(
  entry: ServerEntry,
  process: ServerProcess,
  timeouts: Timeouts,
  cause: Error,
): UserError {
  const place = `entry ${entry.name} of prove/mcp.json`;
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === "ENOENT" || code === "EACCES" || code === "EINVAL")
    return new UserError(
      `${entry.name} cannot be started (${cause.message})`,
      `correct command and cwd in ${place}; on Windows a .cmd script is started by cmd with /c`,
      { cause },
    );
  const stderr = formatStderr(process);
  if (cause instanceof McpError && cause.code === (ErrorCode.RequestTimeout as number))
    return new UserError(
      `${entry.name} did not answer within ${timeouts.start / 1000} s of its start${stderr}`,
      `check that ${place} starts an MCP server that speaks over stdin and stdout`,
      { cause },
    );
  const reason =
    cause instanceof McpError && cause.code === (ErrorCode.ConnectionClosed as number)
      ? (process.getExitReason() ?? "ended")
      : `is no MCP server that can be spoken to (${cause.message})`;
  return new UserError(`${entry.name} ${reason}${stderr}`, `correct ${place}`, { cause });
}

/** A limit, so that a server whose list never ends does not block its start forever. */
const maxPages = 100;

async function listTools(
  entry: ServerEntry,
  client: Client,
  timeouts: Timeouts,
): Promise<ReadonlyMap<string, ConnectedTool>> {
  const tools = new Map<string, ConnectedTool>();
  if (!client.getServerCapabilities()?.tools) return tools;
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const result = await client.request(
      { method: "tools/list", params: cursor === undefined ? {} : { cursor } },
      ListToolsResultSchema,
      { timeout: timeouts.start },
    );
    for (const it of result.tools)
      if (!tools.has(it.name)) tools.set(it.name, createTool(entry, it));
    if (result.nextCursor === undefined) return tools;
    cursor = result.nextCursor;
  }
  throw new Error(`it lists more than ${maxPages} pages of tools`);
}

/**
 * A listed tool, with the defaults of the protocol: without annotations, a tool writes and its
 * effect cannot be undone.
 */
function createTool(
  { name: server }: ServerEntry,
  { name, description, title, inputSchema, outputSchema, annotations = {} }: ListedTool,
): ConnectedTool {
  const isRead = annotations.readOnlyHint === true;
  return {
    name,
    server,
    effect: isRead ? "read" : "write",
    summary: description ?? title ?? annotations.title ?? name,
    destructive: !isRead && annotations.destructiveHint !== false,
    idempotent: isRead || annotations.idempotentHint === true,
    requires: [],
    inputSchema: inputSchema as JsonSchema,
    outputSchema: (outputSchema ?? {}) as JsonSchema,
  };
}
