/**
 * What is known of a model before it is loaded: its name, the servers it was trained on, and how
 * careless its teacher was, which decides the settings of a training that starts from it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "../storage/parseJson.ts";
import { runConfig, type GrpoSettings } from "./config.ts";

/** The shipped model that trainings start from by default: GRPO improves it within minutes. */
export const shippedStart = "careless";

export interface StartModel {
  readonly folder: string;
  readonly name: string;
  /** The servers that it was trained on, sorted. */
  readonly servers: readonly string[];
  /** The share of turns in which its teacher was careless. */
  readonly careless: number;
}

/** The part of a model's config.json that is read here. */
const modelSummary = z.object({
  name: z.string(),
  saw: z.object({ servers: z.record(z.string(), z.string()) }),
});

/** Throws a `UserError` if the folder is not a model folder. */
export function readStartModel(folder: string): StartModel {
  const { name, saw } = readJsonFile(modelSummary, join(folder, "config.json"), {
    noun: "a model's configuration",
    remedy: "choose another model, or copy the model folder again",
  });
  return {
    folder,
    name,
    servers: Object.keys(saw.servers).sort(),
    careless: readCarelessShare(folder),
  };
}

/** A checkpoint has no training.json; a model that ships has the configuration of its training. */
export function readCarelessShare(folder: string): number {
  const file = join(folder, "training.json");
  if (!existsSync(file)) return 0;
  const training = readJsonFile(runConfig, file, {
    noun: "the configuration of a training",
    remedy: "remove it if the model comes from another program",
  });
  return training.method === "sft" ? training.sft.careless : 0;
}

/**
 * A careless teacher leaves habits that show in most groups, and are unlearned by larger steps than
 * a student can take whose teacher made no errors. The steps get smaller towards the end, because
 * large ones cost success with greedy decoding.
 */
export const chooseGrpoSettings = ({
  careless,
}: Pick<StartModel, "careless">): Partial<GrpoSettings> =>
  careless > 0 ? { learningRate: 5e-4, decay: "linear" } : {};
