/** Passes a request of a client to the process that has the session in its path. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { findSessionInPath, type Peers } from "./peers.ts";
import { readBytes } from "./requestBody.ts";

/** The headers of a request that routes read. */
const passedHeaders = ["content-type", "accept", "mcp-protocol-version"] as const;

/** Returns false for a request that this process answers itself. */
export async function passToOwner(
  request: IncomingMessage,
  response: ServerResponse,
  peers: Peers,
): Promise<boolean> {
  const { method = "", url = "", headers } = request;
  const id = findSessionInPath(url);
  if (id === undefined || peers.isOwn(id)) return false;
  const body = await readBytes(request);
  const passed = passedHeaders.flatMap(name => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  const answer = await peers.send(peers.findIndex(id), {
    method,
    url,
    headers: Object.fromEntries(passed),
    body,
    // calls over MCP have no number
    isRepeatable: url.startsWith("/v1/"),
  });
  response.writeHead(answer.status, answer.headers).end(answer.body);
  return true;
}
