/**
 * Reads and writes a model folder: config.json with sizes, training history and what the model has
 * seen, the weights and the tokenizer. Refuses a model whose tools or chat format have changed
 * since its training.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { formatRelative } from "../storage/relativePath.ts";
import { mergeParameter } from "./transformer/adapters.ts";
import { parseFixtureName } from "../environment/fixture.ts";
import { getSettingsFile } from "../storage/modelName.ts";
import { parseJson } from "../storage/parseJson.ts";
import {
  listGoalEdges,
  createSeenTasks,
  listGoalTools,
  listTurnSequences,
  type SeenTasks,
  type TaskCalls,
} from "../trajectory/seenTasks.ts";
import type { Goal } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import { modelConfig, modelFormat, type ModelConfig } from "./modelConfig.ts";
import { hashModelFiles, readStoredAdapters, type StoredAdapters } from "./storedAdapters.ts";
import type { ChatFormat } from "./chatFormat.ts";
import {
  isHuggingFaceFolder,
  readHuggingFaceFolder,
  writeHuggingFaceFolder,
  writeModelSettings,
  type StoredHuggingFaceModel,
  readHuggingFaceSettings,
} from "./huggingface/folder.ts";
import {
  loadAdaptedModel,
  readAdapterWeights,
  writeAdapters,
  checkWeightFiles,
  listWeightFiles,
  loadHuggingFaceModel,
} from "./huggingface/weights.ts";
import { createCompactFormat } from "./student/compactChat.ts";
import { computeChatDigest, computeToolsDigest } from "./student/chatDigest.ts";
import type { Tool } from "./student/valueText.ts";
import { parseTokenizer, type Tokenizer } from "./student/tokenizer.ts";
import { createModel, getTrainable, type Model } from "./transformer/transformer.ts";
import { readWeights, writeWeights, type NamedArray } from "./weights.ts";
import { listParameters, type Architecture } from "./transformer/architecture.ts";
import { readTextFile } from "../storage/textFiles.ts";
import { writeFileOver } from "../storage/writtenFiles.ts";

/** A model of this program. */
interface StoredStudent {
  readonly kind: "student";
  readonly folder: string;
  readonly config: ModelConfig;
  readonly tokenizer: Tokenizer;
  readonly chat: ChatFormat;
  /** If the folder has adapters: the tokenizer comes from their base model. */
  readonly adapters?: StoredAdapters;
}

export type StoredModel = StoredStudent | StoredHuggingFaceModel;

/**
 * Reads what is known of a model, and its chat format, from the folder of a student, of a Hugging
 * Face model, or of adapters of one of them. Throws a `UserError` if it is none of them, or if its
 * chat format cannot be used.
 */
export function readModelFolder(folder: string): StoredModel {
  const adapters = readStoredAdapters(folder);
  if (!adapters)
    return isHuggingFaceFolder(folder) ? readHuggingFaceFolder(folder) : readStudentFolder(folder);
  const { base } = adapters;
  if (isHuggingFaceFolder(base)) {
    // other programs write adapters without settings
    const settings = readHuggingFaceSettings(existsSync(getSettingsFile(folder)) ? folder : base);
    return { ...readHuggingFaceFolder(base, settings), folder, adapters };
  }
  const student = readStudentFolder(base);
  const { saw, training, base: digest } = readConfig(folder);
  const own = { saw, training, ...(digest === undefined ? {} : { base: digest }) };
  return { ...student, config: { ...student.config, ...own }, folder, adapters };
}

function readStudentFolder(folder: string): StoredStudent {
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
  return { kind: "student", folder, config, tokenizer, chat: createCompactFormat(tokenizer) };
}

function readConfig(folder: string): ModelConfig {
  let text: string;
  try {
    text = readTextFile(join(folder, "config.json"));
  } catch (cause) {
    throw new UserError(
      `${folder} is not a model folder: it has no readable config.json`,
      "choose a checkpoint, a shipped student in resources/models, or the folder of a Hugging Face model",
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

/**
 * Loads the weights of a stored model into tensors. The caller disposes of the model. Throws a
 * `UserError` if the base model of adapters has changed since they were trained.
 */
export async function loadModel(stored: StoredModel): Promise<Model> {
  if (stored.kind === "hugging-face") {
    await checkAdaptedModel(stored);
    return await loadHuggingFaceModel(stored.folder);
  }
  if (!stored.adapters) return await loadStudent(stored);
  await checkAdaptedModel(stored);
  return await loadAdaptedModel(stored.folder, base => loadStudent({ ...stored, folder: base }));
}

/**
 * Throws a `UserError` if the weights of a model, or of adapters and the model that they belong to,
 * are not complete. Those of students and adapters must be numbers, too. Those of other models,
 * which can be large, are only read if `numbers` are checked.
 */
export async function checkStoredWeights(
  stored: StoredModel,
  options: { readonly numbers?: boolean } = {},
): Promise<void> {
  const { adapters, config } = stored;
  const folder = adapters?.base ?? stored.folder;
  if (stored.kind === "hugging-face") checkWeightFiles(folder, options);
  else await readStudentWeights({ ...stored, folder });
  if (adapters?.hasWeights) await readAdapterWeights(stored.folder, config.architecture);
}

/** The digest of the base model of adapters. */
export const computeAdaptedDigest = ({ kind }: StoredModel, { base }: StoredAdapters) =>
  hashModelFiles(base, [
    ...(kind === "student" ? ["weights.safetensors"] : ["config.json", ...listWeightFiles(base)]),
    "tokenizer.json",
  ]);

async function checkAdaptedModel(stored: StoredModel): Promise<void> {
  const { adapters, config, folder } = stored;
  if (!adapters || config.base === undefined) return;
  if ((await computeAdaptedDigest(stored, adapters)) === config.base) return;
  throw new UserError(
    `the model in ${adapters.base} has changed since the adapters in ${folder} were trained on it`,
    "put the model back as it was: its weights, tokenizer and configuration",
  );
}

async function loadStudent(stored: StoredStudent): Promise<Model> {
  const { architecture } = stored.config;
  const arrays = await readStudentWeights(stored);
  return createModel(architecture, name => arrays.get(name)!.values);
}

async function readStudentWeights({ folder, config }: StoredStudent) {
  const file = join(folder, "weights.safetensors");
  const { arrays } = await readWeights(file);
  for (const { name, shape } of listParameters(config.architecture)) {
    const array = arrays.get(name);
    if (array && array.shape.join() === shape.join()) continue;
    throw new UserError(
      `${file} ${array ? `holds ${name} as [${array.shape.join(", ")}], not [${shape.join(", ")}]` : `has no ${name}`}`,
      "copy the whole model folder again",
    );
  }
  return arrays;
}

/** Copies what is trained of a model to plain arrays: its adapters if it has some, or all weights. */
export async function copyWeights(model: Model): Promise<ReadonlyMap<string, NamedArray>> {
  const weights = new Map<string, NamedArray>();
  for (const [name, it] of getTrainable(model))
    weights.set(name, { shape: it.shape, values: await it.data<"float32">() });
  return weights;
}

/**
 * Writes a model with other weights to a folder that exists, in the format that it has. Of adapters
 * the base model stays where it is.
 */
export async function writeStoredModel(
  folder: string,
  stored: StoredModel,
  weights: ReadonlyMap<string, NamedArray>,
): Promise<void> {
  const { adapters } = stored;
  if (adapters) {
    const { architecture } = stored.config;
    // the base of a student is in the folder of its run, which can be moved
    const base = stored.kind === "student" ? formatRelative(folder, adapters.base) : adapters.base;
    await writeAdapters(folder, { architecture, config: adapters.config, base, weights });
    if (stored.kind === "hugging-face") writeModelSettings(folder, stored);
    else writeFileOver(join(folder, "config.json"), formatConfig(stored.config));
  } else if (stored.kind === "student")
    await writeModelFolder(folder, { ...stored, weights }, "F32");
  else await writeHuggingFaceFolder(folder, stored, weights);
}

/** Writes a model with its adapters merged to a folder that exists. */
export async function writeMergedModel(
  folder: string,
  stored: StoredModel,
  model: Model,
): Promise<void> {
  const { adapters, ...rest } = stored;
  if (!adapters || !model.adapters)
    throw new UserError(
      `${stored.folder} has no adapters that were trained`,
      "give a run that trains adapters, or a folder of adapters",
    );
  const weights = new Map<string, NamedArray>();
  for (const [name, it] of model.parameters) {
    const merged = mergeParameter(model.adapters, name, it);
    const values = await (merged ?? it).data<"float32">();
    weights.set(name, { shape: it.shape, values });
    merged?.dispose();
  }
  const { base: _, ...config } = stored.config;
  await writeStoredModel(folder, { ...rest, config, folder: adapters.base }, weights);
}

/** Writes a student to a folder that exists. */
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
  writeFileOver(join(folder, "tokenizer.json"), `${JSON.stringify(model.tokenizer.file)}\n`);
  writeFileOver(join(folder, "config.json"), formatConfig(model.config));
}

/** Indented for a person to read, with lists of strings on one line. */
const formatConfig = (config: ModelConfig): string =>
  `${JSON.stringify(config, undefined, 2).replace(/\[\n\s+("[^[\]]*")\n\s+\]/g, (_, list: string) => `[${list.replace(/\s*\n\s*/g, " ")}]`)}\n`;

/**
 * Throws a `UserError` if the tools of a server are not the ones that the model learned. Servers
 * that the model has not seen are ignored, and so are all if it reads descriptions of tools.
 */
export function checkTools(
  { folder, config, chat }: Pick<StoredModel, "folder" | "config" | "chat">,
  getDigest: (server: string) => string,
  servers: Iterable<string>,
): void {
  if (chat.describesTools) return;
  for (const server of new Set(servers))
    if (
      Object.hasOwn(config.saw.servers, server) &&
      config.saw.servers[server] !== getDigest(server)
    )
      throw new UserError(
        `the model in ${folder} learned the tools of ${server} as they were; they have changed since`,
        "remake it with prove-rl warm-start, or use the version that made it",
      );
}

/** Returns the function that gives `checkTools` and `addSeenTasks` the digest of a server. */
export const createServerDigest =
  (servers: ReadonlyMap<string, { readonly tools: ReadonlyMap<string, Tool> }>) =>
  (server: string): string =>
    computeToolsDigest(servers.get(server)?.tools.values() ?? []);

/** The tools, edges, turns and servers of a task. */
export interface TaskTopic {
  readonly goals: readonly (TaskCalls["goals"][number] & { readonly after: Goal["after"] })[];
  readonly servers: readonly { readonly name: string; readonly fixture: string }[];
}

/** Whether a model was trained on a task that requires exactly this set of tools. */
export function hasSeen({ tools, chains }: ModelConfig["saw"], chain: readonly string[]): boolean {
  return chains.includes(formatChain(chain, new Map(tools.map((it, i) => [it, i]))));
}

/** Whether a model was trained on a task that requires both tools. */
function hasSeenPair({ tools, chains }: ModelConfig["saw"], a: string, b: string): boolean {
  const [i, j] = [tools.indexOf(a), tools.indexOf(b)].map(String);
  return chains.map(it => it.split("+")).some(it => it.includes(i!) && it.includes(j!));
}

/**
 * The first of these edges or pairs of tools that a model was trained on. A model of an earlier
 * version did not record edges: it may have seen one if it has seen both tools together.
 */
export const findSeenEdge = (
  saw: ModelConfig["saw"],
  edges: readonly string[],
): string | undefined =>
  edges.find(it => {
    const isPair = it.includes(" + ");
    const [a, b] = it.split(isPair ? " + " : " > ");
    return isPair || !saw.edges ? hasSeenPair(saw, a!, b!) : saw.edges.includes(it);
  });

/** The numbers of the generated worlds of a task. */
export const listWorlds = ({ servers }: Pick<TaskTopic, "servers">): number[] => [
  ...new Set(servers.flatMap(it => parseFixtureName(it.fixture).world ?? [])),
];

/** The tasks that a model was trained on; undefined if it does not record their sequences. */
export function getSeenTasks({
  tools,
  chains,
  sequences,
}: ModelConfig["saw"]): SeenTasks | undefined {
  if (!sequences) return undefined;
  const split = (list: readonly string[], separator: string) =>
    list.map(it => it.split(separator).map(index => tools[Number(index)]!));
  return createSeenTasks(split(chains, "+"), split(sequences, ">"));
}

/** What a model has seen after training on these tasks, too. */
export function addSeenTasks(
  saw: ModelConfig["saw"],
  tasks: readonly TaskTopic[],
  getDigest: (server: string) => string,
): ModelConfig["saw"] {
  const servers = [...new Set(tasks.flatMap(it => it.servers.map(server => server.name)))].sort();
  const tools = [...new Set([...saw.tools, ...tasks.flatMap(listGoalTools)])];
  const indexes = new Map(tools.map((it, i) => [it, i]));
  const chains = new Set([
    ...saw.chains,
    ...tasks.map(it => formatChain(listGoalTools(it), indexes)),
  ]);
  chains.delete("");
  const sequences = tasks.flatMap(it =>
    listTurnSequences(it).map(names => names.map(name => indexes.get(name)!).join(">")),
  );
  // what a model saw before sequences were recorded is not known
  const isKnown = saw.sequences !== undefined || saw.chains.length === 0;
  return {
    servers: { ...saw.servers, ...Object.fromEntries(servers.map(it => [it, getDigest(it)])) },
    tools,
    chains: [...chains],
    ...addSeenEdges(saw, tasks),
    worlds: [...new Set([...(saw.worlds ?? []), ...tasks.flatMap(listWorlds)])],
    ...(isKnown ? { sequences: [...new Set([...(saw.sequences ?? []), ...sequences])] } : {}),
  };
}

/** Edges are unknown for a model that goes on from one of an earlier version. */
function addSeenEdges(
  { chains, edges }: ModelConfig["saw"],
  tasks: readonly TaskTopic[],
): Pick<ModelConfig["saw"], "edges"> {
  if (!edges && chains.length > 0) return {};
  return {
    edges: [...new Set([...(edges ?? []), ...tasks.flatMap(it => listGoalEdges(it.goals))])],
  };
}

const formatChain = (chain: readonly string[], indexes: ReadonlyMap<string, number>): string =>
  chain
    .map(it => indexes.get(it) ?? -1)
    .sort((a, b) => a - b)
    .join("+");

/** The configuration of a new model that has not been trained. */
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
