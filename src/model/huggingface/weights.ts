/**
 * Loads the weights of a Hugging Face model folder into tensors, one tensor at a time, and writes
 * them as one safetensors file that transformers loads; likewise the adapters of such a model, in
 * the format of PEFT.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { runningBackend, type BackendLimits } from "../../compute/runningBackend.ts";
import {
  isAdapterFolder,
  adapterWeightsFile,
  findAdaptedFolder,
  readAdapterConfig,
  writeAdapterConfig,
  type AdapterConfig,
} from "../../storage/adapterConfig.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";
import { listParameters, type Architecture, listProjections } from "../transformer/architecture.ts";
import { createModel, type Model, addAdapters } from "../transformer/transformer.ts";
import {
  openWeights,
  writeWeights,
  type LazyArray,
  readWeights,
  type NamedArray,
} from "../weights.ts";
import { readHuggingFaceConfig } from "./config.ts";
import { createAdapters, listAdapterParameters, type Adapters } from "../transformer/adapters.ts";

const singleFile = "model.safetensors";
const indexFile = "model.safetensors.index.json";

/**
 * Loads the model in a folder; if the folder has adapters, with them and with the weights of their
 * base model. Throws a `UserError` if the model is too large for the backend, a file is missing or
 * incomplete, or the tensors are not those of the architecture.
 */
export const loadHuggingFaceModel = (folder: string): Promise<Model> =>
  isAdapterFolder(folder) ? loadAdaptedModel(folder, loadWholeModel) : loadWholeModel(folder);

async function loadWholeModel(folder: string): Promise<Model> {
  const { architecture } = readHuggingFaceConfig(folder);
  checkSize(architecture, folder);
  const stored = openModelFiles(folder);
  try {
    const parameters = listStoredParameters(architecture);
    checkTensors(stored, parameters, { folder, hasOutput: architecture.hasOutput ?? false });
    const byName = new Map(parameters.map(it => [it.name, it]));
    return createModel(architecture, name => readParameter(stored, byName.get(name)!));
  } finally {
    stored.close();
  }
}

/**
 * Throws a `UserError` if a file of weights is missing or incomplete, or the tensors are not those
 * of the architecture. Reads only what the files say of them, unless `numbers` are checked, too.
 */
export function checkWeightFiles(
  folder: string,
  { numbers = false }: { readonly numbers?: boolean } = {},
): void {
  const { architecture } = readHuggingFaceConfig(folder);
  const stored = openModelFiles(folder);
  try {
    const hasOutput = architecture.hasOutput ?? false;
    checkTensors(stored, listStoredParameters(architecture), { folder, hasOutput });
    if (numbers) stored.checkNumbers();
  } finally {
    stored.close();
  }
}

/** Refuses a model whose weights do not fit the backend, before anything of it is read. */
export function checkSize(
  architecture: Architecture,
  folder: string,
  limits: BackendLimits = runningBackend(),
): void {
  const { name: backend, maxBytes = Infinity } = limits;
  const bytes = listSizes(architecture).reduce((sum, it) => sum + it.bytes, 0);
  if (bytes < maxBytes) return checkTensorSizes(architecture, folder, limits);
  throw new UserError(
    `the weights of ${folder} take ${formatGib(bytes)} GiB in 32 bits; the backend ${backend} has ${formatGib(maxBytes)} GiB for everything`,
    "use the backend tensorflow, a smaller model, or another training framework",
  );
}

/** Refuses a model with a tensor that is larger than those of the backend can be. */
export function checkTensorSizes(
  architecture: Architecture,
  folder: string,
  { name: backend, maxTensorBytes = Infinity }: BackendLimits = runningBackend(),
): void {
  const sizes = listSizes(architecture);
  const tooLarge = sizes.find(it => it.bytes > maxTensorBytes);
  if (tooLarge)
    throw new UserError(
      `${tooLarge.name} of ${folder} takes ${formatGib(tooLarge.bytes)} GiB in 32 bits; a tensor of the backend ${backend} has at most ${formatGib(maxTensorBytes)} GiB here`,
      `use the backend ${backend === "wasm" ? "" : "wasm or "}tensorflow, a smaller model, or another training framework`,
    );
}

const formatGib = (bytes: number): string => (bytes / 2 ** 30).toFixed(2);

/** The parameters with their sizes in 32 bits. */
const listSizes = (architecture: Architecture) =>
  listParameters(architecture).map(({ name, shape }) => ({
    name,
    bytes: 4 * shape.reduce((product, n) => product * n, 1),
  }));

/** The tensors of all files of a model. */
interface ModelFiles {
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  read(tensor: string): Float32Array;
  readPieces(tensor: string): Iterable<Float32Array>;
  checkNumbers(): void;
  close(): void;
}

function openModelFiles(folder: string): ModelFiles {
  const files = listWeightFiles(folder).map(it => ({ name: it, path: join(folder, it) }));
  const missing = files.find(it => !existsSync(it.path));
  if (missing)
    throw new UserError(
      `${folder} has no ${missing.name}, which is one of its ${files.length} files of weights`,
      "download the whole model folder again",
    );
  const opened: ReturnType<typeof openWeights>[] = [];
  const close = () => opened.forEach(it => it.close());
  try {
    for (const it of files) opened.push(openWeights(it.path));
  } catch (error) {
    close();
    throw error;
  }
  const fileOf = new Map(opened.flatMap(file => [...file.arrays.keys()].map(it => [it, file])));
  return {
    shapes: new Map([...fileOf].map(([name, file]) => [name, file.arrays.get(name)!.shape])),
    read: tensor => fileOf.get(tensor)!.read(tensor),
    readPieces: tensor => fileOf.get(tensor)!.readPieces(tensor),
    checkNumbers: () => opened.forEach(it => it.checkNumbers()),
    close,
  };
}

/** The names of the files of weights: one, or the shards that an index names. */
export function listWeightFiles(folder: string): readonly string[] {
  const index = join(folder, indexFile);
  if (existsSync(join(folder, singleFile))) return [singleFile];
  if (existsSync(index)) {
    const { weight_map } = readJsonFile(
      z.looseObject({ weight_map: z.record(z.string(), z.string()) }),
      index,
      { noun: "the index of a model's files", remedy: "download the model folder again" },
    );
    const names = [...new Set(Object.values(weight_map))];
    const outside = names.find(it => /[\\/]/.test(it));
    if (outside === undefined) return names;
    throw new UserError(
      `${index} names ${outside}, which is not a file of its folder`,
      "download the model folder again",
    );
  }
  throw new UserError(
    `${folder} has neither ${singleFile} nor ${indexFile}`,
    "download the model in the safetensors format",
  );
}

/** Refuses missing tensors, other shapes, and tensors that the architecture does not use. */
function checkTensors(
  files: ModelFiles,
  parameters: readonly StoredParameter[],
  { folder, hasOutput }: { folder: string; hasOutput: boolean },
): void {
  const { shapes } = files;
  const expected = parameters.flatMap(it => it.tensors);
  const remedy = "download the whole model folder again, with its config.json";
  for (const { name, shape } of expected) {
    const found = shapes.get(name);
    if (!found) throw new UserError(`the weights in ${folder} have no ${name}`, remedy);
    if (found.join() !== shape.join())
      throw new UserError(
        `the weights in ${folder} have ${name} as [${found.join(", ")}]; config.json says [${shape.join(", ")}]`,
        remedy,
      );
  }
  const known = new Set(expected.map(it => it.name));
  // a tied output layer may be stored, too, and earlier versions stored the angles of positions
  const isUnused = (name: string) =>
    (name === outputTensor && !hasOutput) || name.endsWith(".rotary_emb.inv_freq");
  const other = [...shapes.keys()].find(it => !known.has(it) && !isUnused(it));
  if (other !== undefined)
    throw new UserError(
      `the weights in ${folder} have ${other}, which this architecture does not use`,
      "choose another model: this one would be computed incorrectly",
    );
  if (shapes.has(outputTensor) && !hasOutput && !isEqual(files, outputTensor, embeddingTensor))
    throw new UserError(
      `the weights in ${folder} have an ${outputTensor} that differs from ${embeddingTensor}, and config.json says that they are the same`,
      "set tie_word_embeddings to false in config.json if the output layer has its own weights, or download the whole model folder again",
    );
}

function isEqual(files: ModelFiles, a: string, b: string): boolean {
  if (files.shapes.get(a)!.join() !== files.shapes.get(b)!.join()) return false;
  const others = files.readPieces(b)[Symbol.iterator]();
  for (const piece of files.readPieces(a)) {
    const other = others.next().value as Float32Array;
    if (piece.some((it, i) => it !== other[i])) return false;
  }
  return true;
}

function readParameter(files: ModelFiles, { tensors }: StoredParameter): Float32Array {
  if (tensors.length === 1) return files.read(tensors[0]!.name);
  const parts = tensors.map(it => files.read(it.name));
  const values = new Float32Array(parts.reduce((sum, it) => sum + it.length, 0));
  let at = 0;
  for (const part of parts) {
    values.set(part, at);
    at += part.length;
  }
  return values;
}

/** The tensors of parameters as Hugging Face stores them, read when they are written. */
function listStoredTensors(
  architecture: Architecture,
  read: (parameter: string) => Promise<Float32Array>,
): ReadonlyMap<string, LazyArray> {
  const tensors = new Map<string, LazyArray>();
  for (const { name, tensors: parts } of listStoredParameters(architecture)) {
    let start = 0;
    for (const { name: tensor, shape } of parts) {
      const size = shape.reduce((product, n) => product * n, 1);
      const begin = start;
      start += size;
      tensors.set(tensor, {
        shape,
        read: async () => (await read(name)).subarray(begin, begin + size),
      });
    }
  }
  return tensors;
}

/** Writes the weights of a model to a folder, as transformers expects them. */
export const writeHuggingFaceWeights = (
  folder: string,
  architecture: Architecture,
  read: (parameter: string) => Promise<Float32Array>,
): Promise<void> =>
  writeWeights(
    join(folder, singleFile),
    { arrays: listStoredTensors(architecture, read), metadata: { format: "pt" } },
    "F32",
  );

// Which tensors of a Hugging Face model make up each parameter.

/** A parameter: the rows of these tensors, one after the other. */
interface StoredParameter {
  /** As in `listParameters`. */
  readonly name: string;
  readonly tensors: readonly { readonly name: string; readonly shape: readonly number[] }[];
}

const embeddingTensor = "model.embed_tokens.weight";
/** The output layer, which many models share with the embedding. */
const outputTensor = "lm_head.weight";

/** The parameters of an architecture and the tensors that they are stored in. */
function listStoredParameters(architecture: Architecture): readonly StoredParameter[] {
  const { vocabulary, width, headWidth, layers, hasBias, hasHeadNorms, hasOutput } = architecture;
  const single = (name: string, tensor: string, ...shape: number[]): StoredParameter => ({
    name,
    tensors: [{ name: `${tensor}.weight`, shape }],
  });
  const joined = (layer: number, matrix: string, kind: "weight" | "bias") =>
    listProjections(architecture)
      .filter(it => it.matrix === matrix)
      .map(({ name, outputs, inputs }) => ({
        name: `${getModulePath(layer, name)}.${kind}`,
        shape: kind === "weight" ? [outputs, inputs] : [outputs],
      }));
  const matrices = ["attention.qkv", "attention.out", "feed.gateUp", "feed.down"];
  const blocks = Array.from({ length: layers }, (_, layer) => {
    const [at, from] = [`layers.${layer}`, `model.layers.${layer}`];
    return [
      single(`${at}.attention.norm`, `${from}.input_layernorm`, width),
      single(`${at}.feed.norm`, `${from}.post_attention_layernorm`, width),
      ...(hasHeadNorms
        ? [
            single(`${at}.attention.queryNorm`, `${from}.self_attn.q_norm`, headWidth),
            single(`${at}.attention.keyNorm`, `${from}.self_attn.k_norm`, headWidth),
          ]
        : []),
      ...(hasBias
        ? [{ name: `${at}.attention.bias`, tensors: joined(layer, "attention.qkv", "bias") }]
        : []),
      ...matrices.map(matrix => ({
        name: `${at}.${matrix}`,
        tensors: joined(layer, matrix, "weight"),
      })),
    ];
  });
  return [
    single("embedding", "model.embed_tokens", vocabulary, width),
    ...blocks.flat(),
    single("norm", "model.norm", width),
    ...(hasOutput ? [single("output", "lm_head", vocabulary, width)] : []),
  ];
}

/** The name of a linear layer of a block, such as `model.layers.0.self_attn.q_proj`. */
function getModulePath(layer: number, projection: string): string {
  const isAttention = ["q_proj", "k_proj", "v_proj", "o_proj"].includes(projection);
  const isShared = ["input_linear", "output_linear"].includes(projection);
  const part = isAttention ? "self_attn" : isShared ? "shared_mlp" : "mlp";
  return `model.layers.${layer}.${part}.${projection}`;
}

// Loads and writes adapters in the format of PEFT: adapter_config.json and
// adapter_model.safetensors. The weights that they adapt stay in the folder of the base model.

/**
 * Loads the base model of the adapters in a folder, and adds them. Adapters without weights, as at
 * the start of a run, change nothing and are not added.
 */
export async function loadAdaptedModel(
  folder: string,
  loadBase: (base: string) => Promise<Model>,
): Promise<Model> {
  const model = await loadBase(findAdaptedFolder(folder));
  if (!existsSync(join(folder, adapterWeightsFile))) return model;
  try {
    return addAdapters(model, await loadAdapters(folder, model.architecture));
  } catch (error) {
    model.dispose();
    throw error;
  }
}

/** Loads the adapters in a folder for a model of this architecture. */
export async function loadAdapters(folder: string, architecture: Architecture): Promise<Adapters> {
  const { config } = readAdapterConfig(folder);
  const arrays = await readAdapterWeights(folder, architecture);
  return createAdapters(architecture, config, name => arrays.get(getTensorName(name))!.values);
}

/**
 * The weights of the adapters in a folder, as they are stored. Throws a `UserError` if they are not
 * complete, or are those of another architecture.
 */
export async function readAdapterWeights(
  folder: string,
  architecture: Architecture,
): Promise<ReadonlyMap<string, NamedArray>> {
  const { config } = readAdapterConfig(folder);
  const file = join(folder, adapterWeightsFile);
  const { arrays } = await readWeights(file);
  const expected = listAdapterParameters(architecture, config);
  const remedy = "choose the adapters of this model, or copy their folder again";
  for (const { name, shape } of expected) {
    const found = arrays.get(getTensorName(name));
    if (found?.shape.join() === shape.join()) continue;
    throw new UserError(
      `${file} ${found ? `has ${getTensorName(name)} as [${found.shape.join(", ")}]; this model needs [${shape.join(", ")}]` : `has no ${getTensorName(name)}`}`,
      remedy,
    );
  }
  const names = new Set(expected.map(it => getTensorName(it.name)));
  const other = [...arrays.keys()].find(it => !names.has(it));
  if (other !== undefined)
    throw new UserError(`${file} has ${other}, which this model does not use`, remedy);
  return arrays;
}

/** Writes adapters to a folder that exists. `base` is the folder of the model that they adapt. */
export async function writeAdapters(
  folder: string,
  {
    architecture,
    config,
    base,
    weights,
  }: {
    readonly architecture: Architecture;
    readonly config: AdapterConfig;
    readonly base: string;
    /** By the names of `listAdapterParameters`. */
    readonly weights: ReadonlyMap<string, NamedArray | LazyArray>;
  },
): Promise<void> {
  const arrays = new Map([...weights].map(([name, it]) => [getTensorName(name), it]));
  await writeWeights(
    join(folder, adapterWeightsFile),
    { arrays, metadata: { format: "pt" } },
    "F32",
  );
  // by name, because other programs may take other layers for all of them
  const targets = config.targets ?? listProjections(architecture).map(it => it.name);
  writeAdapterConfig(folder, { ...config, targets }, base);
}

/** The name that PEFT gives a matrix: `layers.0.q_proj.lora_A` is one of self_attn. */
function getTensorName(name: string): string {
  const [, layer, projection, matrix] = /^layers\.(\d+)\.(\w+)\.(lora_[AB])$/.exec(name)!;
  return `base_model.model.${getModulePath(Number(layer), projection!)}.${matrix}.weight`;
}
