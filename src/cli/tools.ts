/** `tools`: the function schemas as models are given them. */
import { join } from "node:path";
import type { Tool } from "../environment/server.ts";
import { connectServer, type ConnectedSession } from "../mcp/connectedSession.ts";
import type { ConnectedTool } from "../mcp/serverConnection.ts";
import { findServerEntry } from "../mcp/mcpConfig.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import type { CliCommand, CliContext } from "./command.ts";

/** An OpenAI-style function, with what this project adds: effect and the schema of the result. */
export const toFunctionSchema = (tool: Tool | ConnectedTool) => ({
  type: "function",
  function: { name: tool.name, description: tool.summary, parameters: tool.inputSchema },
  effect: tool.effect,
  returns: tool.outputSchema,
});

export const tools: CliCommand = {
  usage: "tools [server | --connect NAME] [--json]",
  summary:
    "List tools with their arguments, of our servers or of one in prove/mcp.json; --json gives OpenAI-style function schemas.",
  options: { connect: { type: "string" }, json: { type: "boolean" } },
  async run(terminal, [name], values) {
    if (typeof values["connect"] === "string") {
      await withConnectedServer(terminal, values["connect"], async ({ tools }) =>
        show([...tools.values()]),
      );
      return 0;
    }
    const { catalog } = terminal;
    show([...(name === undefined ? catalog.tools : catalog.getServer(name).tools).values()]);
    return 0;

    function show(chosen: readonly (Tool | ConnectedTool)[]): void {
      if (values["json"]) terminal.print(JSON.stringify(chosen.map(toFunctionSchema), null, 2));
      else
        for (const it of chosen)
          terminal.print(
            `${escapeInvisible(signatureOf(it))}  ${it.effect}\n    ${escapeInvisible(it.summary)}`,
          );
    }
  },
};

/**
 * Does something with a server of the workspace's `prove/mcp.json`, which runs as long as that
 * takes.
 */
export async function withConnectedServer<T>(
  { prove, cwd, signal, printNote: say }: CliContext,
  name: string,
  work: (session: ConnectedSession) => Promise<T>,
): Promise<T> {
  const entry = findServerEntry(join(prove, "mcp.json"), cwd, name);
  say(`starting ${escapeInvisible([entry.command, ...entry.args].join(" "))} in ${entry.cwd}`);
  const session = await connectServer(entry, signal);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

function signatureOf(tool: Tool | ConnectedTool): string {
  const properties = Object.keys((tool.inputSchema["properties"] ?? {}) as object);
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  return `${tool.name}(${properties.map(it => (required.includes(it) ? it : `${it}?`)).join(", ")})`;
}
