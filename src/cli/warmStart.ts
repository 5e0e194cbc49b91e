/**
 * `warm-start`: trains the shipped student again. Learns a tokenizer from synthesized
 * conversations, trains a model with random weights on them (SFT), and writes its last checkpoint
 * as a model folder.
 */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { defaultSftSettings, type SftSettings } from "../run/config.ts";
import { createRunConfig, type RunOptions } from "../run/createRunConfig.ts";
import { readTrainingFile } from "../run/trainingFile.ts";
import { trainNewRun, startTrainer } from "../run/start.ts";
import { defineCommand, option, type CliContext } from "./command.ts";
import { followTraining, type FollowedTraining } from "./followTraining.ts";
import { countOf, existingPath, outputPath, positiveNumber, share } from "./parsers.ts";
import { findModel, findShippedModel, listFixtureFolders } from "./resources.ts";
import { seedOption } from "./sharedOptions.ts";

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

export const warmStart = defineCommand({
  name: "warm-start",
  description:
    "Train a shipped student again on synthesized conversations: from random weights, which takes about an hour on two cores, or from a model. Writes the model to --out.",
  arguments: [],
  options: {
    tasks: option("--tasks <file>", "tasks file with the conversations", {
      parser: existingPath("a tasks file"),
      required: "a tasks file and a run folder",
      example: "prove/warm.tasks.jsonl",
    }),
    run: option("--run <folder>", "run folder to write", {
      parser: outputPath("prove/runs/warm"),
      required: "a tasks file and a run folder",
      example: "prove/runs/warm",
    }),
    out: option("--out <folder>", "model folder to write (default: the product's own student)", {
      parser: outputPath("prove/models/small"),
    }),
    from: option(
      "--from <model>",
      "model folder or shipped student to go on from (default: random weights)",
    ),
    seconds: option("--seconds <n>", "seconds of training", {
      parser: positiveNumber,
      default: 3600,
    }),
    seed: seedOption,
    workers: option("--workers <n>", "worker processes of the trainer", {
      parser: countOf("a number of workers"),
      default: 2,
    }),
    careless: option(
      "--careless <share>",
      "share of turns in which the teacher is careless, from 0 to 1",
      { parser: share, default: 0 },
    ),
    config: option("--config <file>", "training file whose settings of SFT to use", {
      parser: existingPath("a training file; docs/training.md lists the settings"),
    }),
  },
  examples: [
    "warm-start --tasks prove/warm.tasks.jsonl --run prove/runs/warm --out prove/models/small",
    "warm-start --from small --tasks my.tasks.jsonl --run first --out second --careless 0.9",
  ],
  async run(context, _positionals, { seconds, seed, workers, careless, config, ...paths }) {
    const { cwd, resources, print } = context;
    const [tasks, run] = [resolve(cwd, paths.tasks), resolve(cwd, paths.run)];
    const out = paths.out === undefined ? findShippedModel(resources) : resolve(cwd, paths.out);
    const sft =
      config === undefined
        ? {}
        : readTrainingFile(resolve(cwd, config), join(resources, "models")).sft;
    const { by, step, warning } = await trainWarmStart(
      {
        tasks,
        run,
        out,
        seed,
        workers,
        seconds,
        sft: { careless, ...sft },
        ...(paths.from === undefined ? {} : { from: findModel(paths.from, context) }),
      },
      context,
    );
    if (warning !== undefined) print(warning);
    if (by === "alarm") return 1;
    print(`${out} holds the student after ${step} steps`);
    return warning === undefined ? 0 : 1;
  },
});

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
  context: CliContext,
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
