/**
 * Trains a student on synthesized conversations (SFT): learns a tokenizer, trains a model with
 * random weights or goes on from one, and writes the last checkpoint as a model folder.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { defaultSftSettings, type SftSettings } from "../run/config.ts";
import { createRunConfig, type RunOptions } from "../run/createRunConfig.ts";
import { trainNewRun } from "../run/start.ts";
import { startTrainer } from "../run/start.ts";
import type { AppContext } from "./context.ts";
import { followTraining, type FollowedTraining } from "./followTraining.ts";
import { listFixtureFolders } from "./resources.ts";

/** A high rate and a loss on all tokens: the student learns to copy from what it reads sooner. */
const warmStartSettings: SftSettings = {
  ...defaultSftSettings,
  conversations: 16,
  learningRate: 3e-3,
  warmUp: 200,
  decay: 0.5,
  given: 0.1,
};

/**
 * A model that has learned to copy takes smaller steps, and keeps what it knows. The rate falls
 * from the start: at a constant one, the loss hardly does.
 */
const continuedSettings: SftSettings = {
  ...warmStartSettings,
  learningRate: 1e-3,
  warmUp: 50,
  decay: 1,
};

export interface WarmStart {
  /** The tasks file. */
  readonly tasks: string;
  /** The run folder to write. */
  readonly run: string;
  /** The model folder to write. */
  readonly out: string;
  /** The model folder to go on from; random weights where absent. */
  readonly from?: string;
  readonly seed: number;
  readonly workers?: number;
  readonly seconds: number;
  readonly sft?: RunOptions["sft"];
}

/**
 * Trains a student on the conversations of a tasks file, and writes it unless an alarm ended the
 * training.
 */
export async function trainWarmStart(
  { tasks, run, out, from, seed, workers, seconds, sft }: WarmStart,
  context: AppContext,
): Promise<FollowedTraining> {
  // loads the numerics
  const { exportCheckpoint, writeRandomModel } = await import("./shippedModel.ts");
  const { readModelFolder } = await import("../model/modelFolder.ts");
  const randomModel = `${run}.start`;
  const config = createRunConfig({
    startedAt: new Date(),
    tasks,
    method: "sft",
    seed,
    ...(workers === undefined ? {} : { workers }),
    seconds,
    saveEvery: 250,
    keepGroups: 0,
    sft: { ...(from === undefined ? warmStartSettings : continuedSettings), ...sft },
    ...(from === undefined ? {} : { from: readModelFolder(from).config.name }),
  });
  if (from === undefined) await writeRandomModel(randomModel, { tasks, seed }, context);
  const removeRandomModel = () => rmSync(randomModel, { recursive: true, force: true });
  const training = await trainNewRun(run, { config, model: from ?? randomModel }, async () => {
    removeRandomModel();
    const attachment = await startTrainer({
      folder: run,
      program: join(context.dist, "trainer.js"),
      fixtures: listFixtureFolders(context),
    });
    return followTraining(run, attachment, context);
  }).finally(removeRandomModel);
  context.signal.throwIfAborted();
  if (training.by !== "alarm") await exportCheckpoint(run, training.step, out, context.dist);
  return training;
}
