/**
 * Serves tools over MCP on this process's stdin and stdout that only read, and answer with text.
 * Unlike the tools of a server, they belong to no session.
 */
import { Server as McpServer } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { UserError } from "../userError.ts";
import { version } from "../version.ts";
import { JsonRpcError } from "./jsonRpc.ts";
import { StdioTransport } from "./stdioTransport.ts";

interface TextTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly inputSchema: object;
  /** A `UserError` is a failed call, which tells the client what to do. */
  readonly answer: (input: unknown) => Promise<string>;
}

/** Serves until the client closes stdin or the signal aborts. */
export async function serveTextTools(
  name: string,
  instructions: string,
  tools: readonly TextTool[],
  signal: AbortSignal,
): Promise<void> {
  const server = new McpServer({ name, version }, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name: own, title, description, inputSchema }) => ({
      name: own,
      title,
      description,
      inputSchema: inputSchema as Tool["inputSchema"],
      annotations: { readOnlyHint: true, openWorldHint: false },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(it => it.name === params.name);
    if (!tool) throw new JsonRpcError("invalid params", `there is no tool ${params.name}`);
    try {
      return { content: [{ type: "text", text: await tool.answer(params.arguments ?? {}) }] };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return {
        isError: true,
        content: [{ type: "text", text: `${error.what}; ${error.remedy}` }],
      };
    }
  });
  const closed = new Promise<void>(resolve => {
    server.onclose = resolve;
    signal.addEventListener("abort", () => void server.close(), { once: true });
  });
  const exposed = { sdkServer: server, answer: () => undefined };
  await server.connect(new StdioTransport(exposed, process.stdin, process.stdout));
  await closed;
}
