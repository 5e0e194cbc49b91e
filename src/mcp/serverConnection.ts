/**
 * The connection to one process of an MCP server, or to one at an address: starts it, lists its
 * tools and makes calls. After a time-out or a crash every further call is `broken`; a new
 * connection is needed.
 */
import { isJsonObject, type JsonObject, omitUndefined, type Json } from "../environment/json.ts";
import type { Fault, Outcome, ErrorType } from "../environment/outcome.ts";
import { UserError } from "../userError.ts";
import { agreeOnProtocol, type ServerInfo } from "./handshake.ts";
import { HttpChannel } from "./httpChannel.ts";
import { faketime, isRemote, type ProgramEntry, type ServerEntry } from "./mcpConfig.ts";
import type { Reset } from "./resetSetting.ts";
import { createSandbox, type Sandbox } from "./sandbox.ts";
import { ReplyError, RpcClient, TimeoutError, type ServerChannel } from "./rpcClient.ts";
import { ServerProcess } from "./serverProcess.ts";
import { findParameterHeaders } from "./statelessProtocol.ts";
import { readToolList, type ToolList } from "./toolList.ts";
import { parseExactJson } from "../storage/exactJson.ts";
import { describeTooDeep, isTooDeep } from "../storage/jsonDepth.ts";

/** How long to wait for a server to start, and for a call, in milliseconds. */
export interface Timeouts {
  readonly start: number;
  readonly call: number;
}

/** What a server has beside tools. */
export interface Offer {
  readonly kind: "resource" | "resource template" | "prompt";
  /** The URI of a resource, or its template; the name of a prompt. */
  readonly name: string;
  readonly summary: string;
}

const offerLists = [
  {
    capability: "resources",
    method: "resources/list",
    kind: "resource",
    key: "resources",
    name: "uri",
  },
  {
    capability: "resources",
    method: "resources/templates/list",
    kind: "resource template",
    key: "resourceTemplates",
    name: "uriTemplate",
  },
  { capability: "prompts", method: "prompts/list", kind: "prompt", key: "prompts", name: "name" },
] as const;

const maxOfferPages = 20;

/** What a server tells at its start. */
interface Introduction {
  readonly info: ServerInfo;
  readonly capabilities: Json | undefined;
  readonly list: ToolList;
}

export class ServerConnection {
  readonly info: ServerInfo;
  readonly list: ToolList;
  readonly #entry: ServerEntry;
  readonly #client: RpcClient;
  readonly #channel: ServerChannel;
  readonly #sandbox: Sandbox | undefined;
  readonly #timeouts: Timeouts;
  readonly #capabilities: Json | undefined;
  /** Why the server cannot answer calls any more. */
  #brokenReason: string | undefined;
  #closed: Promise<void> | undefined;

  private constructor(
    entry: ServerEntry,
    client: RpcClient,
    channel: ServerChannel,
    sandbox: Sandbox | undefined,
    timeouts: Timeouts,
    { info, capabilities, list }: Introduction,
  ) {
    this.#entry = entry;
    this.#client = client;
    this.#channel = channel;
    this.#sandbox = sandbox;
    this.#timeouts = timeouts;
    this.#capabilities = capabilities;
    this.info = info;
    this.list = list;
  }

  /** The folder on which the process works, if it has one of its own. */
  get folder(): string | undefined {
    return this.#sandbox?.folder;
  }

  /**
   * Starts the server of an entry in a new sandbox, if the entry has a reset; of several seeds, on
   * that one. Throws a `UserError` that names the entry if the server does not start or does not
   * speak MCP.
   */
  static async open(
    entry: ServerEntry,
    signal: AbortSignal,
    timeouts: Timeouts,
    seed?: string,
  ): Promise<ServerConnection> {
    signal.throwIfAborted();
    const sandbox = isRemote(entry) ? undefined : await createSandbox(entry, seed);
    const channel = isRemote(entry) ? new HttpChannel(entry) : new ServerProcess(sandbox!.entry);
    const client = new RpcClient(channel);
    const stop = () => void channel.close();
    signal.addEventListener("abort", stop, { once: true });
    void channel.exited.then(() => signal.removeEventListener("abort", stop));
    try {
      await channel.start();
      const known = await introduce(entry, channel, client, timeouts.start);
      signal.throwIfAborted();
      const connection = new ServerConnection(entry, client, channel, sandbox, timeouts, known);
      if (entry.reset?.kind === "tool") await connection.#reset(entry.reset);
      return connection;
    } catch (cause) {
      const exitReason = channel.getExitReason();
      await channel.close();
      await sandbox?.remove();
      signal.throwIfAborted();
      throw createStartError(entry, channel, timeouts, cause as Error, exitReason);
    }
  }

  /**
   * Makes a call, whose arguments may be given as JSON text. It never throws: every failure is an
   * outcome.
   */
  async call(name: string, args: JsonObject | string): Promise<Outcome> {
    const reason = this.#brokenReason ?? this.#channel.getExitReason();
    if (reason !== undefined)
      return createBrokenFault(
        `${this.#entry.name} ${reason}, and answers nothing until it is started afresh`,
      );
    try {
      // line breaks of JSON can be replaced: they stand between its values
      const json =
        typeof args === "string" ? args.replaceAll(/[\n\r]/g, " ") : JSON.stringify(args);
      const params = `{"name":${JSON.stringify(name)},"arguments":${json}}`;
      const result = await this.#client.request("tools/call", params, this.#timeouts.call);
      return createOutcome(result, this.#entry.errorKeys);
    } catch (error) {
      return this.#createFault(name, error as Error);
    }
  }

  /**
   * The resources and prompts that the server says it has, as many as its first pages list. A list
   * that it refuses is empty.
   */
  async listOffers(): Promise<readonly Offer[]> {
    const offers: Offer[] = [];
    for (const { capability, method, kind, key, name } of offerLists) {
      if (!isJsonObject(this.#capabilities) || !Object.hasOwn(this.#capabilities, capability))
        continue;
      let cursor: string | undefined;
      for (let page = 0; page < maxOfferPages; page++) {
        const params = JSON.stringify(cursor === undefined ? {} : { cursor });
        const result = await this.#client
          .request(method, params, this.#timeouts.call)
          .catch((error: Error) => {
            if (error instanceof ReplyError) return {};
            throw error;
          });
        const { [key]: listed, nextCursor } = isJsonObject(result) ? result : {};
        for (const it of Array.isArray(listed) ? (listed as readonly Json[]) : [])
          if (isJsonObject(it) && typeof it[name] === "string") {
            const [title] = [it["title"], it["description"], it["name"]].filter(
              text => typeof text === "string" && text !== "" && text !== it[name],
            );
            offers.push({ kind, name: it[name], summary: (title ?? "") as string });
          }
        if (typeof nextCursor !== "string" || nextCursor === "" || nextCursor === cursor) break;
        cursor = nextCursor;
      }
    }
    return offers;
  }

  /** Ends the process and removes its sandbox. */
  close(): Promise<void> {
    this.#brokenReason ??= "was closed";
    return (this.#closed ??= this.#channel.close().then(() => this.#sandbox?.remove()));
  }

  async #reset({ tool, args }: Extract<Reset, { kind: "tool" }>): Promise<void> {
    const { name } = this.#entry;
    const remedy = `correct reset in entry ${name} of prove/mcp.json`;
    if (!this.list.tools.has(tool))
      throw new UserError(`${name} has no tool ${tool}, which resets it`, remedy);
    const outcome = await this.call(tool, args);
    if (outcome.kind !== "ok")
      throw new UserError(`${name} was not reset: ${tool} failed: ${outcome.message}`, remedy);
  }

  async #createFault(name: string, error: Error): Promise<Fault> {
    const server = this.#entry.name;
    const exitReason = this.#channel.getExitReason();
    if (exitReason !== undefined)
      return createBrokenFault(
        `${server} ${exitReason} while it answered ${name}${formatStderr(this.#channel)}`,
      );
    if (error instanceof ReplyError) return createErrorFault(error);
    if (!(error instanceof TimeoutError))
      return createBrokenFault(
        `${server} answered ${name} with what is no MCP result: ${error.message}`,
      );
    // the next call could see what this one still does, so the process is not used again
    this.#brokenReason = `did not answer ${name} within ${this.#timeouts.call / 1000} s`;
    await this.#channel.close();
    return createBrokenFault(`${server} ${this.#brokenReason}`);
  }
}

export const createBrokenFault = (message: string): Fault => ({
  kind: "broken",
  type: "internal",
  message,
});

/** Agrees on the protocol, and lists the tools. */
async function introduce(
  { name, reads }: ServerEntry,
  channel: ServerChannel,
  client: RpcClient,
  timeout: number,
): Promise<Introduction> {
  const isHttp = channel instanceof HttpChannel;
  let list: ToolList = { tools: new Map(), omitted: [] };
  const { capabilities, info, isStateless } = await agreeOnProtocol(client, {
    isHttp,
    timeout,
    onVersion: it => channel.setProtocolVersion?.(it),
    getInputSchema: tool => list.tools.get(tool)?.inputSchema,
  });
  // what the server has is written as an object, but null and PHP's list mean it, too
  if (isJsonObject(capabilities) && Object.hasOwn(capabilities, "tools"))
    list = await readToolList(
      name,
      it => client.request("tools/list", JSON.stringify(it), timeout),
      isHttp && isStateless
        ? { reads, findFault: it => findParameterHeaders(it).fault }
        : { reads },
    );
  return { info, capabilities, list };
}

/** The last lines that a server wrote to stderr, to append to a message. */
function formatStderr(channel: ServerChannel): string {
  if (!(channel instanceof ServerProcess)) return "";
  // where Node shows an error that was not caught, what matters stands above the calls
  const said = channel.stderrTail
    .split("\n")
    .filter(it => !/^\s*$|^\s+at |^}$|^Node\.js v/.test(it));
  const lines = said.slice(-3).join(" ⏎ ").slice(-300);
  return lines ? ` (it said: ${lines})` : "";
}

/** What a program may wait for that was started without the variables of the user. */
function describeWait({ command, args }: ProgramEntry): string {
  const runner = [command, ...args].find(it => /(^|[\\/])(npx|uvx|pipx|bunx)(\.cmd)?$/.test(it));
  return runner === undefined
    ? "of your variables, it gets only PATH and what is in env"
    : `${runner} may wait for the network: of your variables it gets only PATH, so write those that it needs, such as HTTPS_PROXY, into env, or install the server and start it without ${runner}`;
}

function createStartError(
  entry: ServerEntry,
  channel: ServerChannel,
  timeouts: Timeouts,
  cause: Error,
  exitReason: string | undefined,
): UserError {
  if (cause instanceof UserError) return cause;
  const place = `entry ${entry.name} of prove/mcp.json`;
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === "ENOENT" && !isRemote(entry) && entry.time !== undefined)
    return new UserError(
      `the server ${entry.name} cannot be started at a fixed time, because ${faketime} is not on the PATH`,
      `install it, such as with apt install ${faketime}, or remove time from ${place}`,
      { cause },
    );
  if (code === "ENOENT" || code === "EACCES" || code === "EINVAL")
    return new UserError(
      `the server ${entry.name} cannot be started (${cause.message})`,
      `correct command and cwd in ${place}; on Windows a .cmd script is started by cmd with /c`,
      { cause },
    );
  const skippedOutput = channel instanceof ServerProcess ? channel.skippedOutput : "";
  const said = `${formatStderr(channel)}${skippedOutput ? ` (it wrote to stdout: ${skippedOutput})` : ""}`;
  if (cause instanceof TimeoutError)
    return new UserError(
      `${entry.name} did not answer within ${timeouts.start / 1000} s of its start${said}`,
      isRemote(entry)
        ? `check that url in ${place} is an endpoint of MCP's streamable HTTP`
        : `check that ${place} starts an MCP server that speaks over stdin and stdout; ${describeWait(entry)}`,
      { cause },
    );
  const reason = exitReason ?? `is no MCP server that can be spoken to (${cause.message})`;
  const remedy =
    (exitReason !== undefined && channel instanceof HttpChannel && channel.remedy) ||
    `correct ${place}`;
  return new UserError(`${entry.name} ${reason}${said}`, remedy, { cause });
}

// Converts the result or error of another server's tool call to an outcome: its value, or a fault
// that a model can act on. Servers report failed calls in several ways, all of which are
// recognized.

/**
 * A result is a fault if it is marked as an error, or if an error key in its value says so. One
 * that is nested too deeply is not used. Throws an `Error` for what is no result.
 */
function createOutcome(result: Json, errorKeys: readonly string[]): Outcome {
  if (!isJsonObject(result)) throw new Error("it is not an object");
  const { resultType = "complete" } = result;
  if (resultType !== "complete")
    return {
      kind: "refused",
      type: "precondition_failed",
      message:
        resultType === "input_required"
          ? "it asks for an input of the client, which has none to give"
          : `its result is of the type ${JSON.stringify(resultType)}, which is not supported`,
    };
  const value = parseResult(result);
  if (isTooDeep(value, "value"))
    return {
      kind: "broken",
      type: "internal",
      message: `the result is ${describeTooDeep("value")}`,
    };
  if (result["isError"] === true) return createRefusal(value);
  return isJsonObject(value) && errorKeys.some(key => indicatesError(key, value))
    ? createRefusal(value)
    : { kind: "ok", value };
}

/** The code of an error that the arguments of a call cause. */
const invalidParams = -32602;

/** The fault of a protocol error that the server sent instead of a result. */
const createErrorFault = ({ code, message }: ReplyError): Fault => ({
  kind: "refused",
  type: code === invalidParams ? "invalid_params" : "precondition_failed",
  message: removeErrorPrefix(message),
});

/** `success` and `ok` indicate an error if they are false, any other key if it is not empty. */
function indicatesError(key: string, value: JsonObject): boolean {
  if (!Object.hasOwn(value, key)) return false;
  const it = value[key]!;
  if (key === "success" || key === "ok") return it === false;
  return it !== null && it !== false && it !== "" && !(Array.isArray(it) && it.length === 0);
}

/**
 * The structured value, or the content: a single part as itself, several as a list. A structured
 * value that is a single text or number says less than the content.
 */
function parseResult(result: JsonObject): Json {
  const { structuredContent = null, content = null, toolResult } = result;
  if (structuredContent !== null && typeof structuredContent === "object") return structuredContent;
  const parts = (Array.isArray(content) ? content : [content]).flatMap(parsePart);
  if (parts.length > 0) return parts.length === 1 ? parts[0]! : parts;
  if (structuredContent !== null) return structuredContent;
  // the result of the protocol's first version
  if (toolResult !== undefined)
    return typeof toolResult === "string" ? parseText(toolResult) : toolResult;
  if ("content" in result || result["isError"] === true) return parts;
  throw new Error("it has neither content nor structuredContent");
}

/** The value of a part of the content; none if there is nothing in it. */
function parsePart(part: Json): Json[] {
  if (typeof part === "string") return [parseText(part)];
  if (!isJsonObject(part)) return part === null ? [] : [part];
  const { type, text, data, mimeType, uri, name } = part;
  switch (type) {
    case "text":
      return typeof text === "string" ? [parseText(text)] : [text ?? ""];
    case "image":
    case "audio": {
      // the bytes themselves would be of no use to a model that reads text
      const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
      return [omitNull({ type, mimeType, bytes })];
    }
    case "resource_link":
      return [omitNull({ type, uri, name })];
    case "resource": {
      const resource = isJsonObject(part["resource"]) ? part["resource"] : {};
      return [omitNull({ type, uri: resource["uri"], text: resource["text"] })];
    }
    default:
      return [part];
  }
}

const omitNull = (value: Readonly<Record<string, Json | undefined>>): JsonObject =>
  omitUndefined(
    Object.fromEntries(Object.entries(value).map(([key, it]) => [key, it ?? undefined])),
  );

/** Parses text that is a JSON object or list. A bare word or number stays text. */
function parseText(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return parseExactJson(text) as Json;
  } catch {
    return text;
  }
}

const errorTypes: Readonly<Record<ErrorType, true>> = {
  unknown_tool: true,
  invalid_params: true,
  not_found: true,
  precondition_failed: true,
  permission_denied: true,
  conflict: true,
  limit_exceeded: true,
};

const isErrorType = (type: unknown): type is ErrorType =>
  typeof type === "string" && Object.hasOwn(errorTypes, type);

/** A refusal with the server's own message. Servers of this program also send a type and a hint. */
function createRefusal(value: Json): Fault {
  const { error_type: type, message, error, hint } = isJsonObject(value) ? value : {};
  const text = findText(message, error, value) ?? JSON.stringify(value);
  const isInvalid = /MCP error -32602|^invalid arguments/i.test(text);
  return {
    kind: "refused",
    type: isErrorType(type) ? type : isInvalid ? "invalid_params" : "precondition_failed",
    message: removeErrorPrefix(text),
    ...(typeof hint === "string" ? { hint } : {}),
  };
}

const findText = (...values: readonly (Json | undefined)[]): string | undefined =>
  values.find((it): it is string => typeof it === "string" && it !== "");

const removeErrorPrefix = (message: string) => message.replace(/^MCP error -?\d+: /, "");
