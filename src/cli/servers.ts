/** `servers`: what environments there are. */
import type { CliCommand } from "./command.ts";

export const servers: CliCommand = {
  usage: "servers [--json]",
  summary: "List the servers: category, number of tools, their state in a line.",
  options: { json: { type: "boolean" } },
  async run({ catalog, print }, _positionals, { json }) {
    const rows = [...catalog.servers.values()].map(it => ({
      name: it.name,
      category: it.category,
      tools: it.tools.size,
      summary: it.summary,
    }));
    if (json) {
      print(JSON.stringify(rows, null, 2));
      return 0;
    }
    const width = Math.max(...rows.map(it => it.name.length));
    for (const it of rows)
      print(
        `${it.name.padEnd(width)}  ${it.category.padEnd(13)} ${String(it.tools).padStart(3)} tools  ${it.summary}`,
      );
    return 0;
  },
};
