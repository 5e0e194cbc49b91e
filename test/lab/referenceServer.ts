/**
 * A minimal MCP server built on the SDK alone, with one tool that does nothing. Benchmarks compare
 * our own server with it. Listens on loopback, for one client.
 */
import { Server as McpServer } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on any free port until `close` is called. */
export async function startReferenceServer(): Promise<{
  readonly url: string;
  readonly close: () => void;
}> {
  const sdkServer = new McpServer(
    { name: "reference", version: "1" },
    { capabilities: { tools: {} } },
  );
  sdkServer.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: "empty", inputSchema: { type: "object" as const } }],
  }));
  sdkServer.setRequestHandler(CallToolRequestSchema, () => ({ content: [] }));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
  });
  await sdkServer.connect(transport);
  const server = createServer(
    (request, response) => void transport.handleRequest(request, response),
  );
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
