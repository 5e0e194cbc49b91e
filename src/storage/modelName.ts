/** The name of a model in the format of Hugging Face: that in prove.json, or that of its folder. */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { writeFileAtomicallySync } from "./atomicWrite.ts";
import { readJsonFile } from "./parseJson.ts";

/** The format of prove.json. */
export const settingsFormat = "prove/huggingface@1";

export const getSettingsFile = (folder: string) => join(folder, "prove.json");

export const readModelName = (folder: string): string =>
  readStoredName(folder) ?? chooseModelName(folder);

/** The name in prove.json, if there is one. */
export const readStoredName = (folder: string): string | undefined => readSettings(folder).name;

/** A folder of a cache is named after a revision, and its parents after the model. */
export function chooseModelName(folder: string): string {
  const path = resolve(folder);
  const isSnapshot = basename(dirname(path)) === "snapshots";
  return isSnapshot ? basename(dirname(dirname(path))) : basename(path);
}

/** Gives the model in a folder a name, unless it has one. A copy has another folder. */
export function keepModelName(folder: string, name: string): void {
  const settings = readSettings(folder);
  const text = JSON.stringify({ format: settingsFormat, name, ...settings }, undefined, 2);
  writeFileAtomicallySync(getSettingsFile(folder), `${text}\n`);
}

function readSettings(folder: string): { readonly name?: string | undefined } {
  const file = getSettingsFile(folder);
  return existsSync(file) ? readJsonFile(z.looseObject({ name: z.string().optional() }), file) : {};
}
