/** The model and the configuration of a new run, from the options of `train` and `plan`. */
import { join, resolve } from "node:path";
import { omitUndefined } from "../environment/json.ts";
import {
  backends,
  trainingDefaults,
  type RunConfig,
  type TrainingSettings,
} from "../run/config.ts";
import { createRunConfigFrom } from "../run/createRunConfig.ts";
import { findModelFolder } from "../run/folder.ts";
import { readStartModel } from "../run/startModel.ts";
import { readTrainingFile } from "../run/trainingFile.ts";
import { splits } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import { flag, option, type CliContext, type OptionValues } from "./command.ts";
import { commaList, countOf, existingPath, oneOf, positiveNumber, wholeNumber } from "./parsers.ts";
import { findModel, findShippedModel } from "../app/resources.ts";

export const trainingOptions = {
  tasks: option("--tasks <file>", "tasks file to train on; required, unless --config names one", {
    parser: existingPath("a tasks file, such as prove-rl synthesize writes"),
  }),
  from: option(
    "--from <model>",
    "run or model folder to start from, or the name of a shipped student: small (default) or careless",
  ),
  method: option(
    "--method <method>",
    `GRPO on groups of attempts, or SFT on teachers' conversations (default: ${trainingDefaults.method})`,
    { parser: oneOf(["grpo", "sft"], "there is no method") },
  ),
  config: option(
    "--config <file>",
    "training file (*.train.json) with tasks, model and settings; other options replace its own",
    { parser: existingPath("a training file; docs/training.md lists the settings") },
  ),
  split: option(
    "--split <split>",
    `split of the tasks to train on (default: ${trainingDefaults.split})`,
    {
      parser: oneOf(splits, "there is no split"),
    },
  ),
  lora: option("--lora <rank>", "train LoRA adapters of this rank (default: all weights)", {
    parser: countOf("a rank"),
  }),
  loraAlpha: option(
    "--lora-alpha <n>",
    "adapters are scaled by this, divided by the rank (default: twice the rank)",
    { parser: positiveNumber },
  ),
  loraTargets: option(
    "--lora-targets <list>",
    "linear layers that have adapters, such as q_proj,v_proj (default: all)",
    { parser: commaList },
  ),
  onlyFitting: flag(
    "--only-fitting",
    "train only on tasks that fit the student: on servers it was trained on, and within its limits",
  ),
  backend: option(
    "--backend <backend>",
    `TensorFlow.js backend (default: ${trainingDefaults.backend})`,
    {
      parser: oneOf(backends, "the run's backend cannot be used:"),
    },
  ),
  steps: option(
    "--steps <n>",
    `stop after this many steps (default: ${trainingDefaults.steps}, if without --seconds)`,
    {
      parser: countOf("a number of steps"),
    },
  ),
  seconds: option("--seconds <n>", "stop after this many seconds of training", {
    parser: positiveNumber,
  }),
  seed: option("--seed <n>", `seed of every random choice (default: ${trainingDefaults.seed})`, {
    parser: wholeNumber(),
  }),
  workers: option(
    "--workers <n>",
    `worker processes of the trainer (default: ${trainingDefaults.workers})`,
    {
      parser: countOf("a number of workers"),
    },
  ),
};

export interface ChosenTraining {
  readonly config: RunConfig;
  /** The folder of the model that it starts from. */
  readonly model: string;
}

/** Throws a `UserError` if there are no tasks, or the model cannot be used or trained so. */
export async function chooseTraining(
  context: Pick<CliContext, "cwd" | "resources">,
  { config, from, onlyFitting, tasks: givenTasks, ...given }: OptionValues<typeof trainingOptions>,
): Promise<ChosenTraining> {
  const { cwd, resources } = context;
  const { model: startFolder, ...file } =
    config === undefined
      ? { model: findShippedModel(resources) }
      : readTrainingFile(resolve(cwd, config), join(resources, "models"));
  const tasks = givenTasks === undefined ? file.tasks : resolve(cwd, givenTasks);
  if (tasks === undefined)
    throw new UserError(
      "a training needs a tasks file",
      "name one with --tasks, or continue a run with train --resume",
    );
  const model = findModelFolder(from === undefined ? startFolder : findModel(from, context));
  const lora = chooseLora(file.lora, given);
  await checkModel(model, lora);
  const { method, split, seed, backend, workers } = given;
  const { steps, seconds } =
    given.steps === undefined && given.seconds === undefined ? file : given;
  const runConfig = createRunConfigFrom(readStartModel(model), {
    ...file,
    ...omitUndefined({ method, split, seed, backend, workers }),
    ...(lora ? { lora } : {}),
    ...(onlyFitting ? { onlyFitting } : {}),
    startedAt: new Date(),
    tasks,
    steps,
    seconds,
  });
  return { config: runConfig, model };
}

/** The adapters of a training file, replaced by those of the options. */
function chooseLora(
  file: TrainingSettings["lora"],
  {
    lora: rank = file?.rank,
    loraAlpha: alpha,
    loraTargets: targets,
  }: Pick<OptionValues<typeof trainingOptions>, "lora" | "loraAlpha" | "loraTargets">,
): TrainingSettings["lora"] {
  if (rank !== undefined) {
    const list = targets && [...targets];
    return { ...file, rank, ...omitUndefined({ alpha, targets: list }) };
  }
  if (alpha === undefined && targets === undefined) return undefined;
  throw new UserError(
    "--lora-alpha and --lora-targets are settings of adapters, and none are trained",
    "add their rank with --lora",
  );
}

/** Refuses a folder without a usable model, and adapters that the model cannot have. */
async function checkModel(folder: string, lora: TrainingSettings["lora"]): Promise<void> {
  // loads the numerics
  const { checkStoredWeights, readModelFolder } = await import("../model/modelFolder.ts");
  const { listAdapterParameters } = await import("../model/transformer/adapters.ts");
  const stored = readModelFolder(folder);
  await checkStoredWeights(stored);
  const { config } = stored;
  if (lora) listAdapterParameters(config.architecture, { ...lora, alpha: lora.alpha ?? 1 });
}
