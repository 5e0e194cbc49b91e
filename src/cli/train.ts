/**
 * `train`: starts or resumes a run and follows its progress. The trainer itself is a separate
 * process.
 */
import { join, resolve } from "node:path";
import { omitUndefined } from "../environment/json.ts";
import { UserError } from "../userError.ts";
import { attachTrainer } from "../run/attach.ts";
import { backends } from "../run/config.ts";
import { createRunConfigFrom } from "../run/createRunConfig.ts";
import { createRun, readMetrics, readRun } from "../run/folder.ts";
import { startTrainer } from "../run/start.ts";
import { readStartModel } from "../run/startModel.ts";
import { readTrainingFile } from "../run/trainingFile.ts";
import { splits } from "../trajectory/task.ts";
import { defineCommand, flag, option, type CliContext, type OptionValues } from "./command.ts";
import { followTraining, formatStep } from "./followTraining.ts";
import {
  countOf,
  existingPath,
  oneOf,
  outputPath,
  positiveNumber,
  wholeNumber,
} from "./parsers.ts";
import { findShippedModel, listFixtureFolders } from "./resources.ts";
import { jsonFlag } from "./sharedOptions.ts";

const trainOptions = {
  tasks: option(
    "--tasks <file>",
    "tasks file to train on; required, unless --config names one, or with --resume",
    {
      parser: existingPath("a tasks file, such as prove-rl synthesize writes"),
    },
  ),
  run: option("--run <folder>", "run folder to write", {
    parser: outputPath("prove/runs/first"),
    required: "a run folder",
    example: "prove/runs/first",
  }),
  from: option("--from <model>", "model folder to start from (default: the shipped student)", {
    parser: existingPath("a model folder"),
  }),
  method: option(
    "--method <method>",
    "GRPO on groups of attempts, or SFT on teachers' conversations (default: grpo)",
    { parser: oneOf(["grpo", "sft"], "there is no method") },
  ),
  config: option(
    "--config <file>",
    "training file (*.train.json) with tasks, model and settings; other options replace its own",
    { parser: existingPath("a training file; docs/training.md lists the settings") },
  ),
  split: option("--split <split>", "split of the tasks to train on (default: train)", {
    parser: oneOf(splits, "there is no split"),
  }),
  onlyFitting: flag(
    "--only-fitting",
    "train only on tasks that fit the student: on servers it was trained on, and within its limits",
  ),
  backend: option("--backend <backend>", "TensorFlow.js backend (default: auto)", {
    parser: oneOf(backends, "the run's backend cannot be used:"),
  }),
  steps: option("--steps <n>", "stop after this many steps (default: 200, if without --seconds)", {
    parser: countOf("a number of steps"),
  }),
  seconds: option("--seconds <n>", "stop after this many seconds of training", {
    parser: positiveNumber,
  }),
  seed: option("--seed <n>", "seed of every random choice (default: 1)", {
    parser: wholeNumber(),
  }),
  workers: option("--workers <n>", "worker processes of the trainer (default: 2)", {
    parser: countOf("a number of workers"),
  }),
  resume: flag("--resume", "continue the run from its last checkpoint"),
  json: jsonFlag,
};

export const train = defineCommand({
  name: "train",
  description:
    "Train the student on tasks, with GRPO on groups of attempts in live sessions, or with supervised fine-tuning (SFT) on their teachers' conversations. Writes a run folder. Ctrl-C stops the trainer, and --resume continues the run.",
  arguments: [],
  options: trainOptions,
  examples: [
    "train --tasks small.tasks.jsonl --run prove/runs/first",
    "train --tasks small.tasks.jsonl --run prove/runs/sft --method sft --seconds 600",
    "train --config first.train.json --run prove/runs/second --seed 2",
    "train --run prove/runs/first --resume",
  ],
  async run(context, _positionals, options) {
    const folder = resolve(context.cwd, options.run);
    if (options.resume) readRun(folder);
    else await createNewRun(folder, context, options);
    const running = options.resume ? await attachTrainer(folder) : undefined;
    const attachment =
      running ??
      (await startTrainer({
        folder,
        program: join(context.dist, "trainer.js"),
        fixtures: listFixtureFolders(context),
      }));
    const { by, step, alarms, warning } = await followTraining(folder, attachment, context);
    const last = readMetrics(folder).lines.at(-1);
    if (options.json) context.print(JSON.stringify({ run: folder, by, step, last, alarms }));
    else {
      if (last) context.print(formatStep(last));
      const ending = by === "alarm" ? "failed" : by === "stop" ? "stopped" : "done";
      context.print(
        `${ending} after step ${step}: ${folder}${by === "stop" ? " (go on with --resume)" : ""}`,
      );
      if (warning !== undefined) context.print(warning);
    }
    return warning === undefined ? 0 : 1;
  },
});

async function createNewRun(
  folder: string,
  { cwd, resources }: CliContext,
  { config, from, onlyFitting, tasks: givenTasks, ...given }: OptionValues<typeof trainOptions>,
): Promise<void> {
  const { model: startFolder, ...file } =
    config === undefined
      ? { model: findShippedModel(resources) }
      : readTrainingFile(resolve(cwd, config), join(resources, "models"));
  const tasks = givenTasks === undefined ? file.tasks : resolve(cwd, givenTasks);
  if (tasks === undefined)
    throw new UserError(
      "train needs a tasks file",
      "make one with prove-rl synthesize, or go on with a run by --resume",
    );
  const model = from === undefined ? startFolder : resolve(cwd, from);
  const { readModelFolder } = await import("../model/modelFolder.ts");
  readModelFolder(model); // a folder without usable weights is refused here
  const { method, split, seed, backend, workers } = given;
  const { steps, seconds } =
    given.steps === undefined && given.seconds === undefined ? file : given;
  const runConfig = createRunConfigFrom(readStartModel(model), {
    ...file,
    ...omitUndefined({ method, split, seed, backend, workers }),
    ...(onlyFitting ? { onlyFitting } : {}),
    startedAt: new Date(),
    tasks,
    steps,
    seconds,
  });
  createRun(folder, runConfig, model);
}
