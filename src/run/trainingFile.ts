/**
 * Training files (`*.train.json`): what to train, on which tasks, how, and for how long. The editor
 * and `prove-rl train --config` start runs from them.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { defaultProfile, profiles } from "../reward/profiles.ts";
import { readJsonFile } from "../storage/parseJson.ts";
import { formatRelative } from "../storage/relativePath.ts";
import { splits } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import { backends, grpoSettings, loraSettings, sftSettings } from "./config.ts";

export const trainingFileExtension = ".train.json";

const count = z.int().min(1);

export const trainingFileSchema = z.strictObject({
  $schema: z.string().optional(),
  tasks: z
    .string()
    .min(1)
    .optional()
    .describe("The tasks file to train on, relative to this file."),
  model: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The model to start from: the name of one that ships (small or careless), or a model folder or checkpoint, relative to this file. Default: small.",
    ),
  method: z
    .enum(["grpo", "sft"])
    .optional()
    .describe(
      "GRPO on groups of attempts, or supervised fine-tuning (SFT) on the teachers' conversations. Default: grpo.",
    ),
  split: z.enum(splits).optional().describe("The split of the tasks to train on. Default: train."),
  onlyFitting: z
    .boolean()
    .optional()
    .describe(
      "Train only on tasks that fit the model: on servers it was trained on, and within its limits. Default: false.",
    ),
  profile: z
    .enum(profiles.map(it => it.name))
    .optional()
    .describe(`The reward profile. Default: ${defaultProfile.name}.`),
  steps: count
    .optional()
    .describe("Stop after this many steps. Default: 200, if there are no seconds."),
  seconds: z.number().positive().optional().describe("Stop after this many seconds of training."),
  seed: z.int().min(0).optional().describe("The seed of every random choice. Default: 1."),
  backend: z.enum(backends).optional().describe("The TensorFlow.js backend. Default: auto."),
  workers: count.max(64).optional().describe("Worker processes of the trainer. Default: 2."),
  saveEvery: count.optional().describe("Steps between checkpoints. Default: 50."),
  keepGroups: z
    .int()
    .min(0)
    .optional()
    .describe("Steps between stored groups of attempts; 0 stores none. Default: 1."),
  lora: loraSettings
    .partial({ alpha: true })
    .optional()
    .describe("Train low-rank adapters (LoRA) instead of all weights."),
  grpo: grpoSettings.partial().optional().describe("Settings of GRPO."),
  sft: sftSettings.partial().optional().describe("Settings of supervised fine-tuning."),
});

export type TrainingFile = z.infer<typeof trainingFileSchema>;

/** What a training file says, with absolute paths. */
export interface TrainingSettings extends Omit<TrainingFile, "$schema"> {
  readonly model: string;
}

/**
 * Reads a training file, with absolute paths of the tasks and the model. `models` is the folder of
 * the models that ship. Throws a `UserError` that names the first value that cannot be used.
 */
export function readTrainingFile(file: string, models: string): TrainingSettings {
  const {
    $schema: _,
    tasks,
    model = "small",
    ...settings
  } = readJsonFile(trainingFileSchema, file, {
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
  { tasks, model, ...settings }: TrainingSettings,
  { folder, models }: { readonly folder: string; readonly models: string },
): string {
  const toPath = (path: string) => formatRelative(folder, path);
  const file: TrainingFile = {
    ...(tasks === undefined ? {} : { tasks: toPath(tasks) }),
    model: dirname(model) === models ? basename(model) : toPath(model),
    ...settings,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}
