/**
 * What a training with TRL or verl runs on: the GPUs and how the memory of a model is shared among
 * them, and the command lines that prepare a folder and start a prepared one.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { withReadErrors } from "../storage/fileErrors.ts";
import { readJsonFile } from "../storage/parseJson.ts";

/** Supervised fine-tuning on the teacher's conversations, and GRPO on own attempts. */
export type Stage = "sft" | "grpo";

/** What decides about memory. */
export interface TrainedModel {
  /** A folder, or a name on the Hugging Face hub. */
  readonly model: string;
  readonly size: ModelSize;
  /** 0 stands for the CPU. */
  readonly gpus: number;
  /** Trains adapters of this rank instead of all weights. */
  readonly loraRank?: number | undefined;
}

export interface EngineTarget extends TrainedModel {
  readonly profile: string;
  readonly stages: readonly Stage[];
  /** The command line that serves the tasks. */
  readonly serve: readonly string[];
}

/** The settings that the paper gives (section 4). Lengths are in tokens. */
export const paper = {
  group: 16,
  prompts: 16,
  steps: 350,
  klCoefficient: 0.01,
  promptLength: 12_384,
  responseLength: 16_384,
  userTurns: 5,
  assistantTurns: 10,
  tensorParallel: 2,
} as const;

/** The paper's learning rates for its models; the first is Qwen3-4B's, and of all others. */
export const defaultLearningRate = 1e-6;
const learningRates: readonly (readonly [RegExp, number])[] = [
  [/qwen3-8b/i, 5e-8],
  [/qwen2\.5-7b|granite-4\.1-8b/i, 3e-7],
];

/** The paper's models by their names on the Hugging Face hub. */
export const paperModels: readonly string[] = [
  "Qwen/Qwen3-4B-Instruct-2507",
  "Qwen/Qwen3-8B",
  "Qwen/Qwen2.5-7B-Instruct",
  "ibm-granite/granite-4.1-8b",
];

export const findLearningRate = (model: string): number =>
  learningRates.find(([name]) => name.test(model))?.[1] ?? defaultLearningRate;

/** For READMEs. */
export const learningRateNote =
  "Its learning rate depends on the model: 1e-6 for Qwen3-4B, 5e-8 for Qwen3-8B, 3e-7 for Qwen2.5-7B and Granite-4.1-8B.";

export interface ModelSize {
  /** Bytes of the weights in 16 bits. */
  readonly weights: number;
  /** Bytes of the keys and values of a token. */
  readonly token: number;
  /** The longest sequence that the model was made for, if that is known. */
  readonly positions?: number | undefined;
}

/** In bfloat16. */
const bytesPerValue = 2;

const count = z.int().min(1).nullish();
const configSchema = z.looseObject({
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count,
  head_dim: count,
  hidden_size: count,
  max_position_embeddings: count,
  dtype: z.string().nullish(),
  torch_dtype: z.string().nullish(),
});

/** An estimate for a name such as `Qwen/Qwen3-8B`; without a number, 8 billion parameters. */
export function estimateModelSize(name: string): ModelSize {
  const [, billions = "8"] = /(\d+(?:\.\d+)?)b(?![a-z])/i.exec(name) ?? [];
  const parameters = Number(billions) * 1e9;
  return {
    weights: bytesPerValue * parameters,
    token: countTokenBytes(parameters > 16e9 ? 80 : 40, 8, 128),
  };
}

/** The memory of the cards that the settings are for, in bytes. */
export const cardMemory = 80e9;

/**
 * Bytes on each of the GPUs for the weights, gradients and the state of Adam, with mixed precision
 * and divided among them. The frozen weights of adapters need no gradients.
 */
export const countTrainingBytes = ({ size, gpus, loraRank }: TrainedModel): number =>
  ((size.weights / bytesPerValue) * (loraRank === undefined ? 16 : bytesPerValue)) / gpus;

/** Keys and values of a token. */
const countTokenBytes = (layers: number, heads: number, width: number): number =>
  2 * bytesPerValue * layers * heads * width;

/** The size of the model in a folder; what its files do not say is estimated. */
export function readModelSize(folder: string): ModelSize {
  const estimate = estimateModelSize(folder);
  const weights = withReadErrors(folder, () => readdirSync(folder))
    .filter(it => it.endsWith(".safetensors"))
    .reduce((sum, it) => sum + statSync(join(folder, it)).size, 0);
  const file = join(folder, "config.json");
  const config = existsSync(file)
    ? readJsonFile(configSchema, file, { noun: "the configuration of a model" })
    : {};
  const { num_hidden_layers: layers, num_attention_heads: heads, hidden_size: width } = config;
  const isWide = (config.dtype ?? config.torch_dtype) === "float32";
  return {
    weights: (isWide ? weights / 2 : weights) || estimate.weights,
    token:
      layers && heads && width
        ? countTokenBytes(
            layers,
            config.num_key_value_heads ?? heads,
            config.head_dim ?? width / heads,
          )
        : estimate.token,
    positions: config.max_position_embeddings ?? undefined,
  };
}

const address = "http://SERVICE:8970";

/** For TRL: in the folder, on each machine. */
export const formatAccelerateCommand = (folder: string): string =>
  `cd ${quote(folder)} && PROVE_URL=${address} accelerate launch --config_file accelerate.yaml train.py`;

/** For verl: on a Ray cluster whose nodes have the folder under the same path. */
export const formatRayCommand = (folder: string): string => {
  const variables = { env_vars: { PROVE_URL: address, PYTHONPATH: folder } };
  return `ray job submit --address http://HEAD:8265 --runtime-env-json ${quote(JSON.stringify(variables))} -- python ${quote(`${folder}/launch.py`)} trainer.nnodes=2`;
};

/** Prepares a training of the same model on the same tasks. */
export const formatPrepareCommand = ({
  tasks,
  model,
  loraRank,
}: {
  readonly tasks: string;
  readonly model: string;
  readonly loraRank?: number | undefined;
}): string => {
  const lora = loraRank === undefined ? "" : ` --lora ${loraRank}`;
  return `prove-rl engine prepare trl --tasks ${quote(tasks)} --model ${quote(model)}${lora} --out trl`;
};

/** A text as a POSIX shell reads it. */
const quote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
