/** `stdio`: a server over MCP on stdin and stdout. */
import { UserError } from "../userError.ts";
import { serveStdio } from "../mcp/stdioTransport.ts";
import { readFixtureName, readSeed } from "./call.ts";
import type { CliCommand } from "./command.ts";

export const stdio: CliCommand = {
  usage: "stdio <server> [--fixture F] [--seed N]",
  summary: "Serve one server over MCP on stdin and stdout; the connection is one private session.",
  options: { fixture: { type: "string" }, seed: { type: "string" } },
  async run({ catalog, signal }, [name], values) {
    if (name === undefined)
      throw new UserError("stdio needs the name of a server", `usage: prove-rl ${stdio.usage}`);
    const server = catalog.getServer(name);
    await serveStdio(
      server,
      { catalog, fixture: readFixtureName(values), seed: readSeed(values) },
      signal,
    );
    return 0;
  },
};
