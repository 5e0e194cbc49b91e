/** `tools`: the function schemas as models are given them. */
import type { Tool } from "../environment/server.ts";
import type { Command } from "./command.ts";

/** An OpenAI-style function, with what this project adds: effect and the schema of the result. */
export const functionOf = (tool: Tool) => ({
  type: "function",
  function: { name: tool.name, description: tool.summary, parameters: tool.inputSchema },
  effect: tool.effect,
  returns: tool.outputSchema,
});

export const tools: Command = {
  usage: "tools [server] [--json]",
  summary: "List tools with their arguments; --json gives OpenAI-style function schemas.",
  options: { json: { type: "boolean" } },
  async run({ catalog, print }, [name], { json }) {
    const chosen = [...(name === undefined ? catalog.tools : catalog.server(name).tools).values()];
    if (json) print(JSON.stringify(chosen.map(functionOf), null, 2));
    else for (const it of chosen) print(`${signatureOf(it)}  ${it.effect}\n    ${it.summary}`);
    return 0;
  },
};

function signatureOf(tool: Tool): string {
  const properties = Object.keys((tool.inputSchema["properties"] ?? {}) as object);
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  return `${tool.name}(${properties.map(it => (required.includes(it) ? it : `${it}?`)).join(", ")})`;
}
