/**
 * A Hugging Face model folder as a model to evaluate and to train: its configuration, its chat
 * format and its limits. The weights are read in weights.ts.
 */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { hash } from "node:crypto";
import { writeFileAtomically, writeFileAtomicallySync } from "../../storage/atomicWrite.ts";
import { chooseModelName, settingsFormat, getSettingsFile } from "../../storage/modelName.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import { readTextFile } from "../../storage/textFiles.ts";
import { UserError } from "../../userError.ts";
import type { ChatFormat, ChatLimits } from "../chatFormat.ts";
import type { StoredAdapters } from "../storedAdapters.ts";
import { modelFormat, type ModelConfig, modelConfig } from "../modelConfig.ts";
import type { NamedArray } from "../weights.ts";
import { createHuggingFaceFormat } from "./chatFormat.ts";
import { readChatTemplate, readSpecialTokens, templateFiles } from "./chatTemplate.ts";
import { readHuggingFaceConfig } from "./config.ts";
import { readHuggingFaceTokenizer, type HuggingFaceTokenizer } from "./tokenizer.ts";
import { writeHuggingFaceWeights } from "./weights.ts";

export interface StoredHuggingFaceModel {
  readonly kind: "hugging-face";
  readonly folder: string;
  readonly config: ModelConfig;
  readonly chat: ChatFormat;
  readonly settings: HuggingFaceSettings;
  /** If the folder has adapters: the other parts come from their base model. */
  readonly adapters?: StoredAdapters;
}

/** Whether a folder has the configuration of a Hugging Face model. */
export function isHuggingFaceFolder(folder: string): boolean {
  const file = join(folder, "config.json");
  if (!existsSync(file)) return false;
  const config = readJsonFile(z.looseObject({}), file, {
    noun: "a model's configuration",
    remedy: "choose another model, or copy the model folder again",
  });
  return config["model_type"] !== undefined;
}

/** Throws a `UserError` if the model, its tokenizer or its template cannot be used. */
export function readHuggingFaceFolder(
  folder: string,
  settings = readHuggingFaceSettings(folder),
): StoredHuggingFaceModel {
  const { architecture, eosTokenIds } = readHuggingFaceConfig(folder);
  const tokenizer = readHuggingFaceTokenizer(folder);
  if (tokenizer.size > architecture.vocabulary)
    throw new UserError(
      `the tokenizer in ${folder} does not match the weights: it has token ids up to ${tokenizer.size - 1}, and the model knows those up to ${architecture.vocabulary - 1}`,
      "take tokenizer and weights from the same model",
    );
  const template = readChatTemplate(folder, settings.template);
  const endIds = listEndIds(folder, tokenizer, eosTokenIds);
  const limits = computeLimits(folder, architecture.context, settings);
  const { tools } = settings;
  const chat = createHuggingFaceFormat({ folder, tokenizer, template, endIds, limits, tools });
  const config: ModelConfig = {
    format: modelFormat,
    name: settings.name ?? chooseModelName(folder),
    architecture,
    chat: hash(
      "sha256",
      `${tokenizer.digest} ${template.source}${tools === "json" ? "" : ` ${tools}`}`,
      "hex",
    ).slice(0, 16),
    ...(settings.base === undefined ? {} : { base: settings.base }),
    saw: settings.saw,
    training: settings.training,
  };
  return { kind: "hugging-face", folder, config, chat, settings };
}

/**
 * The chat format of a folder that need not have a model, to count tokens with: without limits, so
 * that results are not shortened. Throws a `UserError` if tokenizer or template cannot be used.
 */
export function readCountingFormat(folder: string): ChatFormat {
  const { template: choice, tools } = readHuggingFaceSettings(folder);
  const tokenizer = readHuggingFaceTokenizer(folder);
  const none = Infinity;
  return createHuggingFaceFormat({
    folder,
    tokenizer,
    template: readChatTemplate(folder, choice),
    endIds: listEndIds(folder, tokenizer, []),
    limits: { context: none, sampled: none, prompt: none, turn: none, result: none },
    tools,
  });
}

function listEndIds(
  folder: string,
  { controlTokens }: HuggingFaceTokenizer,
  ids: readonly number[],
): number[] {
  const { eos_token: text } = readSpecialTokens(folder);
  const own = controlTokens.filter(it => it.text === text).map(it => it.id);
  return [...new Set([...ids, ...own])];
}

function computeLimits(
  folder: string,
  longest: number,
  { context: wanted, answers, result }: HuggingFaceSettings,
): ChatLimits {
  const context = Math.min(longest, wanted);
  if (answers >= context)
    throw new UserError(
      `the model in ${folder} reads ${context} tokens, and ${answers} of them are for its answers, so that nothing is left for a conversation`,
      "set fewer tokens for answers with prove-rl model FOLDER --answers N",
    );
  return { context, sampled: answers, prompt: context - answers, turn: context, result };
}

/** The files of a folder, besides the weights, that other programs need to use the model. */
const sideFiles = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "added_tokens.json",
  "vocab.json",
  "merges.txt",
  "tokenizer.model",
  ...templateFiles,
];

/** Writes a model with changed weights to a folder that exists, as transformers loads it. */
export async function writeHuggingFaceFolder(
  folder: string,
  {
    folder: from,
    config,
    settings,
  }: Pick<StoredHuggingFaceModel, "folder" | "config" | "settings">,
  weights: ReadonlyMap<string, NamedArray>,
): Promise<void> {
  for (const name of sideFiles)
    if (existsSync(join(from, name))) cpSync(join(from, name), join(folder, name));
  const text = setPrecision(readTextFile(join(from, "config.json")));
  await writeFileAtomically(join(folder, "config.json"), text);
  const { architecture } = readHuggingFaceConfig(from);
  const read = (name: string) => Promise.resolve(weights.get(name)!.values);
  await writeHuggingFaceWeights(folder, architecture, read);
  writeModelSettings(folder, { config, settings });
}

/**
 * The text of config.json for weights in 32 bits. All else stays as it is written: transformers
 * refuses 0 where it has written 0.0.
 */
function setPrecision(config: string): string {
  const pattern = /("(?:torch_)?dtype"\s*:\s*)(?:"[^"]*"|null)/g;
  return config.search(pattern) < 0
    ? config.replace("{", '{\n  "dtype": "float32",')
    : config.replace(pattern, '$1"float32"');
}

/** Writes the settings of a model, with what its configuration says of its trainings. */
export function writeModelSettings(
  folder: string,
  { config, settings }: Pick<StoredHuggingFaceModel, "config" | "settings">,
): void {
  const { base: _, ...others } = settings;
  const { name, saw, training, base } = config;
  writeHuggingFaceSettings(folder, {
    ...others,
    format: settingsFormat,
    name,
    ...(base === undefined ? {} : { base }),
    saw,
    training,
  });
}

// The file prove.json beside a Hugging Face model: how its chats are rendered, its limits, and,
// once it has been trained here, its trainings and what it saw in them.

const count = z.int().min(1);
const settingsSchema = z.strictObject({
  format: z.literal(settingsFormat),
  /** The name of the model; that of its folder if absent. */
  name: z.string().optional(),
  /** Whether its own chat template or the default one of PROVE is used. */
  template: z.enum(["own", "default"]).default("own"),
  /** Whether tools are shown as JSON Schemas or as signatures. */
  tools: z.enum(["json", "compact"]).default("json"),
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
