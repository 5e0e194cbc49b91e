/**
 * Reads and writes checkpoints of a run: the model folder with its training history, the state of
 * the optimizer and the training time.
 */
import { join } from "node:path";
import { z } from "zod";
import type { Catalog } from "../environment/catalog.ts";
import { countAdapterParameters } from "../model/transformer/adapters.ts";
import { countParameters } from "../model/transformer/architecture.ts";
import {
  addSeenTasks,
  checkStoredWeights,
  computeAdaptedDigest,
  createServerDigest,
  writeStoredModel,
  type StoredModel,
  type TaskTopic,
} from "../model/modelFolder.ts";
import type { ModelConfig } from "../model/modelConfig.ts";
import type { RunConfig } from "../run/config.ts";
import { writeCheckpoint } from "../run/folder.ts";
import { readTextFile } from "../storage/textFiles.ts";
import { writeFileOver } from "../storage/writtenFiles.ts";
import { UserError } from "../userError.ts";
import type { SaveMessage } from "./loop.ts";
import { writeOptimizer } from "./optimizer.ts";

/** The configuration of a model that this run trains on these tasks, before its first step. */
export function createTrainedConfig(
  start: ModelConfig,
  run: RunConfig,
  topics: readonly TaskTopic[],
  catalog: Catalog,
): ModelConfig {
  const entry = {
    method: run.method,
    steps: 0,
    seconds: 0,
    seed: run.seed,
    tasks: topics.length,
    ...(run.method === "grpo" ? { profile: run.profile } : {}),
    from: start.name,
  };
  return {
    ...start,
    saw: addSeenTasks(start.saw, topics, createServerDigest(catalog.servers)),
    training: [...start.training, entry],
  };
}

/** The digest of the base model of adapters, which must stay as it is once they are trained. */
export async function readAdaptedDigest(start: StoredModel): Promise<{ readonly base?: string }> {
  const { adapters, config } = start;
  if (!adapters) return {};
  await checkStoredWeights(start);
  return { base: config.base ?? (await computeAdaptedDigest(start, adapters)) };
}

/** The number of parameters that a training of a model changes. */
export const countTrainable = ({ config: { architecture }, adapters }: StoredModel): number =>
  adapters ? countAdapterParameters(architecture, adapters.config) : countParameters(architecture);

/** What to do if metrics or weights are not numbers. */
export const remedyOfInvalidNumbers =
  "start a new run with a lower learning rate; the checkpoints before this step can still be used";

/**
 * Writes a checkpoint to a run folder and returns the checkpoint's folder. Throws a `UserError` if
 * the weights are not all numbers.
 */
export async function saveCheckpoint(
  runFolder: string,
  { step, spent, weights, optimizer }: SaveMessage,
  model: StoredModel,
): Promise<string> {
  const invalid = [...weights].find(([, it]) => !it.values.every(value => Number.isFinite(value)));
  if (invalid)
    throw new UserError(
      `step ${step}: the weights ${invalid[0]} are not all numbers`,
      remedyOfInvalidNumbers,
    );
  const { config } = model;
  const training = config.training.toSpliced(-1, 1, {
    ...config.training.at(-1)!,
    steps: step,
    seconds: Math.round(spent * 10) / 10,
  });
  return writeCheckpoint(runFolder, step, async temporary => {
    await writeOptimizer(join(temporary, "optimizer.safetensors"), optimizer);
    writeFileOver(join(temporary, "state.json"), `${JSON.stringify({ step, spent })}\n`);
    await writeStoredModel(temporary, { ...model, config: { ...config, training } }, weights);
  });
}

/** The seconds of training before a checkpoint. Checkpoint 0 has no state.json. */
export function readSpentSeconds(folder: string, step: number): number {
  if (step === 0) return 0;
  try {
    return z
      .object({ spent: z.number() })
      .parse(JSON.parse(readTextFile(join(folder, "state.json")))).spent;
  } catch (cause) {
    throw new UserError(
      `${folder} has no readable state.json`,
      "delete that checkpoint's folder and resume from the one before",
      { cause },
    );
  }
}
