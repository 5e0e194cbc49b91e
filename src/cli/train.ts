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
import { createRun, findModelFolder, readMetrics, readRun } from "../run/folder.ts";
import { startTrainer } from "../run/start.ts";
import { readStartModel } from "../run/startModel.ts";
import { readTrainingFile, type TrainingFile } from "../run/trainingFile.ts";
import { splits } from "../trajectory/task.ts";
import { defineCommand, flag, option, type CliContext, type OptionValues } from "./command.ts";
import { followTraining, formatStep } from "./followTraining.ts";
import {
  commaList,
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
  from: option(
    "--from <model>",
    "run or model folder to start from (default: the shipped student)",
    {
      parser: existingPath("a run or model folder"),
    },
  ),
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
    "train --tasks my.tasks.jsonl --from models/smollm2 --lora 8 --run prove/runs/lora",
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
  const model = findModelFolder(from === undefined ? startFolder : resolve(cwd, from));
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
  createRun(folder, runConfig, model);
}

/** The adapters of a training file, replaced by those of the options. */
function chooseLora(
  file: TrainingFile["lora"],
  {
    lora: rank = file?.rank,
    loraAlpha: alpha,
    loraTargets: targets,
  }: Pick<OptionValues<typeof trainOptions>, "lora" | "loraAlpha" | "loraTargets">,
): TrainingFile["lora"] {
  if (rank !== undefined) {
    const list = targets && [...targets];
    return { ...file, rank, ...omitUndefined({ alpha, targets: list }) };
  }
  if (alpha === undefined && targets === undefined) return undefined;
  throw new UserError(
    "--lora-alpha and --lora-targets are about adapters, and none are trained",
    "add their rank with --lora",
  );
}

/** Refuses a folder without a usable model, and adapters that the model cannot have. */
async function checkModel(folder: string, lora: TrainingFile["lora"]): Promise<void> {
  // loads the numerics
  const { readModelFolder } = await import("../model/modelFolder.ts");
  const { listAdapterParameters } = await import("../model/adapters.ts");
  const { config } = readModelFolder(folder);
  if (lora) listAdapterParameters(config.architecture, { ...lora, alpha: lora.alpha ?? 1 });
}
