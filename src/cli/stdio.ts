/** `stdio`: serves one server over MCP on stdin and stdout. */
import { getUsableServer } from "../environment/catalog.ts";
import { serveStdio } from "../mcp/stdioTransport.ts";
import { argument, defineCommand } from "./command.ts";
import { fixtureOption, seedOption } from "./options.ts";

export const stdio = defineCommand({
  name: "stdio",
  description:
    "Serve one server over MCP on stdin and stdout, for an MCP client that starts this command. The connection is one private session.",
  arguments: [argument("<server>", "name of the server", { required: "the name of a server" })],
  options: { fixture: fixtureOption, seed: seedOption },
  examples: ["stdio banking", "stdio calendar --fixture small"],
  async run({ catalog, signal }, [server], { fixture, seed }) {
    await serveStdio(getUsableServer(catalog, server), { catalog, fixture, seed }, signal);
    return 0;
  },
});
