/**
 * The SDK's own server on the SDK's own HTTP transport with one tool that does nothing: what ours
 * is measured against. Loopback only, for one client, and nothing of ours in it.
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
  const wire = new McpServer({ name: "reference", version: "1" }, { capabilities: { tools: {} } });
  wire.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: "empty", inputSchema: { type: "object" as const } }],
  }));
  wire.setRequestHandler(CallToolRequestSchema, () => ({ content: [] }));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
  });
  await wire.connect(transport);
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
