/**
 * Exposes the sessions of a server over MCP, with tools to call and the state as resources. It
 * works with any transport; a transport may add request methods of its own. Requests name their
 * session in `_meta`, and the caller looks the session up.
 */
import { Server as McpServer } from "@modelcontextprotocol/sdk/server/index.js";
import { isJsonObject } from "../environment/json.ts";
import { describeTool, toModelSchema } from "../environment/toolDescription.ts";
import { createUnknownToolFault, type Fault, type Outcome } from "../environment/outcome.ts";
import type { Server, Tool } from "../environment/server.ts";
import type { Session } from "../environment/session.ts";
import { UserError } from "../userError.ts";
import { version } from "../version.ts";
import { formatError, formatReply, isRequestId, JsonRpcError, type Params } from "./jsonRpc.ts";
import {
  checkMeta,
  completeResult,
  discoverMethod,
  formatSubscription,
  isStateless,
  supportedVersions,
  withoutOldCode,
} from "./statelessProtocol.ts";
import type { State } from "../environment/state.ts";

/** The key of `params._meta` that names a request's session; absent for the connection's own. */
export const sessionIdKey = "prove/sessionId";

/** A session, or an object that forwards to one. */
export type CallableSession = Pick<Session, "tools" | "state" | "call">;

/**
 * Computes the result of a request from its parameters and the id of its session. Throws a
 * `JsonRpcError` or a `UserError`.
 */
export type RequestMethod = (params: Params, sessionId: string | undefined) => object;

/** The messages that answer a request, as JSON text, and the status that they have over HTTP. */
export interface Answer {
  readonly texts: readonly string[];
  readonly status: number;
}

export interface ExposedServer {
  /** Answers what is not about a session, such as the handshake. */
  readonly sdkServer: McpServer;
  /**
   * Answers a request that is about a session or states its version; undefined for any other
   * message, which the caller passes to `sdkServer`. It is synchronous, so that requests take
   * effect in the order in which they arrive.
   */
  readonly answer: (message: Params) => Answer | undefined;
}

/** Exposes a server, with the methods of a transport in addition to those of MCP. */
export function exposeServer(
  server: Server,
  getSession: (id: string | undefined) => CallableSession,
  transportMethods: Readonly<Record<string, RequestMethod>> = {},
): ExposedServer {
  const methods: Readonly<Record<string, RequestMethod>> = {
    "tools/list": (_, id) => ({ tools: listTools(server, getSession(id)) }),
    "resources/list": (_, id) => ({ resources: listStateResources(server, getSession(id).state) }),
    "resources/templates/list": () => ({ resourceTemplates: listStateTemplates(server) }),
    "resources/read": ({ uri }, id) => ({
      contents: [readStateResource(server, getSession(id).state, uri)],
    }),
    ...transportMethods,
  };
  const isSessionMethod = (method: unknown): method is string =>
    method === "tools/call" || (typeof method === "string" && Object.hasOwn(methods, method));
  /** The JSON text of a request's result. */
  const createResult = (method: string, params: Params): string =>
    withRpcErrors(() => {
      const id = getSessionId(params);
      return method === "tools/call"
        ? formatCallResult(callTool(server, getSession(id), params))
        : JSON.stringify(methods[method]!(params, id));
    });

  const name = `prove-${server.name}`;
  const capabilities = { tools: {}, resources: {} };
  const instructions = server.summary;
  const sdkServer = new McpServer({ name, version }, { capabilities, instructions });
  // for transports that do not call `answer` first
  sdkServer.fallbackRequestHandler = async ({ method, params = {} }) => {
    if (!isSessionMethod(method))
      throw new JsonRpcError("method not found", `there is no method ${String(method)}`);
    return JSON.parse(createResult(method, params)) as Record<string, unknown>;
  };
  /** The messages that answer a request which states its version. */
  const answerStateless = (id: string | number, method: unknown, params: Params) => {
    checkMeta({ params });
    if (method === "subscriptions/listen") return formatSubscription(id, name);
    const isDiscovery = method === discoverMethod;
    if (!isDiscovery && !isSessionMethod(method))
      throw new JsonRpcError("method not found", `there is no method ${String(method)}`);
    const result = isDiscovery
      ? JSON.stringify({ supportedVersions, capabilities, instructions })
      : createResult(method, params);
    return [formatReply(id, completeResult(name, method, result))];
  };
  return {
    sdkServer,
    answer(message) {
      const { id, method, params = {} } = message;
      const statesVersion = isStateless(message);
      if (!isRequestId(id) || !(statesVersion || isSessionMethod(method))) return undefined;
      try {
        if (!isJsonObject(params))
          throw new JsonRpcError("invalid params", "params must be an object");
        const texts = statesVersion
          ? answerStateless(id, method, params)
          : [formatReply(id, createResult(method as string, params))];
        return { texts, status: 200 };
      } catch (error) {
        if (!(error instanceof JsonRpcError)) throw error;
        return {
          texts: [formatError(id, statesVersion ? withoutOldCode(error) : error)],
          status: statesVersion ? error.status : 200,
        };
      }
    },
  };
}

/** Turns a `UserError` into a `JsonRpcError`, because the client is the user who can fix it. */
function withRpcErrors<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof UserError
      ? new JsonRpcError("invalid params", error.message, { cause: error })
      : error;
  }
}

function getSessionId({ _meta: meta }: Params): string | undefined {
  if (!isJsonObject(meta) || meta[sessionIdKey] === undefined) return undefined;
  const id = meta[sessionIdKey];
  if (typeof id === "string" && id.length > 0 && id.length <= 200) return id;
  throw new JsonRpcError(
    "invalid params",
    `_meta["${sessionIdKey}"] must be a text of 1 to 200 characters`,
  );
}

function callTool(
  server: Server,
  session: CallableSession,
  { name, arguments: given }: Params,
): Outcome {
  const args = given ?? {};
  if (typeof name !== "string")
    throw new JsonRpcError("invalid params", "tools/call needs the name of a tool");
  if (!isJsonObject(args) && typeof args !== "string")
    throw new JsonRpcError("invalid params", "the arguments of a call are an object");
  const tool = session.tools.get(name);
  // the session may have a tool of this name on another server, which has an address of its own
  if (tool && tool.server !== server.name) return createUnknownToolFault(name);
  return session.call(name, args).outcome;
}

/**
 * The result of `tools/call` as JSON text: the value as text and as `structuredContent`, or a fault
 * with `isError`. The text is assembled by hand, because the value occurs in it twice and would
 * otherwise be serialized twice.
 */
function formatCallResult(outcome: Outcome): string {
  if (outcome.kind === "ok") {
    const value = JSON.stringify(outcome.value);
    return `{"content":[{"type":"text","text":${JSON.stringify(value)}}],"structuredContent":${value}}`;
  }
  return `{"isError":true,"content":[{"type":"text","text":${JSON.stringify(JSON.stringify(formatFault(outcome)))}}]}`;
}

/** A failed call as clients receive it. */
interface ToolError {
  readonly error_type: string;
  readonly message: string;
  readonly hint?: string;
}

/** A fault for a client. The stack trace of a broken call is left out. */
export function formatFault({ kind, type, message, hint }: Fault): ToolError {
  return {
    error_type: type,
    message: kind === "broken" ? message.split("\n", 1)[0]! : message,
    ...(hint === undefined ? {} : { hint }),
  };
}

const toolLists = new WeakMap<CallableSession["tools"], Map<Server, readonly object[]>>();

/** The session's tools on this server, as `tools/list` returns them. Cached for each menu. */
function listTools(server: Server, { tools }: CallableSession): readonly object[] {
  let lists = toolLists.get(tools);
  if (!lists) toolLists.set(tools, (lists = new Map()));
  let list = lists.get(server);
  if (!list) {
    list = [...tools.values()].filter(it => it.server === server.name).map(formatTool);
    lists.set(server, list);
  }
  return list;
}

function formatTool(tool: Tool): object {
  const { name, description, parameters } = describeTool(tool);
  return {
    name,
    description,
    inputSchema: parameters,
    outputSchema: toModelSchema(tool.outputSchema),
    annotations: {
      readOnlyHint: tool.effect === "read",
      destructiveHint: tool.destructive,
      idempotentHint: tool.idempotent,
      openWorldHint: false,
    },
  };
}

// Lists and reads a session's state as MCP resources: `state://<server>` is the whole state,
// `state://<server>/<table>` one table of it.

const mimeType = "application/json";

const listStateResources = (server: Server, state: State): readonly object[] => [
  {
    uri: `state://${server.name}`,
    name: `${server.name} state`,
    description: `The whole current state of ${server.name}: its world, its clock, and how far its ids are drawn.`,
    mimeType,
  },
  ...listTables(server, state).map(table => ({
    uri: `state://${server.name}/${table}`,
    name: `${server.name} ${table}`,
    description: `${table} of ${server.name} as they are now.`,
    mimeType,
  })),
];

const listStateTemplates = (server: Server): readonly object[] => [
  {
    uriTemplate: `state://${server.name}/{table}`,
    name: `${server.name} table`,
    description: `One table of the current state of ${server.name}.`,
    mimeType,
  },
];

/** The current content of a resource. Throws a `JsonRpcError` if there is no such resource. */
function readStateResource(server: Server, state: State, uri: unknown): object {
  if (typeof uri !== "string")
    throw new JsonRpcError("invalid params", "resources/read needs a uri");
  const stateUri = `state://${server.name}`;
  const serverState = state[server.name];
  if (serverState && uri === stateUri) return { uri, mimeType, text: JSON.stringify(serverState) };
  const table = uri.startsWith(`${stateUri}/`) ? uri.slice(stateUri.length + 1) : "";
  if (serverState && listTables(server, state).includes(table))
    return { uri, mimeType, text: JSON.stringify(serverState.world[table]) };
  throw new JsonRpcError(
    "no such resource",
    `there is no resource ${uri}; resources/list has them`,
    { data: { uri } },
  );
}

/** The records and lists of the world. Its single values are read with the whole state. */
function listTables(server: Server, state: State): readonly string[] {
  const world = state[server.name]?.world ?? {};
  return Object.keys(world).filter(it => world[it] !== null && typeof world[it] === "object");
}
