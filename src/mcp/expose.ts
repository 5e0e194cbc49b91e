/**
 * A server's sessions as an MCP server: tools for the agent, control for us. Open, state, restore and close are custom
 * requests and never tools. Written once for all servers; knows no trajectories and no transport.
 */
import { Server as McpServer } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema, McpError, ErrorCode, type CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Catalog } from "../environment/catalog.ts";
import { freeze, type Digest, type JsonObject } from "../environment/json.ts";
import type { Outcome } from "../environment/outcome.ts";
import type { Server, Tool } from "../environment/server.ts";
import { openSession, type Session, type State } from "../environment/session.ts";
import { version } from "../version.ts";

/** Which session a request is about, inside `params._meta`; absent for the connection's own. */
export const sessionKey = "prove/sessionId";

/** What a connection's own session, and those it opens without saying otherwise, start from. */
export interface Start {
  readonly catalog: Catalog;
  readonly fixture: string;
  readonly seed: number;
}

const meta = z.object({ [sessionKey]: z.string().min(1).max(200).optional() }).optional();
const request = <const Method extends string, Params extends z.core.$ZodShape>(method: Method, params: Params) =>
  z.object({ method: z.literal(method), params: z.object({ ...params, _meta: meta }).optional() });

const OpenRequest = request("prove/open", { fixture: z.string().optional(), seed: z.int().min(0).optional() });
const StateRequest = request("prove/state", {});
const RestoreRequest = request("prove/restore", { state: z.record(z.string(), z.unknown()).optional() });
const CloseRequest = request("prove/close", {});

/** How many sessions one connection may hold; one more is refused, none is ever evicted. */
export const sessionCap = 16_384;

/** Puts a server on the wire. Each connection gets its own; its sessions end with it. */
export function expose(server: Server, start: Start): McpServer {
  const sessions = new Map<string, Session>();
  const wire = new McpServer({ name: `prove-${server.name}`, version: version }, { capabilities: { tools: {} }, instructions: server.summary });

  const open = (key: string, fixture: string, seed: number): Session => {
    if (sessions.size >= sessionCap) throw new McpError(ErrorCode.InvalidRequest, `limit_exceeded: this connection holds ${sessionCap} sessions; close one first`);
    const session = openSession({ servers: [{ server, fixture: start.catalog.fixture(server.name, fixture) }], seed });
    sessions.set(key, session);
    return session;
  };
  /** The connection's own session is opened on first use, so that ordinary clients just work; others by `prove/open`. */
  const session = (params: { _meta?: Record<string, unknown> | undefined } | undefined): Session => {
    const key = keyOf(params);
    const known = sessions.get(key);
    if (known) return known;
    if (key !== own) throw new McpError(ErrorCode.InvalidParams, `there is no session ${key}; open it with prove/open`);
    return open(own, start.fixture, start.seed);
  };

  wire.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...server.tools.values()].map(listed) }));
  wire.setRequestHandler(CallToolRequestSchema, ({ params }) => contentOf(session(params).call(params.name, params.arguments ?? {}).outcome));
  wire.setRequestHandler(OpenRequest, ({ params }) => {
    const opened = open(keyOf(params), params?.fixture ?? start.fixture, params?.seed ?? start.seed);
    return { digest: opened.digest };
  });
  wire.setRequestHandler(StateRequest, ({ params }) => standing(session(params)));
  wire.setRequestHandler(RestoreRequest, ({ params }) => {
    const it = session(params);
    if (params?.state) it.restore(checked(server, params.state));
    else it.restore(openSession({ servers: [{ server, fixture: start.catalog.fixture(server.name, start.fixture) }], seed: start.seed }).state);
    return standing(it);
  });
  wire.setRequestHandler(CloseRequest, ({ params }) => {
    sessions.delete(keyOf(params));
    return {};
  });
  return wire;
}

const own = "";
const keyOf = (params: { _meta?: Record<string, unknown> | undefined } | undefined) => (params?._meta?.[sessionKey] as string | undefined) ?? own;

const standing = (session: Session): { state: State; digest: Digest } => ({ state: session.state, digest: session.digest });

/** A state from outside, checked against the server's schema before it becomes a session's. */
function checked(server: Server, state: Record<string, unknown>): State {
  const shape = z.strictObject({ [server.name]: z.strictObject({ world: server.schema, clock: z.string(), draws: z.int().min(0) }) });
  const parsed = shape.safeParse(state);
  if (!parsed.success) throw new McpError(ErrorCode.InvalidParams, `the state does not fit ${server.name}: ${parsed.error.issues[0]!.message}`);
  return freeze(parsed.data) as unknown as State;
}

const listed = (tool: Tool) => ({
  name: tool.name,
  description: tool.summary,
  inputSchema: tool.inputSchema as JsonObject & { type: "object" },
  outputSchema: tool.outputSchema as JsonObject & { type: "object" },
  annotations: { readOnlyHint: tool.effect === "read", destructiveHint: tool.destructive, idempotentHint: tool.idempotent, openWorldHint: false },
});

/** Success is the value as text and as `structuredContent`; failure is `isError` with what a model can act on. */
function contentOf(outcome: Outcome): CallToolResult {
  if (outcome.kind === "ok") return { content: [{ type: "text", text: JSON.stringify(outcome.value) }], structuredContent: outcome.value as Record<string, unknown> };
  const { type, message, hint } = outcome;
  return { isError: true, content: [{ type: "text", text: JSON.stringify({ error_type: type, message, ...(hint === undefined ? {} : { hint }) }) }] };
}
