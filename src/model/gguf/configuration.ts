/** What a GGUF file says of a model, as config.json and generation_config.json say it. */
import { z } from "zod";
import { UserError } from "../../userError.ts";
import type { GgufFile } from "./file.ts";
import { ropeFactorsTensor } from "./tensorNames.ts";
import { findReason } from "../../storage/schemaIssue.ts";

/** The architectures that are converted, with the classes of transformers. */
const architectures = {
  llama: "LlamaForCausalLM",
  qwen2: "Qwen2ForCausalLM",
  qwen3: "Qwen3ForCausalLM",
  granite: "GraniteForCausalLM",
} as const;
type GgufArchitecture = keyof typeof architectures;

/** In llama.cpp, pairs of numbers that are turned together are neighbors in these. */
const interleaved: readonly GgufArchitecture[] = ["llama", "granite"];

export interface GgufConfiguration {
  readonly architecture: GgufArchitecture;
  /** Whether the rows of queries and keys are in another order than in transformers. */
  readonly isInterleaved: boolean;
  readonly heads: number;
  readonly kvHeads: number;
  readonly config: Readonly<Record<string, unknown>>;
  readonly generation: Readonly<Record<string, unknown>>;
}

const count = z.int().min(1);
/** One number for all layers. Files that have one for each are read if all are the same. */
const ofLayers = z
  .union([count, z.array(z.int()).min(1)])
  .transform(it => (typeof it === "number" ? [it] : [...new Set(it)]))
  .refine(it => it.length === 1 && it[0]! >= 1, "layers differ from each other")
  .transform(it => it[0]!);
const sizes = z.looseObject({
  block_count: count,
  context_length: count,
  embedding_length: count,
  feed_forward_length: ofLayers,
  "attention.head_count": ofLayers,
  "attention.head_count_kv": ofLayers.optional(),
  "attention.key_length": count.optional(),
  "attention.value_length": count.optional(),
  "attention.layer_norm_rms_epsilon": z.number().positive(),
  "rope.dimension_count": count.optional(),
  "rope.freq_base": z.number().positive().default(10_000),
  "rope.scaling.type": z.string().default("none"),
  "rope.scaling.factor": z.number().positive().optional(),
  "attention.scale": z.number().positive().optional(),
  embedding_scale: z.number().positive().optional(),
  residual_scale: z.number().positive().optional(),
  logit_scale: z.number().positive().optional(),
  expert_count: z.int().default(0),
});
type Sizes = z.infer<typeof sizes>;
const tokenIds = z.looseObject({
  bos_token_id: z.int().optional(),
  eos_token_id: z.int().optional(),
  eot_token_id: z.int().optional(),
  eom_token_id: z.int().optional(),
  padding_token_id: z.int().optional(),
});

/** Throws a `UserError` that names what cannot be converted. */
export function readGgufConfiguration(gguf: GgufFile, dtype: string): GgufConfiguration {
  const { file, metadata, tensors } = gguf;
  const createError = (what: string) =>
    new UserError(
      `${file}: ${what}`,
      "choose another model, or train this one with another training framework",
    );
  const named = metadata.get("general.architecture");
  const names = Object.keys(architectures) as GgufArchitecture[];
  const architecture = names.find(it => it === named);
  if (!architecture)
    throw createError(
      `the architecture ${String(named ?? "(none is named)")} is not supported; ${names.join(", ")} are`,
    );
  if (Number(metadata.get("split.count") ?? 1) > 1)
    throw new UserError(
      `${file} is one of ${String(metadata.get("split.count"))} files of a model`,
      "merge them with llama-gguf-split --merge, and name the file that it writes",
    );
  const read = <T>(schema: z.ZodType<T>, prefix: string): T => {
    const entries = [...metadata].filter(([key]) => key.startsWith(prefix));
    const parsed = schema.safeParse(
      Object.fromEntries(entries.map(([key, value]) => [key.slice(prefix.length), value])),
    );
    if (parsed.success) return parsed.data;
    const { path, message } = findReason(parsed.error);
    throw createError(`${prefix}${path.join(".")}: ${message}`);
  };
  const own = read(sizes, `${architecture}.`);
  if (own.expert_count > 0) throw createError("a mixture of experts is not supported");
  const [vocabulary, width] = tensors.get("token_embd.weight")?.shape ?? [];
  if (vocabulary === undefined) throw createError("it has no token_embd.weight");
  const heads = own["attention.head_count"];
  const kvHeads = own["attention.head_count_kv"] ?? heads;
  const headWidth = own["attention.key_length"] ?? own.embedding_length / heads;
  if ((own["attention.value_length"] ?? headWidth) !== headWidth)
    throw createError("keys and values of different sizes are not supported");
  if ((own["rope.dimension_count"] ?? headWidth) !== headWidth)
    throw createError("rotary positions of a part of each head are not supported");
  const ropeTheta = shorten(own["rope.freq_base"]);
  const ids = read(tokenIds, "tokenizer.ggml.");
  const ends = [ids.eos_token_id, ids.eot_token_id, ids.eom_token_id];
  const endIds = [...new Set(ends.filter(it => it !== undefined))];
  const special = {
    ...(ids.bos_token_id === undefined ? {} : { bos_token_id: ids.bos_token_id }),
    ...(endIds.length === 0 ? {} : { eos_token_id: endIds.length === 1 ? endIds[0] : endIds }),
    ...(ids.padding_token_id === undefined ? {} : { pad_token_id: ids.padding_token_id }),
  };
  return {
    architecture,
    isInterleaved: interleaved.includes(architecture),
    heads,
    kvHeads,
    config: {
      architectures: [architectures[architecture]],
      model_type: architecture,
      vocab_size: vocabulary,
      hidden_size: width ?? own.embedding_length,
      intermediate_size: own.feed_forward_length,
      num_hidden_layers: own.block_count,
      num_attention_heads: heads,
      num_key_value_heads: kvHeads,
      head_dim: headWidth,
      hidden_act: "silu",
      max_position_embeddings: own.context_length,
      rms_norm_eps: shorten(own["attention.layer_norm_rms_epsilon"]),
      rope_theta: ropeTheta,
      ...createScaling(gguf, own, { headWidth, createError }),
      attention_bias: false,
      ...(architecture === "granite" ? createMultipliers(own, headWidth) : {}),
      tie_word_embeddings: !tensors.has("output.weight"),
      use_cache: true,
      ...special,
      dtype,
    },
    generation: special,
  };
}

/** The shortest decimal number that stands for the same number in 32 bits. */
function shorten(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return value;
}

const createMultipliers = (own: Sizes, headWidth: number) => ({
  embedding_multiplier: shorten(own.embedding_scale ?? 1),
  attention_multiplier: shorten(own["attention.scale"] ?? 1 / Math.sqrt(headWidth)),
  residual_multiplier: shorten(own.residual_scale ?? 1),
  logits_scaling: shorten(own.logit_scale ?? 1),
});

interface ScalingContext {
  readonly headWidth: number;
  readonly createError: (what: string) => UserError;
}

function createScaling(gguf: GgufFile, own: Sizes, context: ScalingContext) {
  const { "rope.scaling.type": type, "rope.scaling.factor": factor = 1 } = own;
  if (gguf.tensors.has(ropeFactorsTensor)) return findLlama3Scaling(gguf, own, context);
  if (type === "none" || (type === "linear" && factor === 1)) return {};
  if (type === "linear") return { rope_scaling: { rope_type: "linear", factor: shorten(factor) } };
  throw context.createError(`the rope scaling ${type} is not supported`);
}

/** The constants of Llama 3.1 and 3.2, which their files do not have. */
const llama3 = { low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 };

/** Llama 3's scaling, of which a file has only the divisors of the frequencies. */
function findLlama3Scaling(gguf: GgufFile, own: Sizes, { headWidth, createError }: ScalingContext) {
  const divisors = gguf.read(ropeFactorsTensor);
  const factor = divisors.reduce((most, it) => Math.max(most, it), 1);
  const { low_freq_factor: low, high_freq_factor: high } = llama3;
  const expected = Array.from({ length: headWidth / 2 }, (_, i) => {
    const wavelength = 2 * Math.PI * own["rope.freq_base"] ** ((2 * i) / headWidth);
    const waves = llama3.original_max_position_embeddings / wavelength;
    const share = Math.min(Math.max((waves - low) / (high - low), 0), 1);
    return 1 / ((1 - share) / factor + share);
  });
  const isLlama3 =
    divisors.length === expected.length &&
    expected.every((it, i) => Math.abs(it / divisors[i]! - 1) < 1e-3);
  if (!isLlama3)
    throw createError(`a rope scaling with ${ropeFactorsTensor} of its own is not supported`);
  return { rope_scaling: { rope_type: "llama3", factor: shorten(factor), ...llama3 } };
}
