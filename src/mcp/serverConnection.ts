/**
 * The connection to one process of an MCP server: starts it, lists its tools and makes calls. After
 * a time-out or a crash every further call is `broken`; a new connection is needed.
 */
import {
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type JsonObject } from "../environment/json.ts";
import type { Fault, Outcome } from "../environment/outcome.ts";
import { UserError } from "../userError.ts";
import { version } from "../version.ts";
import type { ServerEntry } from "./mcpConfig.ts";
import { ReplyError, RpcClient, TimeoutError } from "./rpcClient.ts";
import { ServerProcess } from "./serverProcess.ts";
import { readToolList, type ToolList } from "./toolList.ts";
import { createErrorFault, createOutcome } from "./toolResult.ts";

/** How long to wait for a server to start, and for a call, in milliseconds. */
export interface Timeouts {
  readonly start: number;
  readonly call: number;
}

export class ServerConnection {
  readonly list: ToolList;
  readonly #entry: ServerEntry;
  readonly #client: RpcClient;
  readonly #process: ServerProcess;
  readonly #timeouts: Timeouts;
  /** Why the server cannot answer calls any more. */
  #brokenReason: string | undefined;

  private constructor(
    entry: ServerEntry,
    client: RpcClient,
    process: ServerProcess,
    timeouts: Timeouts,
    list: ToolList,
  ) {
    this.#entry = entry;
    this.#client = client;
    this.#process = process;
    this.#timeouts = timeouts;
    this.list = list;
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
    signal.throwIfAborted();
    const process = new ServerProcess(entry);
    const client = new RpcClient(process);
    const stop = () => void process.close();
    signal.addEventListener("abort", stop, { once: true });
    void process.exited.then(() => signal.removeEventListener("abort", stop));
    try {
      await process.start();
      const list = await initialize(entry.name, client, timeouts.start);
      signal.throwIfAborted();
      return new ServerConnection(entry, client, process, timeouts, list);
    } catch (cause) {
      const exitReason = process.getExitReason();
      await process.close();
      signal.throwIfAborted();
      throw createStartError(entry, process, timeouts, cause as Error, exitReason);
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
      const params = { name, arguments: args };
      const result = await this.#client.request("tools/call", params, this.#timeouts.call);
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
    if (error instanceof ReplyError) return createErrorFault(error);
    if (!(error instanceof TimeoutError))
      return createBrokenFault(
        `${server} answered ${name} with what is no MCP result: ${error.message}`,
      );
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

/** Agrees on the protocol, and lists the tools. */
async function initialize(server: string, client: RpcClient, timeout: number): Promise<ToolList> {
  const params = {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: "prove", version },
  };
  const result = await client.request("initialize", params, timeout);
  if (!isJsonObject(result)) throw new Error("its answer to initialize is not an object");
  const { protocolVersion, capabilities } = result;
  if (typeof protocolVersion === "string" && !SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion))
    throw new Error(`its version of the protocol is ${protocolVersion}`);
  await client.notify("notifications/initialized");
  // what the server has is written as an object, but null and PHP's list mean it, too
  return isJsonObject(capabilities) && Object.hasOwn(capabilities, "tools")
    ? readToolList(server, it => client.request("tools/list", it, timeout))
    : { tools: new Map(), omitted: [] };
}

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
  exitReason: string | undefined,
): UserError {
  if (cause instanceof UserError) return cause;
  const place = `entry ${entry.name} of prove/mcp.json`;
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === "ENOENT" || code === "EACCES" || code === "EINVAL")
    return new UserError(
      `${entry.name} cannot be started (${cause.message})`,
      `correct command and cwd in ${place}; on Windows a .cmd script is started by cmd with /c`,
      { cause },
    );
  const { skippedOutput } = process;
  const said = `${formatStderr(process)}${skippedOutput ? ` (it wrote to stdout: ${skippedOutput})` : ""}`;
  if (cause instanceof TimeoutError)
    return new UserError(
      `${entry.name} did not answer within ${timeouts.start / 1000} s of its start${said}`,
      `check that ${place} starts an MCP server that speaks over stdin and stdout`,
      { cause },
    );
  const reason = exitReason ?? `is no MCP server that can be spoken to (${cause.message})`;
  return new UserError(`${entry.name} ${reason}${said}`, `correct ${place}`, { cause });
}
