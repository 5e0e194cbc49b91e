/**
 * A server's sessions as an MCP server: tools to call and the state as resources, over whichever
 * transport. Which session a request is about stands in its `_meta`; whoever holds the sessions
 * finds it. Knows no trajectories, and of control only that there may be more methods.
 */
import { Server as McpServer } from "@modelcontextprotocol/sdk/server/index.js";
import { UserError } from "../userError.ts";
import type { Fault, Outcome } from "../environment/outcome.ts";
import type { Server, Tool } from "../environment/server.ts";
import type { Session } from "../environment/session.ts";
import { version } from "../version.ts";
import { readStateResource, listStateResources, listStateTemplates } from "./stateResources.ts";
import {
  formatError,
  isRequestId,
  isRecord,
  formatReply,
  JsonRpcError,
  type Params,
} from "./jsonRpc.ts";

/** Which session a request is about, inside `params._meta`; absent for the connection's own. */
export const sessionIdKey = "prove/sessionId";

/** What a client acts on: a session, or something that stands for one. */
export type CallableSession = Pick<Session, "tools" | "state" | "call">;

/**
 * A request's result, from its parameters and the id of the session that it is about. Throws
 * `RequestFault` or `UserError`.
 */
export type RequestMethod = (params: Params, session: string | undefined) => object;

/** One server on the wire. */
export interface ExposedServer {
  /** The SDK's part: shaking hands, and whatever is about no session. */
  readonly sdkServer: McpServer;
  /**
   * The whole answer to a request about a session, as JSON text; undefined for any other message,
   * which goes to the wire. It is given at once, so that requests take effect in the order in which
   * they come.
   */
  readonly answer: (message: Params) => string | undefined;
}

/** Puts a server on the wire, with further methods where a transport has them. */
export function exposeServer(
  server: Server,
  sessionOf: (id: string | undefined) => CallableSession,
  more: Readonly<Record<string, RequestMethod>> = {},
): ExposedServer {
  const methods: Readonly<Record<string, RequestMethod>> = {
    "tools/list": (_, id) => ({ tools: offered(server, sessionOf(id)) }),
    "resources/list": (_, id) => ({ resources: listStateResources(server, sessionOf(id).state) }),
    "resources/templates/list": () => ({ resourceTemplates: listStateTemplates(server) }),
    "resources/read": ({ uri }, id) => ({
      contents: [readStateResource(server, sessionOf(id).state, uri)],
    }),
    ...more,
  };
  const resultText = (method: string, params: Params, id: string | undefined): string =>
    method === "tools/call"
      ? callText(outcomeOf(server, sessionOf(id), params))
      : JSON.stringify(methods[method]!(params, id));
  const isOurs = (method: unknown): method is string =>
    method === "tools/call" || (typeof method === "string" && Object.hasOwn(methods, method));

  const wire = new McpServer(
    { name: `prove-${server.name}`, version },
    { capabilities: { tools: {}, resources: {} }, instructions: server.summary },
  );
  // a transport that does not ask `answer` first gets the same answers from the SDK
  wire.fallbackRequestHandler = async ({ method, params = {} }) => {
    if (!isOurs(method))
      throw new JsonRpcError("method not found", `there is no method ${String(method)}`);
    return JSON.parse(guarded(() => resultText(method, params, sessionIn(params)))) as Record<
      string,
      unknown
    >;
  };
  return {
    sdkServer: wire,
    answer({ id, method, params = {} }) {
      if (!isOurs(method) || !isRequestId(id)) return undefined;
      try {
        if (!isRecord(params)) throw new JsonRpcError("invalid params", "params must be an object");
        return formatReply(
          id,
          guarded(() => resultText(method, params, sessionIn(params))),
        );
      } catch (error) {
        if (error instanceof JsonRpcError) return formatError(id, error);
        throw error;
      }
    },
  };
}

/** What a person could mend is the client's fault on a wire. */
function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof UserError
      ? new JsonRpcError("invalid params", error.message, { cause: error })
      : error;
  }
}

function sessionIn({ _meta: meta }: Params): string | undefined {
  if (!isRecord(meta) || meta[sessionIdKey] === undefined) return undefined;
  const id = meta[sessionIdKey];
  if (typeof id === "string" && id.length > 0 && id.length <= 200) return id;
  throw new JsonRpcError(
    "invalid params",
    `_meta["${sessionIdKey}"] must be a text of 1 to 200 characters`,
  );
}

function outcomeOf(
  server: Server,
  session: CallableSession,
  { name, arguments: args = {} }: Params,
): Outcome {
  if (typeof name !== "string")
    throw new JsonRpcError("invalid params", "tools/call needs the name of a tool");
  if (!isRecord(args))
    throw new JsonRpcError("invalid params", "the arguments of a call are an object");
  const known = session.tools.get(name);
  // the session may have another server's tool of that name, but not at this address
  if (known && known.server !== server.name)
    return {
      kind: "unknown-tool",
      type: "unknown_tool",
      message: `there is no tool ${name}`,
      hint: "call one of the tools on offer",
    };
  return session.call(name, args).outcome;
}

/**
 * Success is the value as text and as `structuredContent`; failure is `isError` with what a model
 * can act on. Written as text: the value's JSON stands in it twice, and is made once.
 */
function callText(outcome: Outcome): string {
  if (outcome.kind === "ok") {
    const value = JSON.stringify(outcome.value);
    return `{"content":[{"type":"text","text":${JSON.stringify(value)}}],"structuredContent":${value}}`;
  }
  return `{"isError":true,"content":[{"type":"text","text":${JSON.stringify(JSON.stringify(formatFault(outcome)))}}]}`;
}

export interface ToolError {
  readonly error_type: string;
  readonly message: string;
  readonly hint?: string;
}

/** A failed call in words for a client; of what broke, where it broke stays here. */
export function formatFault({ kind, type, message, hint }: Fault): ToolError {
  return {
    error_type: type,
    message: kind === "broken" ? message.split("\n", 1)[0]! : message,
    ...(hint === undefined ? {} : { hint }),
  };
}

const lists = new WeakMap<CallableSession["tools"], Map<Server, readonly object[]>>();

/** The session's tools of this server as a client sees them; made once for each menu. */
function offered(server: Server, { tools }: CallableSession): readonly object[] {
  let list = lists.get(tools);
  if (!list) lists.set(tools, (list = new Map()));
  let known = list.get(server);
  if (!known)
    list.set(
      server,
      (known = [...tools.values()].filter(it => it.server === server.name).map(listed)),
    );
  return known;
}

const listed = (tool: Tool) => ({
  name: tool.name,
  description: tool.summary,
  inputSchema: tool.inputSchema,
  outputSchema: tool.outputSchema,
  annotations: {
    readOnlyHint: tool.effect === "read",
    destructiveHint: tool.destructive,
    idempotentHint: tool.idempotent,
    openWorldHint: false,
  },
});
