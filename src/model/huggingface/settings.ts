/**
 * The file prove.json beside a Hugging Face model: how its chats are rendered, its limits, and,
 * once it has been trained here, its trainings and what it saw in them.
 */
import { existsSync } from "node:fs";
import { z } from "zod";
import { getSettingsFile, settingsFormat } from "../../storage/modelName.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import { writeFileAtomicallySync } from "../../storage/atomicWrite.ts";
import { modelConfig } from "../modelConfig.ts";

const count = z.int().min(1);
const settingsSchema = z.strictObject({
  format: z.literal(settingsFormat),
  /** The name of the model; that of its folder if absent. */
  name: z.string().optional(),
  /** Whether its own chat template or the default one of PROVE is used. */
  template: z.enum(["own", "default"]).default("own"),
  /** Tokens of a conversation, at most as many as the model was made for. */
  context: count.default(4096),
  /** Tokens that the model may write in an attempt, over all turns. */
  answers: count.default(512),
  /** Tokens of one result. */
  result: count.default(512),
  /** Of adapters that were trained: the digest of their base model, as in `hashModelFiles`. */
  base: z.string().optional(),
  training: modelConfig.shape.training.default([]),
  saw: modelConfig.shape.saw.default({
    servers: {},
    tools: [],
    chains: [],
    edges: [],
    worlds: [],
    sequences: [],
  }),
});

export type HuggingFaceSettings = z.infer<typeof settingsSchema>;

/** The settings of a folder; the defaults if it has none. */
export function readHuggingFaceSettings(folder: string): HuggingFaceSettings {
  const file = getSettingsFile(folder);
  if (!existsSync(file)) return settingsSchema.parse({ format: settingsFormat });
  return readJsonFile(settingsSchema, file, {
    noun: "the settings of a model",
    format: settingsFormat,
    remedy: "correct that value, or delete the file to use the defaults",
  });
}

export function writeHuggingFaceSettings(folder: string, settings: HuggingFaceSettings): void {
  writeFileAtomicallySync(getSettingsFile(folder), `${JSON.stringify(settings, undefined, 2)}\n`);
}
