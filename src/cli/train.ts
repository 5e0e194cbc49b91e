/**
 * `train`: starts a run from options and files, or resumes one. `plan` takes the same options and
 * prints what the training needs and how long a step takes.
 */
import { join, resolve } from "node:path";
import { omitUndefined } from "../environment/json.ts";
import {
  backends,
  trainingDefaults,
  type RunConfig,
  type TrainingSettings,
} from "../run/config.ts";
import { createRunConfigFrom } from "../run/createRunConfig.ts";
import { findModelFolder, extendRun, readMetrics, readRun } from "../run/folder.ts";
import { readStartModel } from "../run/startModel.ts";
import { readTrainingFile } from "../run/trainingFile.ts";
import { splits } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import { flag, option, type CliContext, type OptionValues, defineCommand } from "./command.ts";
import {
  commaList,
  countOf,
  existingPath,
  oneOf,
  positiveNumber,
  wholeNumber,
  outputPath,
  jsonFlag,
} from "./options.ts";
import { findModel, findShippedModel, listFixtureFolders } from "../app/resources.ts";
import { attachTrainer, type Attachment } from "../run/attach.ts";
import { getBackendsFolder } from "../run/backends.ts";
import { trainNewRun, startTrainer } from "../run/start.ts";
import { followTraining, formatStep, type FollowedTraining } from "../app/followTraining.ts";
import { formatPlan } from "../run/trainingPlan.ts";

const trainingOptions = {
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

interface ChosenTraining {
  readonly config: RunConfig;
  /** The folder of the model that it starts from. */
  readonly model: string;
}

/** Throws a `UserError` if there are no tasks, or the model cannot be used or trained so. */
async function chooseTraining(
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

const trainOptions = {
  ...trainingOptions,
  run: option("--run <folder>", "run folder to write", {
    parser: outputPath("prove/runs/first"),
    required: "a run folder",
    example: "prove/runs/first",
  }),
  resume: flag(
    "--resume",
    "continue the run from its last checkpoint; --steps or --seconds replace its limits",
  ),
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
    "train --tasks my.tasks.jsonl --from models/smollm2 --lora 8 --run prove/runs/lora",
    "train --run prove/runs/first --resume",
    "train --run prove/runs/first --resume --steps 400",
  ],
  async run(context, _positionals, options) {
    const folder = resolve(context.cwd, options.run);
    const { by, step, alarms, warning } = options.resume
      ? await resume(folder, options, context)
      : await start(folder, await chooseTraining(context, options), context);
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

async function start(
  folder: string,
  training: ChosenTraining,
  context: CliContext,
): Promise<FollowedTraining> {
  await checkStart(training);
  return trainNewRun(folder, training, async () =>
    followTraining(folder, await launch(folder, context), context),
  );
}

async function resume(
  folder: string,
  options: OptionValues<typeof trainingOptions>,
  context: CliContext,
): Promise<FollowedTraining> {
  await prepareResuming(folder, options);
  const running = await attachTrainer(folder);
  return followTraining(folder, running ?? (await launch(folder, context)), context);
}

const launch = (folder: string, context: CliContext): Promise<Attachment> =>
  startTrainer({
    folder,
    program: join(context.dist, "trainer.js"),
    fixtures: listFixtureFolders(context),
  });

/**
 * Gives the run new limits if there are some. Throws a `UserError` if there is no run, or other
 * options are given: a run keeps its settings.
 */
async function prepareResuming(
  folder: string,
  given: OptionValues<typeof trainingOptions>,
): Promise<void> {
  readRun(folder);
  const { steps, seconds } = given;
  const names = Object.keys(trainingOptions) as (keyof typeof trainingOptions)[];
  const refused = names.find(
    it => it !== "steps" && it !== "seconds" && given[it] !== undefined && given[it] !== false,
  );
  if (refused)
    throw new UserError(
      `a run keeps its settings when it is resumed, and ${trainingOptions[refused].flags} is given`,
      "leave the option out, or start another run from this one with --from",
    );
  if (steps === undefined && seconds === undefined) return;
  const running = await attachTrainer(folder);
  running?.close();
  if (running)
    throw new UserError(`${folder} is being trained, and keeps its limits`, "stop it first");
  extendRun(folder, { steps, seconds });
}

/**
 * Refuses weights that the backend cannot hold or that are not all numbers, before there is a run
 * with a copy of them.
 */
async function checkStart({ config, model }: ChosenTraining): Promise<void> {
  // loads the numerics
  const { checkStoredWeights, readModelFolder } = await import("../model/modelFolder.ts");
  const { checkBackend } = await import("../train/plan.ts");
  const stored = readModelFolder(model);
  checkBackend(stored, config.backend, getBackendsFolder());
  await checkStoredWeights(stored, { numbers: true });
}

export const plan = defineCommand({
  name: "plan",
  description:
    "Print what a training needs before it is started: parameters, tokens of a step, memory for weights, gradients, optimizer, activations and sampling, and the seconds of a step, from a short measurement on the chosen backend. If it does not fit this machine, the nearest setting that does. Takes the options of train.",
  arguments: [],
  options: {
    ...trainingOptions,
    gpus: option("--gpus <n>", "GPUs of 80 GB for which to say what TRL needs on each", {
      parser: wholeNumber({ min: 1, max: 64 }),
      default: 8,
    }),
    json: jsonFlag,
  },
  examples: [
    "plan --tasks my.tasks.jsonl --from models/smollm2 --lora 8",
    "plan --config first.train.json --json",
  ],
  async run(context, _positionals, { json, gpus, ...options }) {
    const { config, model } = await chooseTraining(context, options);
    // loads the numerics
    const { makePlan } = await import("../app/makePlan.ts");
    const made = await makePlan(config, model, context, gpus);
    if (json) context.print(JSON.stringify(made));
    else for (const line of formatPlan(made)) context.print(line);
    return made.fits ? 0 : 1;
  },
});
