/**
 * `schemas`: the JSON Schemas of our files, by which the editor completes and validates what a
 * person edits.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { fixtureSchema } from "../environment/fixture.ts";
import type { Catalog } from "../environment/catalog.ts";
import { entriesSchema } from "../mcp/entries.ts";
import { taskLineSchema } from "../trajectory/taskLine.ts";
import { event, header } from "../trajectory/trajectory.ts";
import type { Command } from "./command.ts";

export const schemas: Command = {
  usage: "schemas [--out DIR]",
  summary:
    "Write the JSON Schemas of fixtures, tasks, trajectories and mcp.json (default: the product's own resources/schemas).",
  options: { out: { type: "string" } },
  async run({ catalog, cwd, resources, print }, _positionals, { out }) {
    const folder = typeof out === "string" ? resolve(cwd, out) : join(resources, "schemas");
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(schemaFiles(catalog))) {
      writeFileSync(join(folder, name), text);
      print(join(folder, name));
    }
    return 0;
  },
};

/**
 * File names with their texts: one schema a server's fixtures, one a line of tasks, one a line of
 * trajectories, one of mcp.json.
 */
export function schemaFiles(catalog: Catalog): Record<string, string> {
  const fixtures = [...catalog.servers.values()].map(
    it => [`${it.name}.fixture.schema.json`, fixtureSchema(it)] as const,
  );
  const lines = [
    [
      "tasks.schema.json",
      taskLineSchema.meta({
        title: "PROVE task",
        description: "One line of a *.tasks.jsonl file: a task with its teacher's trajectory.",
      }),
    ],
    [
      "trajectory.schema.json",
      z.union([header, event]).meta({
        title: "PROVE trajectory line",
        description:
          "One line of a *.trajectory.jsonl file: a header, then what was said and called, then how it ended.",
      }),
    ],
    [
      "mcp.schema.json",
      entriesSchema.meta({
        title: "PROVE connected servers",
        description: "prove/mcp.json: third-party MCP servers to use as environments.",
      }),
    ],
  ] as const;
  return Object.fromEntries(
    [...fixtures, ...lines].map(([name, it]) => [
      name,
      `${JSON.stringify(z.toJSONSchema(it, { io: "input" }), null, 2)}\n`,
    ]),
  );
}
