/**
 * A student as a folder: config.json says its sizes, what it learned on and what it has seen;
 * beside it its weights and its tokenizer. Refuses a student whose tools or way of reading are no
 * longer the ones it learned. Knows no training.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../storage/parseJson.ts";
import { UserError } from "../userError.ts";
import { computeChatDigest, computeToolsDigest } from "./chatDigest.ts";
import type { Tool } from "./valueText.ts";
import { parseTokenizer, type Tokenizer } from "./tokenizer.ts";
import { createModel, type Model } from "./transformer.ts";
import { readWeights, writeWeights, type NamedArray } from "./weights.ts";
import { listParameters, type Architecture } from "./architecture.ts";
import { readTextFile } from "../storage/readTextFile.ts";

export const modelFormat = "prove/model@1";

const count = z.int().min(1);
const modelConfig = z.strictObject({
  format: z.literal(modelFormat),
  name: z.string(),
  architecture: z.strictObject({
    vocabulary: count,
    width: count,
    layers: count,
    heads: count,
    kvHeads: count,
    headWidth: count,
    hidden: count,
    context: count,
    ropeBase: z.number().positive(),
  }),
  /** The hash of the chat format and the tokenizer. */
  chat: z.string(),
  /** What it was trained on, and so may not be called held out. */
  saw: z.strictObject({
    /** Servers, each with the hash of its tools as a student sees them. */
    servers: z.record(z.string(), z.string()),
    /**
     * The tools its tasks asked for, and the sets in which they did: places in that list, rising,
     * joined by `+`.
     */
    tools: z.array(z.string()),
    chains: z.array(z.string()),
  }),
  /** How it came about, for a person. */
  training: z.array(
    z.strictObject({
      method: z.enum(["sft", "grpo"]),
      steps: z.int(),
      seconds: z.number(),
      seed: z.int(),
      tasks: z.int(),
      profile: z.string().optional(),
      from: z.string().optional(),
    }),
  ),
});

export type ModelConfig = z.infer<typeof modelConfig>;

export interface StoredModel {
  readonly folder: string;
  readonly config: ModelConfig;
  readonly tokenizer: Tokenizer;
}

/**
 * Reads what a model folder says of itself. Throws a `UserError` where it is none, or where its
 * chat format is not this program's.
 */
export function readModelFolder(folder: string): StoredModel {
  const config = readConfig(folder);
  let tokenizer: Tokenizer;
  try {
    tokenizer = parseTokenizer(readTextFile(join(folder, "tokenizer.json")));
  } catch (cause) {
    throw new UserError(
      `${folder} has no readable tokenizer.json`,
      "copy the whole model folder again",
      { cause },
    );
  }
  if (computeChatDigest(tokenizer) !== config.chat)
    throw new UserError(
      `the model in ${folder} learned to read conversations in another way than this version of PROVE writes them`,
      "remake it with prove-rl warm-start, or use the version that made it",
    );
  return { folder, config, tokenizer };
}

function readConfig(folder: string): ModelConfig {
  let text: string;
  try {
    text = readTextFile(join(folder, "config.json"));
  } catch (cause) {
    throw new UserError(
      `${folder} is not a model folder: it has no readable config.json`,
      "choose a checkpoint, or the warm start in resources/models",
      { cause },
    );
  }
  return parseJson(modelConfig, text, {
    file: join(folder, "config.json"),
    noun: "a model's configuration",
    format: modelFormat,
    remedy: "copy the model folder again",
  });
}

/** Brings a stored model's weights into tensors. The caller disposes of it. */
export async function loadModel({ folder, config }: StoredModel): Promise<Model> {
  const file = join(folder, "weights.safetensors");
  const { arrays } = await readWeights(file);
  for (const { name, shape } of listParameters(config.architecture)) {
    const found = arrays.get(name);
    if (found && found.shape.join() === shape.join()) continue;
    throw new UserError(
      `${file} ${found ? `holds ${name} as [${found.shape.join(", ")}], not [${shape.join(", ")}]` : `has no ${name}`}`,
      "copy the whole model folder again",
    );
  }
  return createModel(config.architecture, name => arrays.get(name)!.values);
}

/** A model's weights as plain arrays. */
export const copyWeights = (model: Model): ReadonlyMap<string, NamedArray> =>
  new Map(
    [...model.parameters].map(([name, it]) => [
      name,
      { shape: it.shape, values: (it.dataSync() as Float32Array).slice() },
    ]),
  );

/** Writes a model folder into one that exists. */
export async function writeModelFolder(
  folder: string,
  model: {
    readonly config: ModelConfig;
    readonly tokenizer: Tokenizer;
    readonly weights: ReadonlyMap<string, NamedArray>;
  },
  precision: "F32" | "F16",
): Promise<void> {
  const metadata = { format: modelFormat, name: model.config.name };
  await writeWeights(
    join(folder, "weights.safetensors"),
    { arrays: model.weights, metadata },
    precision,
  );
  await writeFile(join(folder, "tokenizer.json"), `${JSON.stringify(model.tokenizer.file)}\n`);
  await writeFile(join(folder, "config.json"), formatConfig(model.config));
}

/** For a person to read: long lists of words lie on one line. */
const formatConfig = (config: ModelConfig): string =>
  `${JSON.stringify(config, undefined, 2).replace(/\[\n\s+("[^[\]]*")\n\s+\]/g, (_, list: string) => `[${list.replace(/\s*\n\s*/g, " ")}]`)}\n`;

/**
 * Throws a `UserError` where one of the servers' tools are not the ones the model learned. Servers
 * it never saw are no matter.
 */
export function checkTools(
  { folder, config }: StoredModel,
  digestOf: (server: string) => string,
  servers: Iterable<string>,
): void {
  for (const server of new Set(servers))
    if (
      Object.hasOwn(config.saw.servers, server) &&
      config.saw.servers[server] !== digestOf(server)
    )
      throw new UserError(
        `the model in ${folder} learned the tools of ${server} as they were; they have changed since`,
        "remake it with prove-rl warm-start, or use the version that made it",
      );
}

/** How `checkTools` and `seenWith` know a server's tools. */
export const createServerDigest =
  (servers: ReadonlyMap<string, { readonly tools: ReadonlyMap<string, Tool> }>) =>
  (server: string): string =>
    computeToolsDigest(servers.get(server)?.tools.values() ?? []);

/** What of a task says what it is about. */
export interface TaskTopic {
  readonly goals: readonly { readonly calls: readonly { readonly name: string }[] }[];
  readonly servers: readonly { readonly name: string }[];
}

/** The set of tools that a task's goals call, sorted. */
export const listGoalTools = ({ goals }: TaskTopic): readonly string[] =>
  [...new Set(goals.flatMap(it => it.calls.map(call => call.name)))].sort();

/** Whether a model was trained on tasks that ask for just this set of tools. */
export function hasSeen({ tools, chains }: ModelConfig["saw"], chain: readonly string[]): boolean {
  return chains.includes(chainKey(chain, new Map(tools.map((it, i) => [it, i]))));
}

/** What a model has seen after training on more tasks. */
export function addSeenTasks(
  saw: ModelConfig["saw"],
  tasks: readonly TaskTopic[],
  digestOf: (server: string) => string,
): ModelConfig["saw"] {
  const servers = [...new Set(tasks.flatMap(it => it.servers.map(server => server.name)))].sort();
  const tools = [...new Set([...saw.tools, ...tasks.flatMap(listGoalTools)])];
  const places = new Map(tools.map((it, i) => [it, i]));
  const chains = new Set([...saw.chains, ...tasks.map(it => chainKey(listGoalTools(it), places))]);
  chains.delete("");
  return {
    servers: { ...saw.servers, ...Object.fromEntries(servers.map(it => [it, digestOf(it)])) },
    tools,
    chains: [...chains],
  };
}

const chainKey = (chain: readonly string[], places: ReadonlyMap<string, number>): string =>
  chain
    .map(it => places.get(it) ?? -1)
    .sort((a, b) => a - b)
    .join("+");

/** A random start for an architecture. */
export const createConfig = (
  name: string,
  architecture: Architecture,
  tokenizer: Tokenizer,
): ModelConfig => ({
  format: modelFormat,
  name,
  architecture: { ...architecture },
  chat: computeChatDigest(tokenizer),
  saw: { servers: {}, tools: [], chains: [] },
  training: [],
});
