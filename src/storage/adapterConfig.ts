/**
 * Reads and writes adapter_config.json of LoRA adapters in the format of PEFT. The folder that has
 * it also has the adapters' weights, unless they are those that change nothing, and the weights
 * that they adapt stay in the folder of the base model.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { UserError } from "../userError.ts";
import { writeFileAtomicallySync } from "./atomicWrite.ts";
import { readJsonFile } from "./parseJson.ts";

const adapterConfigFile = "adapter_config.json";
export const adapterWeightsFile = "adapter_model.safetensors";

export interface AdapterConfig {
  /** r: the inner size of each adapter. */
  readonly rank: number;
  /** α: what an adapter adds is scaled by α/r. */
  readonly alpha: number;
  /** The linear layers that have adapters, for example `q_proj`; all if absent. */
  readonly targets?: readonly string[] | undefined;
}

interface AdapterFolder {
  readonly config: AdapterConfig;
  /** The folder of the base model, or its name as it was written; undefined if it has none. */
  readonly base: string | undefined;
}

const empty = z.union([z.record(z.string(), z.never()), z.array(z.never())]).nullish();
/** Other ways to initialize adapters change the base model, too. */
const initialization = z.union([z.boolean(), z.enum(["gaussian", "orthogonal", "eva"])], {
  error: "adapters that were initialized in this way need a changed base model",
});
const schema = z.looseObject({
  peft_type: z.literal("LORA"),
  base_model_name_or_path: z.string().nullish(),
  r: z.int().min(1),
  lora_alpha: z.number().positive(),
  target_modules: z.union([z.array(z.string()), z.literal("all-linear")]),
  bias: z.literal("none").default("none"),
  use_rslora: z.literal(false).default(false),
  use_dora: z.literal(false).default(false),
  fan_in_fan_out: z.literal(false).default(false),
  modules_to_save: empty,
  rank_pattern: empty,
  alpha_pattern: empty,
  layers_to_transform: empty,
  init_lora_weights: initialization.default(true),
  alora_invocation_tokens: empty,
  arrow_config: empty,
  use_bdlora: empty,
});

export const isAdapterFolder = (folder: string): boolean =>
  existsSync(join(folder, adapterConfigFile));

/**
 * A base that begins with a dot is relative to the folder. Throws a `UserError` if the adapters
 * have a part that is not computed here.
 */
export function readAdapterConfig(folder: string): AdapterFolder {
  const { r, lora_alpha, target_modules, base_model_name_or_path } = readJsonFile(
    schema,
    join(folder, adapterConfigFile),
    {
      noun: "a configuration of LoRA adapters without further variants",
      remedy: "merge the adapters into their model with PEFT, and use that model",
    },
  );
  // some versions of PEFT write the layer of each block with its path
  const targets =
    target_modules === "all-linear"
      ? undefined
      : [...new Set(target_modules.map(it => it.slice(it.lastIndexOf(".") + 1)))];
  const base = base_model_name_or_path ?? undefined;
  return {
    config: { rank: r, alpha: lora_alpha, targets },
    base: base?.startsWith(".") ? resolve(folder, base) : base,
  };
}

/** The folder of the base model. Throws a `UserError` if it is not there. */
export function findAdaptedFolder(folder: string): string {
  const { base } = readAdapterConfig(folder);
  if (base !== undefined && existsSync(base)) return base;
  throw new UserError(
    `the adapters in ${folder} belong to the model ${base ?? "without a name"}, which is not there`,
    `put it back, or name its folder as base_model_name_or_path in ${join(folder, adapterConfigFile)}`,
  );
}

/** `base` is written as it is given: a folder or a path from this one that begins with a dot. */
export function writeAdapterConfig(
  folder: string,
  { rank, alpha, targets }: AdapterConfig,
  base: string,
): void {
  const text = JSON.stringify(
    {
      peft_type: "LORA",
      task_type: "CAUSAL_LM",
      base_model_name_or_path: base,
      r: rank,
      lora_alpha: alpha,
      lora_dropout: 0,
      target_modules: targets ?? "all-linear",
      bias: "none",
      inference_mode: true,
    },
    undefined,
    2,
  );
  writeFileAtomicallySync(join(folder, adapterConfigFile), `${text}\n`);
}
