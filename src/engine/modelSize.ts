/**
 * How much memory a model takes: by the files of its folder, or by the number of parameters in its
 * name.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { withReadErrors } from "../storage/fileErrors.ts";
import { readJsonFile } from "../storage/parseJson.ts";

export interface ModelSize {
  /** Bytes of the weights. */
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
  return {
    weights: weights || estimate.weights,
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
