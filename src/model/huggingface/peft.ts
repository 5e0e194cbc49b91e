/**
 * Reads and writes adapters in the format of PEFT: adapter_config.json and
 * adapter_model.safetensors. The weights that they adapt stay in the folder of the base model.
 */
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomically } from "../../storage/atomicWrite.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";
import {
  createAdapters,
  listAdapterParameters,
  type AdapterConfig,
  type Adapters,
} from "../adapters.ts";
import type { Architecture } from "../architecture.ts";
import { listProjections } from "../projections.ts";
import { readWeights, writeWeights, type LazyArray, type NamedArray } from "../weights.ts";
import { getModulePath } from "./tensorNames.ts";

export const adapterConfigFile = "adapter_config.json";
const adapterWeightsFile = "adapter_model.safetensors";

const empty = z.union([z.record(z.string(), z.never()), z.array(z.never())]).nullish();
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
});

export interface AdapterFolder {
  readonly config: AdapterConfig;
  /** The folder of the base model, as it was written. */
  readonly base: string | undefined;
}

/** Throws a `UserError` if the adapters have a part that is not computed here. */
export function readAdapterConfig(folder: string): AdapterFolder {
  const { r, lora_alpha, target_modules, base_model_name_or_path } = readJsonFile(
    schema,
    join(folder, adapterConfigFile),
    {
      noun: "a configuration of LoRA adapters without further variants",
      remedy: "merge the adapters into their model with PEFT, and use that model",
    },
  );
  const targets = target_modules === "all-linear" ? undefined : target_modules;
  return {
    config: { rank: r, alpha: lora_alpha, targets },
    base: base_model_name_or_path ?? undefined,
  };
}

/** Loads the adapters in a folder for a model of this architecture. */
export async function loadAdapters(folder: string, architecture: Architecture): Promise<Adapters> {
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
  return createAdapters(architecture, config, name => arrays.get(getTensorName(name))!.values);
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
  const text = JSON.stringify(
    {
      peft_type: "LORA",
      task_type: "CAUSAL_LM",
      base_model_name_or_path: base,
      r: config.rank,
      lora_alpha: config.alpha,
      lora_dropout: 0,
      target_modules: config.targets ?? listProjections(architecture).map(it => it.name),
      bias: "none",
      inference_mode: true,
    },
    undefined,
    2,
  );
  await writeFileAtomically(join(folder, adapterConfigFile), `${text}\n`);
}

/** The name that PEFT gives a matrix: `layers.0.q_proj.lora_A` is one of self_attn. */
function getTensorName(name: string): string {
  const [, layer, projection, matrix] = /^layers\.(\d+)\.(\w+)\.(lora_[AB])$/.exec(name)!;
  return `base_model.model.${getModulePath(Number(layer), projection!)}.${matrix}.weight`;
}
