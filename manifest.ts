/**
 * Writes the lists in package.json that follow from the code: the JSON Schemas by which the editor
 * validates files, and the servers and reward profiles that settings offer. `npm run manifest` runs
 * it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { profiles } from "./src/reward/profiles.ts";
import { serverNames } from "./src/servers/catalog.ts";

export const manifestFile = join(import.meta.dirname, "package.json");

const fileSchemas = [
  { fileMatch: "*.tasks.jsonl", url: "./resources/schemas/tasks.schema.json" },
  { fileMatch: "*.trajectory.jsonl", url: "./resources/schemas/trajectory.schema.json" },
  { fileMatch: "**/prove/mcp.json", url: "./resources/schemas/mcp.schema.json" },
  { fileMatch: "*.train.json", url: "./resources/schemas/training.schema.json" },
];

interface Manifest {
  readonly contributes: {
    jsonValidation: readonly object[];
    readonly configuration: {
      readonly properties: {
        readonly "prove.agentServers": { readonly items: { enum: readonly string[] } };
        readonly "prove.rewardProfile": {
          enum: readonly string[];
          enumDescriptions: readonly string[];
        };
      };
    };
  };
}

/** The text of package.json with its generated lists brought up to date. */
export function updateManifest(text: string): Promise<string> {
  const manifest = JSON.parse(text) as Manifest;
  const { contributes } = manifest;
  const { properties } = contributes.configuration;
  properties["prove.agentServers"].items.enum = serverNames;
  properties["prove.rewardProfile"].enum = profiles.map(it => it.name);
  properties["prove.rewardProfile"].enumDescriptions = profiles.map(it => it.summary);
  contributes.jsonValidation = [
    ...serverNames.map(name => ({
      fileMatch: `**/fixtures/${name}/*.fixture.json`,
      // the extension reports errors itself, with those that no JSON Schema can express
      url: `./resources/servers/${name}/fixture.completion.schema.json`,
    })),
    ...fileSchemas,
  ];
  return formatManifest(manifest);
}

const formatManifest = async (manifest: Manifest): Promise<string> =>
  format(JSON.stringify(manifest), {
    ...(await resolveConfig(manifestFile)),
    filepath: manifestFile,
  });

if (import.meta.main)
  writeFileSync(manifestFile, await updateManifest(readFileSync(manifestFile, "utf8")));
