/**
 * Training files (`*.train.json`): what to train, on which tasks, how, and for how long. The editor
 * and `prove-rl train --config` start runs from them.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readJsonFile } from "../storage/parseJson.ts";
import { formatRelative } from "../storage/relativePath.ts";
import { UserError } from "../userError.ts";
import { trainingSettings, type TrainingSettings } from "./config.ts";

export const trainingFileExtension = ".train.json";

/**
 * Reads a training file, with absolute paths of the tasks and the model. `models` is the folder of
 * the models that ship. Throws a `UserError` that names the first value that cannot be used.
 */
export function readTrainingFile(
  file: string,
  models: string,
): TrainingSettings & { readonly model: string } {
  const {
    $schema: _,
    tasks,
    model = "small",
    ...settings
  } = readJsonFile(trainingSettings, file, {
    noun: "a file of training settings",
    remedy: "docs/training.md lists the settings",
  });
  const find = (path: string, noun: string): string => {
    const found = resolve(dirname(file), path);
    if (existsSync(found)) return found;
    throw new UserError(
      `${file}: there is no ${noun} ${path}`,
      `give a path that is relative to the folder of ${basename(file)}`,
    );
  };
  const shipped = join(models, model);
  const isShipped = basename(model) === model && existsSync(shipped);
  return {
    ...settings,
    ...(tasks === undefined ? {} : { tasks: find(tasks, "tasks file") }),
    model: isShipped ? shipped : find(model, "model folder"),
  };
}

/** A training file's text, in which paths are relative to `folder`. */
export function formatTrainingFile(
  { tasks, model, ...settings }: TrainingSettings & { readonly model: string },
  { folder, models }: { readonly folder: string; readonly models: string },
): string {
  const toPath = (path: string) => formatRelative(folder, path);
  const file: TrainingSettings = {
    ...(tasks === undefined ? {} : { tasks: toPath(tasks) }),
    model: dirname(model) === models ? basename(model) : toPath(model),
    ...settings,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}
