/**
 * Loads and writes adapters in the format of PEFT: adapter_config.json and
 * adapter_model.safetensors. The weights that they adapt stay in the folder of the base model.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  adapterWeightsFile,
  findAdaptedFolder,
  readAdapterConfig,
  writeAdapterConfig,
  type AdapterConfig,
} from "../../storage/adapterConfig.ts";
import { UserError } from "../../userError.ts";
import { createAdapters, listAdapterParameters, type Adapters } from "../adapters.ts";
import type { Architecture } from "../architecture.ts";
import { listProjections } from "../projections.ts";
import { addAdapters, type Model } from "../transformer.ts";
import { readWeights, writeWeights, type LazyArray, type NamedArray } from "../weights.ts";
import { getModulePath } from "./tensorNames.ts";

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
