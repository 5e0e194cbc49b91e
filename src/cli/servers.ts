/** `servers`: lists the servers. */
import { defineCommand } from "./command.ts";
import { jsonFlag } from "./options.ts";

export const servers = defineCommand({
  name: "servers",
  description:
    "List the servers in their fixed order, then those of the workspace: name, category, number of tools, and what their state holds.",
  arguments: [],
  options: { json: jsonFlag },
  examples: ["servers", "servers --json"],
  async run({ catalog, print }, _positionals, { json }) {
    const rows = [...catalog.servers.values(), ...catalog.own.values()].map(it => ({
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
});
