/**
 * Any MCP server as an environment. A connected server is not a value: a session is a process of
 * its own, and stepping back is a fresh start and a replay. Knows what may be run on a server, and
 * neither trajectories nor who calls.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
  type Tool as ListedTool,
} from "@modelcontextprotocol/sdk/types.js";
import { findTypeMismatch } from "../environment/typeCheck.ts";
import { canonicalJson, type Json, type JsonObject } from "../environment/json.ts";
import type { CompletedCall, Fault, Outcome } from "../environment/outcome.ts";
import type { JsonSchema, Tool } from "../environment/server.ts";
import { UserError } from "../userError.ts";
import { version } from "../version.ts";
import { ServerProcess } from "./serverProcess.ts";
import type { ServerEntry } from "./mcpConfig.ts";
import { createErrorFault, createOutcome } from "./toolResult.ts";

/** A tool as far as its server tells of it: nothing here can run it or check its results. */
export type ConnectedTool = Omit<Tool, "input" | "returns" | "run">;

/** A call that was answered otherwise when it was made again. */
export interface ReplayDifference {
  readonly call: CompletedCall;
  readonly now: Outcome;
}

/** How long is waited, in milliseconds. */
export interface Timeouts {
  readonly start: number;
  readonly call: number;
}

/** A first start may have to fetch the server's package. */
const usual: Timeouts = { start: 60_000, call: 10_000 };

/**
 * Starts the server of an entry. Throws a `UserError` that names the entry where it does not start
 * or does not speak MCP.
 */
export async function connectServer(
  entry: ServerEntry,
  signal: AbortSignal,
  limits: Timeouts = usual,
): Promise<ConnectedSession> {
  const session = new ConnectedSession(entry, signal, limits);
  await session.restart(0);
  return session;
}

export class ConnectedSession {
  /** Its state is the server's own: it can neither be seen nor put back. */
  readonly state = "none";
  readonly entry: ServerEntry;
  readonly #signal: AbortSignal;
  readonly #limits: Timeouts;
  readonly #calls: CompletedCall[] = [];
  #tools: ReadonlyMap<string, ConnectedTool> = new Map();
  #wire: ServerConnection | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(entry: ServerEntry, signal: AbortSignal, limits: Timeouts) {
    this.entry = entry;
    this.#signal = signal;
    this.#limits = limits;
  }

  /** The tools that the server lists, in its order. */
  get tools(): ReadonlyMap<string, ConnectedTool> {
    return this.#tools;
  }

  /** The calls since the server was started, in order. */
  get calls(): readonly CompletedCall[] {
    return this.#calls;
  }

  /**
   * Answers one call after those before it. Never throws; a time-out or a crash is `broken`, and so
   * is every call after it until `back`.
   */
  call(name: string, args: unknown): Promise<Outcome> {
    return this.#inTurn(() => this.#called(name, args));
  }

  /**
   * Starts the server afresh and makes the first `n` calls again. What is answered otherwise is
   * told, and is not fatal.
   */
  restart(n: number): Promise<readonly ReplayDifference[]> {
    return this.#inTurn(async () => {
      const again = this.#calls.splice(0).slice(0, n);
      await this.#wire?.close();
      this.#wire = undefined;
      this.#signal.throwIfAborted();
      this.#wire = await ServerConnection.open(this.entry, this.#signal, this.#limits);
      this.#tools = this.#wire.tools;
      const differences: ReplayDifference[] = [];
      for (const call of again) {
        const now = await this.#called(call.name, call.arguments);
        if (canonicalJson(now) !== canonicalJson(call.outcome)) differences.push({ call, now });
      }
      return differences;
    });
  }

  /**
   * Another session on a server of its own, brought as far as this one by making its calls again.
   */
  async fork(signal: AbortSignal): Promise<{
    readonly session: ConnectedSession;
    readonly differences: readonly ReplayDifference[];
  }> {
    const session = new ConnectedSession(this.entry, signal, this.#limits);
    session.#calls.push(...this.#calls);
    return { session, differences: await session.restart(this.#calls.length) };
  }

  /** Ends the server and everything that it started. */
  async close(): Promise<void> {
    await this.#wire?.close();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    // a turn that failed has told its own caller; the next one goes on
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #called(name: string, args: unknown): Promise<Outcome> {
    // a start that failed leaves no server behind
    const outcome =
      this.#unfit(name, args) ??
      (await this.#wire?.call(name, args as JsonObject)) ??
      broken(`${this.entry.name} is not running`);
    this.#calls.push({ name, arguments: args as Json, outcome });
    return outcome;
  }

  /** Calls that are refused without asking the server. */
  #unfit(name: string, args: unknown): Fault | undefined {
    const tool = this.#tools.get(name);
    if (!tool)
      return {
        kind: "unknown-tool",
        type: "unknown_tool",
        message: `there is no tool ${name}`,
        hint: "call one of the tools on offer",
      };
    if (tool.effect === "write" && !this.entry.isDisposable)
      return {
        kind: "refused",
        type: "permission_denied",
        message: `${name} is not marked as read-only, and ${this.entry.name} is not disposable`,
        hint: `write "disposable": true into its entry in prove/mcp.json if everything it can reach may be changed`,
      };
    const why = findMismatch(tool.inputSchema, args);
    return why === undefined
      ? undefined
      : { kind: "bad-arguments", type: "invalid_params", message: why };
  }
}

/** A schema from outside may be no schema: then the server itself says what fits. */
function findMismatch(schema: JsonSchema, args: unknown): string | undefined {
  if (args === null || typeof args !== "object" || Array.isArray(args))
    return "arguments must be an object";
  try {
    return findTypeMismatch(schema, args);
  } catch {
    return undefined;
  }
}

/** One process and the client that speaks to it. */
class ServerConnection {
  readonly tools: ReadonlyMap<string, ConnectedTool>;
  readonly #entry: ServerEntry;
  readonly #client: Client;
  readonly #child: ServerProcess;
  readonly #limits: Timeouts;
  /** Why no call can be answered any more. */
  #broken: string | undefined;

  private constructor(
    entry: ServerEntry,
    client: Client,
    child: ServerProcess,
    limits: Timeouts,
    tools: ReadonlyMap<string, ConnectedTool>,
  ) {
    this.#entry = entry;
    this.#client = client;
    this.#child = child;
    this.#limits = limits;
    this.tools = tools;
  }

  static async open(
    entry: ServerEntry,
    signal: AbortSignal,
    limits: Timeouts,
  ): Promise<ServerConnection> {
    const child = new ServerProcess(entry);
    const client = new Client({ name: "prove", version }, {});
    const stop = () => void child.close();
    signal.addEventListener("abort", stop, { once: true });
    client.onclose = () => signal.removeEventListener("abort", stop);
    try {
      await client.connect(child, { timeout: limits.start, signal });
      return new ServerConnection(
        entry,
        client,
        child,
        limits,
        await listTools(entry, client, limits),
      );
    } catch (cause) {
      await child.close();
      signal.throwIfAborted();
      throw createStartError(entry, child, limits, cause as Error);
    }
  }

  async call(name: string, args: JsonObject): Promise<Outcome> {
    if (this.#broken !== undefined || this.#child.getExitReason() !== undefined)
      return broken(
        `${this.#entry.name} ${this.#broken ?? this.#child.getExitReason()}, and answers nothing until it is started afresh`,
      );
    try {
      const result = await this.#client.request(
        { method: "tools/call", params: { name, arguments: args } },
        CallToolResultSchema,
        { timeout: this.#limits.call },
      );
      return createOutcome(result, this.#entry.errorKeys);
    } catch (error) {
      const ended = this.#child.getExitReason();
      if (ended !== undefined)
        return broken(
          `${this.#entry.name} ${ended} while it answered ${name}${heard(this.#child)}`,
        );
      if (!(error instanceof McpError))
        return broken(
          `${this.#entry.name} answered ${name} with what is no MCP result: ${(error as Error).message}`,
        );
      if (error.code !== (ErrorCode.RequestTimeout as number)) return createErrorFault(error);
      // whatever it still does may be seen by the next call: this process is not used again
      this.#broken = `did not answer ${name} within ${this.#limits.call / 1000} s`;
      await this.#child.close();
      return broken(`${this.#entry.name} ${this.#broken}`);
    }
  }

  close(): Promise<void> {
    this.#broken ??= "was closed";
    return this.#child.close();
  }
}

const broken = (message: string): Fault => ({ kind: "broken", type: "internal", message });

const heard = ({ stderrTail: said }: ServerProcess) => {
  const last = said.trim().split("\n").slice(-3).join(" ⏎ ").slice(-300);
  return last ? ` (it said: ${last})` : "";
};

function createStartError(
  entry: ServerEntry,
  child: ServerProcess,
  limits: Timeouts,
  cause: Error,
): UserError {
  const where = `entry ${entry.name} of prove/mcp.json`;
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === "ENOENT" || code === "EACCES" || code === "EINVAL")
    return new UserError(
      `${entry.name} cannot be started (${cause.message})`,
      `correct command and cwd in ${where}; on Windows a .cmd script is started by cmd with /c`,
      { cause },
    );
  if (cause instanceof McpError && cause.code === (ErrorCode.RequestTimeout as number))
    return new UserError(
      `${entry.name} did not answer within ${limits.start / 1000} s of its start${heard(child)}`,
      `see that ${where} starts an MCP server that speaks over stdin and stdout`,
      { cause },
    );
  const how =
    cause instanceof McpError && cause.code === (ErrorCode.ConnectionClosed as number)
      ? (child.getExitReason() ?? "ended")
      : `is no MCP server that can be spoken to (${cause.message})`;
  return new UserError(`${entry.name} ${how}${heard(child)}`, `correct ${where}`, { cause });
}

/** As many pages of tools as a server of good will has. */
const mostPages = 100;

async function listTools(
  entry: ServerEntry,
  client: Client,
  limits: Timeouts,
): Promise<ReadonlyMap<string, ConnectedTool>> {
  const tools = new Map<string, ConnectedTool>();
  if (!client.getServerCapabilities()?.tools) return tools;
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const listed = await client.request(
      { method: "tools/list", params: cursor === undefined ? {} : { cursor } },
      ListToolsResultSchema,
      { timeout: limits.start },
    );
    for (const it of listed.tools)
      if (!tools.has(it.name)) tools.set(it.name, createTool(entry, it));
    if (listed.nextCursor === undefined) return tools;
    cursor = listed.nextCursor;
  }
  throw new Error(`it lists more than ${mostPages} pages of tools`);
}

/**
 * What is not said is taken as the protocol does: a tool writes, and what it does cannot be undone.
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
