/**
 * Reads config.json and generation_config.json of a Hugging Face model folder: the sizes and
 * variants of the architecture. Refuses models that would be computed incorrectly.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "../../storage/parseJson.ts";
import { maxLayers } from "../modelConfig.ts";
import { UserError } from "../../userError.ts";
import {
  checkArchitecture,
  type Architecture,
  type RopeScaling,
} from "../transformer/architecture.ts";

/** The families of models that can be read, as `model_type` in config.json. */
const modelTypes = ["llama", "qwen2", "qwen3", "granite", "granitemoehybrid"] as const;
type ModelType = (typeof modelTypes)[number];

interface HuggingFaceConfig {
  readonly modelType: ModelType;
  readonly architecture: Architecture;
  readonly bosTokenId: number | undefined;
  /** The tokens that end a generated text; those of generation_config.json if it has some. */
  readonly eosTokenIds: readonly number[];
  readonly padTokenId: number | undefined;
}

const count = z.int().min(1);
const tokenIds = z.union([z.int(), z.array(z.int())]).nullish();
const tokens = z.looseObject({
  bos_token_id: tokenIds,
  eos_token_id: tokenIds,
  pad_token_id: tokenIds,
});
const rope = z.looseObject({
  rope_type: z.string().optional(),
  type: z.string().optional(),
  rope_theta: z.number().positive().optional(),
  factor: z.number().positive().optional(),
  low_freq_factor: z.number().positive().optional(),
  high_freq_factor: z.number().positive().optional(),
  original_max_position_embeddings: z.number().positive().optional(),
  partial_rotary_factor: z.number().optional(),
});
const multiplier = z.number().positive().default(1);
const schema = tokens.extend({
  vocab_size: count,
  hidden_size: count,
  intermediate_size: count,
  num_hidden_layers: count.max(maxLayers),
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  head_dim: count.nullish(),
  hidden_act: z.string().default("silu"),
  max_position_embeddings: count,
  rms_norm_eps: z.number().positive().default(1e-6),
  rope_theta: z.number().positive().optional(),
  rope_scaling: rope.nullish(),
  /** Since transformers 5, in place of the two above. */
  rope_parameters: rope.nullish(),
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: z.boolean().default(false),
  mlp_bias: z.boolean().default(false),
  use_sliding_window: z.boolean().default(false),
  layer_types: z.array(z.string()).nullish(),
  // Granite
  embedding_multiplier: multiplier,
  attention_multiplier: multiplier,
  residual_multiplier: multiplier,
  logits_scaling: multiplier,
  num_local_experts: z.int().nullish(),
  shared_intermediate_size: count.optional(),
  position_embedding_type: z.string().nullish(),
});
type RawConfig = z.infer<typeof schema>;

/**
 * Reads the configuration of a model folder. Throws a `UserError` if there is none, or if the model
 * has a part that is not computed here.
 */
export function readHuggingFaceConfig(folder: string): HuggingFaceConfig {
  const file = join(folder, "config.json");
  const source = {
    noun: "the configuration of a Hugging Face model",
    remedy: "download the whole model folder again",
  };
  const { model_type: found } = readJsonFile(
    z.looseObject({ model_type: z.string() }),
    file,
    source,
  );
  const modelType = modelTypes.find(it => it === found);
  if (!modelType)
    throw new UserError(
      `${file}: models of the type ${found} are not supported`,
      `choose a model of one of the types ${modelTypes.join(", ")}, or train it with another training framework`,
    );
  const raw = readJsonFile(schema, file, source);
  const unsupported = findUnsupportedPart(raw, modelType);
  if (unsupported !== undefined)
    throw new UserError(
      `${file}: ${unsupported} is not supported`,
      "choose a model without it, or train this one with another training framework",
    );
  const architecture = createArchitecture(raw, modelType, file);
  try {
    checkArchitecture(architecture);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(
      `${file}: ${error.what}`,
      "choose a model with other sizes, or train this one with another training framework",
    );
  }
  const generation = join(folder, "generation_config.json");
  const generated = existsSync(generation) ? readJsonFile(tokens, generation) : {};
  return {
    modelType,
    architecture,
    bosTokenId: listIds(raw.bos_token_id)[0],
    eosTokenIds: listIds(generated.eos_token_id ?? raw.eos_token_id),
    padTokenId: listIds(raw.pad_token_id ?? generated.pad_token_id)[0],
  };
}

const listIds = (ids: z.infer<typeof tokenIds>): readonly number[] =>
  ids === undefined || ids === null ? [] : [ids].flat();

/** A part of the model that is not computed here, in words. */
function findUnsupportedPart(raw: RawConfig, modelType: ModelType): string | undefined {
  const layer = raw.layer_types?.find(it => it !== "full_attention" && it !== "attention");
  if (layer !== undefined) return `a layer of the type ${layer}`;
  if (raw.hidden_act !== "silu") return `the activation ${raw.hidden_act}`;
  if (raw.attention_bias || raw.mlp_bias) return "a bias of every linear layer";
  if (raw.use_sliding_window) return "attention with a sliding window";
  if (modelType !== "granitemoehybrid") return undefined;
  if ((raw.num_local_experts ?? 8) > 0) return "a mixture of experts";
  if (!raw.layer_types) return "a layer of the type mamba";
  return raw.position_embedding_type === "rope"
    ? undefined
    : `the position embedding ${raw.position_embedding_type ?? "none"}`;
}

function createArchitecture(raw: RawConfig, modelType: ModelType, file: string): Architecture {
  const isHybrid = modelType === "granitemoehybrid";
  const scaling = readRope(raw, file);
  return {
    vocabulary: raw.vocab_size,
    width: raw.hidden_size,
    layers: raw.num_hidden_layers,
    heads: raw.num_attention_heads,
    kvHeads: raw.num_key_value_heads ?? raw.num_attention_heads,
    headWidth:
      raw.head_dim ?? (modelType === "qwen3" ? 128 : raw.hidden_size / raw.num_attention_heads),
    hidden: isHybrid ? (raw.shared_intermediate_size ?? 1024) : raw.intermediate_size,
    context: raw.max_position_embeddings,
    ropeBase: raw.rope_parameters?.rope_theta ?? raw.rope_theta ?? 10_000,
    normEpsilon: raw.rms_norm_eps,
    ...(scaling ? { ropeScaling: scaling } : {}),
    hasHeadNorms: modelType === "qwen3",
    hasBias: modelType === "qwen2",
    hasOutput: !raw.tie_word_embeddings,
    hasJoinedGateUp: isHybrid,
    ...(modelType === "granite" || isHybrid
      ? {
          multipliers: {
            embedding: raw.embedding_multiplier,
            attention: raw.attention_multiplier,
            residual: raw.residual_multiplier,
            logits: raw.logits_scaling,
          },
        }
      : {}),
  };
}

function readRope(raw: RawConfig, file: string): RopeScaling | undefined {
  const parameters = raw.rope_parameters ?? raw.rope_scaling;
  if (!parameters) return undefined;
  const type = parameters.rope_type ?? parameters.type;
  const createError = (what: string) =>
    new UserError(
      `${file}: ${what}`,
      "choose a model with the rope scaling default, linear or llama3, or train it with another training framework",
    );
  if ((parameters.partial_rotary_factor ?? 1) !== 1)
    throw createError("rotary positions of a part of each head are not supported");
  const need = (key: "factor" | "low_freq_factor" | "high_freq_factor") => {
    const value = parameters[key];
    if (value === undefined) throw createError(`the rope scaling ${type} has no ${key}`);
    return value;
  };
  switch (type) {
    case "default":
      return undefined;
    case "linear":
      return { kind: "linear", factor: need("factor") };
    case "llama3":
      return {
        kind: "llama3",
        factor: need("factor"),
        lowFrequency: need("low_freq_factor"),
        highFrequency: need("high_freq_factor"),
        originalContext: parameters.original_max_position_embeddings ?? raw.max_position_embeddings,
      };
    default:
      throw createError(`the rope scaling ${type ?? "without a type"} is not supported`);
  }
}
