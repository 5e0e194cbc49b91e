/**
 * Writes the lists in package.json that follow from the code: the JSON Schemas by which the editor
 * validates files, the servers and reward profiles that settings offer, the tools of its agents,
 * and the pictures of the walkthrough. `npm run manifest` runs it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { inspectionTools } from "./src/inspect/tools.ts";
import { defaultProfile, profiles } from "./src/reward/profiles.ts";
import { serverNames } from "./src/servers/catalog.ts";

export const manifestFile = join(import.meta.dirname, "package.json");

const fileSchemas = [
  { fileMatch: "*.tasks.jsonl", url: "./resources/schemas/tasks.schema.json" },
  { fileMatch: "*.trajectory.jsonl", url: "./resources/schemas/trajectory.schema.json" },
  { fileMatch: "**/prove/mcp.json", url: "./resources/schemas/mcp.schema.json" },
  { fileMatch: "**/prove/servers/*.server.json", url: "./resources/schemas/server.schema.json" },
  { fileMatch: "*.train.json", url: "./resources/schemas/training.schema.json" },
];

/** What the pictures of the walkthrough's steps show, by the ids of the steps. */
const walkthroughPictures: Readonly<Record<string, string>> = {
  trust: "The question whether you trust the authors of the files in a folder",
  servers: "A transfer between two accounts, and what it changed in the state",
  failing: "An attempt that does not succeed, with its reward after each call",
  stepping: "The debugger at a call of a transcript, with the step's result and reward",
  tasks: "The Tasks view with the transcript of a task",
  training: "A finished run: success before and after on held-out tasks, and the reward's curve",
};

/** In the high-contrast themes, the pictures are those of the light and the dark one. */
function createStepMedia(id: string): object {
  const altText = walkthroughPictures[id];
  if (altText === undefined) throw new Error(`the walkthrough's step ${id} has no picture`);
  const [light, dark] = ["light", "dark"].map(it => `resources/walkthrough/${id}-${it}.png`);
  return { image: { light, dark, hcLight: light, hc: dark }, altText };
}

interface Manifest {
  readonly contributes: {
    jsonValidation: readonly object[];
    languageModelTools: readonly object[];
    readonly walkthroughs: readonly {
      readonly steps: readonly { readonly id: string; media: object }[];
    }[];
    readonly configuration: {
      readonly properties: {
        readonly "prove.agentServers": { readonly items: { enum: readonly string[] } };
        readonly "prove.rewardProfile": {
          default: string;
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
  properties["prove.rewardProfile"].default = defaultProfile.name;
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
  contributes.languageModelTools = inspectionTools.map(it => ({
    name: it.name,
    toolReferenceName: it.reference,
    canBeReferencedInPrompt: true,
    displayName: it.title,
    userDescription: it.title,
    modelDescription: it.description,
    inputSchema: it.inputSchema,
    tags: ["prove"],
  }));
  for (const step of contributes.walkthroughs.flatMap(it => it.steps))
    step.media = createStepMedia(step.id);
  return formatManifest(manifest);
}

const formatManifest = async (manifest: Manifest): Promise<string> =>
  format(JSON.stringify(manifest), {
    ...(await resolveConfig(manifestFile)),
    filepath: manifestFile,
  });

if (import.meta.main)
  writeFileSync(manifestFile, await updateManifest(readFileSync(manifestFile, "utf8")));
