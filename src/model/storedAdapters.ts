/**
 * The folder of adapters as a model: which base model they belong to, and whether it is still the
 * one that they were trained with.
 */
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import {
  adapterWeightsFile,
  findAdaptedFolder,
  isAdapterFolder,
  readAdapterConfig,
  type AdapterConfig,
} from "../storage/adapterConfig.ts";
import { UserError } from "../userError.ts";

export interface StoredAdapters {
  readonly config: AdapterConfig;
  /** The folder of the base model. */
  readonly base: string;
  /** Whether there are weights; without them, the adapters change nothing yet. */
  readonly hasWeights: boolean;
}

/** Undefined if the folder has no adapters. Throws a `UserError` if their base is not there. */
export function readStoredAdapters(folder: string): StoredAdapters | undefined {
  if (!isAdapterFolder(folder)) return undefined;
  const { config } = readAdapterConfig(folder);
  const base = findAdaptedFolder(folder);
  if (isAdapterFolder(base))
    throw new UserError(
      `the adapters in ${folder} belong to ${base}, which has adapters itself`,
      `merge those with prove-rl model ${base} --merge FOLDER, and train on the merged model`,
    );
  return { config, base, hasWeights: existsSync(join(folder, adapterWeightsFile)) };
}

/** The digest of the files of a base model that decide what adapters of it compute. */
export async function hashModelFiles(base: string, files: readonly string[]): Promise<string> {
  const all = createHash("sha256");
  for (const name of files) {
    const hash = createHash("sha256");
    await pipeline(createReadStream(join(base, name), { highWaterMark: 2 ** 20 }), hash);
    all.update(`${name} ${hash.digest("hex")}\n`);
  }
  return all.digest("hex");
}
