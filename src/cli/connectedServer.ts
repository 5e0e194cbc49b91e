/** Runs a third-party MCP server of the workspace while a command works with it. */
import { join } from "node:path";
import { connectServer, type ConnectedSession } from "../mcp/connectedSession.ts";
import { findServerEntry } from "../mcp/mcpConfig.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import type { CliContext } from "./command.ts";

/** Starts the server with that name in `prove/mcp.json`, and stops it once the work is done. */
export async function withConnectedServer<T>(
  { prove, cwd, signal, printNote }: CliContext,
  name: string,
  work: (session: ConnectedSession) => Promise<T>,
): Promise<T> {
  const entry = findServerEntry(join(prove, "mcp.json"), cwd, name);
  printNote(
    `starting ${escapeInvisible([entry.command, ...entry.args].join(" "))} in ${entry.cwd}`,
  );
  const session = await connectServer(entry, signal);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
