/**
 * What is known of a model before it is loaded: its kind, its name, the servers it was trained on,
 * how careless its teacher was, and how many of some tasks fit it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { findAdaptedFolder, isAdapterFolder, readAdapterConfig } from "../storage/adapterConfig.ts";
import { readModelName, readStoredName } from "../storage/modelName.ts";
import { readJsonFile } from "../storage/parseJson.ts";
import { runConfig, type LoraSettings } from "./config.ts";

/** The shipped model that trainings start from by default: GRPO improves it within minutes. */
export const shippedStart = "careless";

export interface StartModel {
  /** A small student of this program, or a model in the format of Hugging Face. */
  readonly kind: "student" | "hugging-face";
  readonly folder: string;
  readonly name: string;
  /** The servers that a student was trained on, sorted. Other models read how any server works. */
  readonly servers: readonly string[];
  /** The share of turns in which its teacher was careless. */
  readonly careless: number;
  /** The settings of its adapters, if it has some, and the folder of the model that they adapt. */
  readonly adapters?: LoraSettings;
  readonly base?: string;
}

/** The part of a model's config.json that is read here. */
const modelSummary = z.object({
  name: z.string(),
  saw: z.object({ servers: z.record(z.string(), z.string()) }),
});

/** Throws a `UserError` if the folder is not a model folder. */
export function readStartModel(folder: string): StartModel {
  if (!isAdapterFolder(folder)) return readWholeModel(folder);
  const base = findAdaptedFolder(folder);
  const { rank, alpha, targets } = readAdapterConfig(folder).config;
  const model = readWholeModel(base);
  const name = readStoredName(folder) ?? model.name;
  const adapters = { rank, alpha, ...(targets ? { targets: [...targets] } : {}) };
  return { ...model, folder, name, careless: 0, adapters, base };
}

function readWholeModel(folder: string): StartModel {
  const file = join(folder, "config.json");
  const source = {
    noun: "a model's configuration",
    remedy: "choose another model, or copy the model folder again",
  };
  if (readJsonFile(z.looseObject({}), file, source)["model_type"] !== undefined)
    return { kind: "hugging-face", folder, name: readModelName(folder), servers: [], careless: 0 };
  const { name, saw } = readJsonFile(modelSummary, file, source);
  return {
    kind: "student",
    folder,
    name,
    servers: Object.keys(saw.servers).sort(),
    careless: readCarelessShare(folder),
  };
}

/** A checkpoint has no training.json; a model that ships has the configuration of its training. */
function readCarelessShare(folder: string): number {
  const file = join(folder, "training.json");
  if (!existsSync(file)) return 0;
  const training = readJsonFile(runConfig, file, {
    noun: "the configuration of a training",
    remedy: "remove it if the model comes from another program",
  });
  return training.method === "sft" ? training.sft.careless : 0;
}

export interface FitCounts {
  readonly total: number;
  readonly fitting: number;
  /** Tasks with servers that the student was not trained on. */
  readonly unknownServers: number;
  /** Tasks on servers that it knows, but beyond its limits. */
  readonly tooLong: number;
}

/** The reasons for people, with the number of tasks of each, such as "23 too long for it". */
export const listMisfitReasons = ({ unknownServers, tooLong }: FitCounts): string[] => [
  ...(unknownServers ? [`${unknownServers} on servers that it does not know`] : []),
  ...(tooLong ? [`${tooLong} too long for it`] : []),
];
