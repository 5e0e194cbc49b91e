/** Connects one server to this process's stdin and stdout, where each line is one MCP message. */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Server } from "../environment/server.ts";
import { expose, type Start } from "./expose.ts";

/** Serves until the other side closes stdin, or the signal aborts. */
export async function serveStdio(server: Server, start: Start, signal: AbortSignal): Promise<void> {
  const wire = expose(server, start);
  const closed = new Promise<void>(resolve => {
    wire.onclose = resolve;
    // the SDK's transport does not notice the end of its input
    process.stdin.once("end", () => void wire.close());
    signal.addEventListener("abort", () => void wire.close(), { once: true });
  });
  await wire.connect(new StdioServerTransport());
  await closed;
}
