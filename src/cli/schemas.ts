/**
 * `schemas`: writes the JSON Schemas of fixtures, tasks, trajectories, mcp.json and training files.
 * The editor completes and validates these files with them.
 */
import { mkdirSync } from "node:fs";
import { writeFileOver } from "../storage/writtenFiles.ts";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { createFixtureSchema } from "../environment/fixture.ts";
import type { Catalog } from "../environment/catalog.ts";
import { mcpConfigSchema } from "../mcp/mcpConfig.ts";
import { serverFileSchema } from "../mcp/connected/serverFile.ts";
import { trainingSettings } from "../run/config.ts";
import { taskLineSchema } from "../trajectory/task.ts";
import { headerSchema, eventLineSchema } from "../trajectory/trajectory.ts";
import { defineCommand, option } from "./command.ts";
import { outputPath } from "./options.ts";

export const schemas = defineCommand({
  name: "schemas",
  description:
    "Write the JSON Schemas of fixtures, tasks, trajectories, mcp.json and training files, with which the editor completes and validates these files. Prints the path of each.",
  arguments: [],
  options: {
    out: option("--out <folder>", "folder to write to (default: the product's own resources)", {
      parser: outputPath("schemas"),
    }),
  },
  examples: ["schemas --out schemas"],
  async run({ catalog, cwd, resources, print }, _positionals, { out }) {
    const folder = out === undefined ? resources : resolve(cwd, out);
    for (const [name, text] of Object.entries(createSchemaFiles(catalog))) {
      const file = join(folder, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileOver(file, text);
      print(file);
    }
    return 0;
  },
});

/**
 * The text of each schema file, by its path in the resources folder: two schemas for the fixtures
 * of each server, to validate and to complete them, one each for a line of a tasks file, a line of
 * a trajectory file, mcp.json, a server's file, and a training file.
 */
export function createSchemaFiles(catalog: Catalog): Record<string, string> {
  const fixtureSchemas = [...catalog.servers.values()].map(
    it => [`servers/${it.name}/fixture.schema.json`, createFixtureSchema(it)] as const,
  );
  const otherSchemas = [
    [
      "schemas/tasks.schema.json",
      taskLineSchema.meta({
        title: "PROVE task",
        description: "One line of a *.tasks.jsonl file: a task with its teacher's trajectory.",
      }),
    ],
    [
      "schemas/trajectory.schema.json",
      z.union([headerSchema, eventLineSchema]).meta({
        title: "PROVE trajectory line",
        description:
          "One line of a *.trajectory.jsonl file: a header, then what was said and called, then how it ended.",
      }),
    ],
    [
      "schemas/mcp.schema.json",
      mcpConfigSchema.meta({
        title: "PROVE connected servers",
        allowComments: true,
        allowTrailingCommas: true,
        description: "prove/mcp.json: third-party MCP servers to use as environments.",
      }),
    ],
    [
      "schemas/server.schema.json",
      serverFileSchema.meta({
        title: "PROVE server",
        description:
          "A *.server.json file in prove/servers: what is known about a third-party server.",
      }),
    ],
    [
      "schemas/training.schema.json",
      trainingSettings.meta({
        title: "PROVE training",
        description: "A *.train.json file: what to train, on which tasks, how, and for how long.",
      }),
    ],
  ] as const;
  return Object.fromEntries([
    ...[...fixtureSchemas, ...otherSchemas].map(([name, schema]) => [
      name,
      formatSchema(z.toJSONSchema(schema, { io: "input" })),
    ]),
    ...[...catalog.servers.keys()].map(name => [
      `servers/${name}/fixture.completion.schema.json`,
      formatSchema(completionSchema),
    ]),
  ]);
}

const formatSchema = (schema: object) => `${JSON.stringify(schema, null, 2)}\n`;

/**
 * A schema that any value fits, by which an editor completes and explains fixtures without
 * reporting errors: `if` alone asserts nothing.
 */
const completionSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  if: { $ref: "./fixture.schema.json" },
};
