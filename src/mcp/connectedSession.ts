/**
 * A session on a third-party MCP server. It has a process of its own, in a sandbox if the server's
 * entry has a reset, or a connection to an address; stepping back starts it again and repeats the
 * calls.
 */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import {
  createTooDeepFault,
  createUnknownToolFault,
  type CompletedCall,
  type Fault,
  type Outcome,
} from "../environment/outcome.ts";
import type { JsonSchema } from "../environment/server.ts";
import { findTypeMismatch } from "../environment/argumentChecks.ts";
import { findLongNumber } from "../storage/exactJson.ts";
import { replaceTooDeep, tooDeepText } from "../storage/jsonDepth.ts";
import { allowsTool, isRemote, type ServerEntry } from "./mcpConfig.ts";
import type { ServerInfo } from "./handshake.ts";
import { describeNoReset } from "./noReset.ts";
import {
  createBrokenFault,
  ServerConnection,
  type Offer,
  type Timeouts,
} from "./serverConnection.ts";
import {
  describeOmission,
  type ConnectedTool,
  type OmittedTool,
  type ToolList,
} from "./toolList.ts";

/** A call whose outcome changed when it was repeated. */
export interface ReplayDifference {
  /** The call with its first outcome. */
  readonly call: CompletedCall;
  readonly newOutcome: Outcome;
}

/** The first start of a server may have to download its package. */
const defaultTimeouts: Timeouts = { start: 60_000, call: 10_000 };

/**
 * Starts the server of an entry. Throws a `UserError` that names the entry if the server does not
 * start or does not speak MCP.
 */
export async function connectServer(
  entry: ServerEntry,
  signal: AbortSignal,
  timeouts: Timeouts = defaultTimeouts,
): Promise<ConnectedSession> {
  const session = new ConnectedSession(entry, signal, timeouts);
  await session.restart(0);
  return session;
}

export class ConnectedSession {
  readonly entry: ServerEntry;
  readonly #signal: AbortSignal;
  readonly #timeouts: Timeouts;
  readonly #calls: CompletedCall[] = [];
  #list: ToolList = { tools: new Map(), omitted: [] };
  #connection: ServerConnection | undefined;
  /** Settles when all calls and restarts so far have. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(entry: ServerEntry, signal: AbortSignal, timeouts: Timeouts) {
    this.entry = entry;
    this.#signal = signal;
    this.#timeouts = timeouts;
  }

  /** What the server says that it is. */
  get serverInfo(): ServerInfo {
    return this.#connection?.info ?? {};
  }

  /** The tools that the server lists, in its order. */
  get tools(): ReadonlyMap<string, ConnectedTool> {
    return this.#list.tools;
  }

  /** The tools that the server lists and that cannot be offered. */
  get omittedTools(): readonly OmittedTool[] {
    return this.#list.omitted;
  }

  /** The resources and prompts of the server, which are no part of a session. */
  async listOffers(): Promise<readonly Offer[]> {
    return (await this.#connection?.listOffers()) ?? [];
  }

  /** The calls since the server was started, in order. */
  get calls(): readonly CompletedCall[] {
    return this.#calls;
  }

  /**
   * Makes a call after all earlier ones have been answered. Arguments with a number that would be
   * rounded are a text of JSON, and are sent as it is. It never throws. After a time-out or a
   * crash, this and every further call is `broken` until `restart`.
   */
  call(name: string, args: unknown): Promise<Outcome> {
    return this.#enqueue(() => this.#call(name, args));
  }

  /** Restarts the server, repeats its first calls, and returns those whose outcome changed. */
  restart(callCount: number): Promise<readonly ReplayDifference[]> {
    return this.#enqueue(async () => {
      const calls = this.#calls.splice(0).slice(0, callCount);
      await this.#connection?.close();
      this.#connection = undefined;
      this.#signal.throwIfAborted();
      this.#connection = await ServerConnection.open(this.entry, this.#signal, this.#timeouts);
      this.#list = this.#connection.list;
      const differences: ReplayDifference[] = [];
      for (const call of calls) {
        const newOutcome = await this.#call(call.name, call.arguments);
        if (canonicalJson(newOutcome) !== canonicalJson(call.outcome))
          differences.push({ call, newOutcome });
      }
      return differences;
    });
  }

  /**
   * Opens another session with a process of its own, in which this session's calls are repeated.
   */
  async fork(signal: AbortSignal): Promise<{
    readonly session: ConnectedSession;
    readonly differences: readonly ReplayDifference[];
  }> {
    const session = new ConnectedSession(this.entry, signal, this.#timeouts);
    session.#calls.push(...this.#calls);
    return { session, differences: await session.restart(this.#calls.length) };
  }

  /** Ends the server and everything that it started. */
  async close(): Promise<void> {
    await this.#connection?.close();
  }

  /** Runs the work after everything that was enqueued before it. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    // the caller that enqueued the work handles its error, and later work still runs
    this.#queue = result.catch(() => {});
    return result;
  }

  async #call(name: string, args: unknown): Promise<Outcome> {
    // there is no connection after a restart that failed
    const outcome =
      this.#findFault(name, args) ??
      (await this.#connection?.call(name, args as JsonObject | string)) ??
      createBrokenFault(`${this.entry.name} is not running`);
    this.#calls.push({ name, arguments: replaceTooDeep(args as Json), outcome });
    return outcome;
  }

  /** The fault of a call that is refused without asking the server. */
  #findFault(name: string, args: unknown): Fault | undefined {
    const tool = this.tools.get(name);
    if (!tool) {
      const fault = createUnknownToolFault(name);
      const omitted = this.omittedTools.find(it => it.name === name);
      return omitted ? { ...fault, message: describeOmission(omitted) } : fault;
    }
    if (replaceTooDeep(args) === tooDeepText) return createTooDeepFault();
    if (!allowsTool(this.entry, tool))
      return {
        kind: "refused",
        type: "permission_denied",
        message: `${name} is not marked as read-only, and ${describeNoReset(this.entry)}`,
        hint: isRemote(this.entry)
          ? `add it to "reads" in its entry in prove/mcp.json if it only reads, or write "disposable": true there if everything the server can reach may be changed`
          : `add a reset to its entry in prove/mcp.json, which gives each session a copy, or write "disposable": true there if everything it can reach may be changed`,
      };
    const mismatch = findMismatch(tool.inputSchema, args);
    return mismatch === undefined
      ? undefined
      : { kind: "bad-arguments", type: "invalid_params", message: mismatch };
  }
}

/** Checks arguments against a server's schema. If the schema is not valid, the server decides. */
function findMismatch(schema: JsonSchema, given: unknown): string | undefined {
  // the digits of a long number make no difference to its type
  const isLong = typeof given === "string" && findLongNumber(given) !== undefined;
  const args: unknown = isLong ? JSON.parse(given) : given;
  if (!isJsonObject(args)) return "arguments must be an object";
  try {
    return findTypeMismatch(schema, args);
  } catch {
    return undefined;
  }
}
