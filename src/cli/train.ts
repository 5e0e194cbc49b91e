/**
 * `train`: starts or resumes a run and follows its progress. The trainer itself is a separate
 * process.
 */
import { join, resolve } from "node:path";
import { attachTrainer, type Attachment } from "../run/attach.ts";
import { extendRun, readMetrics, readRun } from "../run/folder.ts";
import { getBackendsFolder } from "../run/backends.ts";
import { trainNewRun, startTrainer } from "../run/start.ts";
import { UserError } from "../userError.ts";
import { chooseTraining, trainingOptions, type ChosenTraining } from "./chooseTraining.ts";
import { defineCommand, flag, option, type CliContext, type OptionValues } from "./command.ts";
import { followTraining, formatStep, type FollowedTraining } from "../app/followTraining.ts";
import { outputPath } from "./parsers.ts";
import { listFixtureFolders } from "../app/resources.ts";
import { jsonFlag } from "./sharedOptions.ts";

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
