/** `tools`: lists tools, as signatures or as the function schemas that models receive. */
import { getUsableServer } from "../environment/catalog.ts";
import type { Tool } from "../environment/server.ts";
import type { Offer } from "../mcp/serverConnection.ts";
import type { ConnectedTool } from "../mcp/toolList.ts";
import { formatChatTool } from "../policy/endpointFormat.ts";
import { describeTool } from "../environment/toolDescription.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { defineCommand, optionalArgument } from "./command.ts";
import { withConnectedServer } from "./connectedServer.ts";
import { connectOption, jsonFlag, trustServerFlag } from "./options.ts";

export const tools = defineCommand({
  name: "tools",
  description:
    "List tools with their arguments and effect: those of all servers, of one server, or of a server of prove/mcp.json. Of the latter, its resources and prompts are listed, too. With --json, tools are shown as the OpenAI-style function schemas that models receive, with the effect and the schema of the result.",
  arguments: [optionalArgument("[server]", "only the tools of this server")],
  options: { connect: connectOption, trustServer: trustServerFlag, json: jsonFlag },
  examples: ["tools banking", "tools --connect memory --json"],
  async run(context, [server], { connect, trustServer, json }) {
    const { catalog, print } = context;
    let offers: readonly Offer[] = [];
    const selected: readonly (Tool | ConnectedTool)[] =
      connect === undefined
        ? [
            ...(server === undefined
              ? catalog.tools
              : getUsableServer(catalog, server).tools
            ).values(),
          ]
        : await withConnectedServer(context, { connect, trustServer }, async session => {
            if (!json) offers = await session.listOffers();
            return [...session.tools.values()];
          });
    if (json) print(JSON.stringify(selected.map(toFunctionSchema), null, 2));
    else
      for (const it of selected)
        print(
          `${escapeInvisible(formatSignature(it))}  ${it.effect}\n    ${escapeInvisible(it.summary)}`,
        );
    for (const { kind, name, summary } of offers)
      print(
        `${escapeInvisible(name)}  ${kind}${summary ? `\n    ${escapeInvisible(summary)}` : ""}`,
      );
    return 0;
  },
});

/** An OpenAI-style function schema, extended by the effect and the schema of the result. */
const toFunctionSchema = (tool: Tool | ConnectedTool) => ({
  ...formatChatTool(describeTool(tool)),
  effect: tool.effect,
  returns: tool.outputSchema,
});

function formatSignature(tool: Tool | ConnectedTool): string {
  const properties = Object.keys((tool.inputSchema["properties"] ?? {}) as object);
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  return `${tool.name}(${properties.map(it => (required.includes(it) ? it : `${it}?`)).join(", ")})`;
}
