/** `engine`: writes a folder with all that a training in another engine needs. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import {
  createAccelerateConfig,
  createTrlConfig,
  createTrlReadme,
  createTrlRequirements,
  createTrlRun,
  type TrlTarget,
} from "../engine/trl.ts";
import { profiles } from "../reward/profiles.ts";
import { createRunConfig } from "../run/createRunConfig.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { readIfExists, withWriteErrors } from "../storage/fileErrors.ts";
import { UserError } from "../userError.ts";
import { argument, defineCommand, option, type CliContext } from "./command.ts";
import { exportTasks } from "./export.ts";
import { countOf, existingPath, oneOf, outputPath, wholeNumber } from "./parsers.ts";

/** The programs of a folder for TRL by their files in `resources/engines`. */
const trlPrograms = {
  "prove_client.py": "prove_client.py",
  "prove_trl.py": "prove_trl.py",
  "prove_run.py": "prove_run.py",
  "train.py": "train_trl.py",
  "launch.py": "launch.py",
};

export const engine = defineCommand({
  name: "engine",
  description:
    "Write a folder that trains a model in another engine: data, settings, pinned requirements and a program that starts the service and the training. The settings are those of the paper, for a number of GPUs; --gpus 0 writes settings with which a CPU can try out a small model. The folder must be new or empty.",
  arguments: [
    argument("<action>", "what to do", {
      parser: oneOf(["prepare"], "there is no action"),
      required: "an action, prepare",
    }),
    argument("<engine>", "the engine", {
      parser: oneOf(["trl"], "there is no engine"),
      required: "an engine, trl",
    }),
  ],
  options: {
    tasks: option("--tasks <file>", "tasks file to train on: its split train", {
      parser: existingPath("a tasks file"),
      required: "a tasks file",
      example: "my.tasks.jsonl",
    }),
    model: option("--model <name>", "model folder, or name on the Hugging Face hub", {
      required: "a model",
      example: "Qwen/Qwen3-4B-Instruct-2507",
    }),
    out: option("--out <folder>", "folder to write to, which must be new or empty", {
      parser: outputPath("trl"),
      required: "a folder to write to",
      example: "trl",
    }),
    gpus: option("--gpus <n>", "GPUs of the machine; 0 for the CPU", {
      parser: wholeNumber({ max: 64 }),
      default: 8,
    }),
    lora: option("--lora <rank>", "train LoRA adapters of this rank (default: all weights)", {
      parser: countOf("ranks"),
    }),
    profile: option("--profile <name>", "reward profile", {
      parser: oneOf(
        profiles.map(it => it.name),
        "there is no profile",
      ),
      default: "paper",
    }),
  },
  examples: [
    "engine prepare trl --tasks my.tasks.jsonl --model Qwen/Qwen3-4B-Instruct-2507 --out trl",
    "engine prepare trl --tasks my.tasks.jsonl --model ./tiny --gpus 0 --lora 8 --out trl",
  ],
  async run(context, _positionals, { tasks, model, out, gpus, lora, profile }) {
    const { cwd, program, print } = context;
    const folder = resolve(cwd, out);
    requireEmpty(folder);
    const isNew = !existsSync(folder);
    const file = basename(tasks);
    const target: TrlTarget = {
      // a folder is found from anywhere
      model: existsSync(resolve(cwd, model)) ? resolve(cwd, model) : model,
      gpus,
      profile,
      loraRank: lora,
      serve: [process.execPath, program, "serve", "--port", "0", "--tasks", file],
    };
    try {
      await exportTraining(context, tasks, join(folder, "data"));
      withWriteErrors(folder, () => {
        copyFileSync(resolve(cwd, tasks), join(folder, file));
        for (const [name, source] of Object.entries(trlPrograms))
          copyFileSync(join(context.resources, "engines", source), join(folder, name));
      });
      const run = createRunConfig({ ...createTrlRun(target), startedAt: new Date(), tasks: file });
      const files = {
        // lists the folder among the runs of a workspace, with the attempts of each step
        "run.json": `${JSON.stringify(run, undefined, 2)}\n`,
        "config.json": `${JSON.stringify(createTrlConfig(target), undefined, 2)}\n`,
        "accelerate.yaml": createAccelerateConfig(gpus),
        "requirements.txt": createTrlRequirements(gpus),
        "README.md": createTrlReadme(target, file),
      };
      for (const [name, text] of Object.entries(files))
        writeFileAtomicallySync(join(folder, name), text);
    } catch (error) {
      // it was new or empty
      for (const name of readIfExists(folder, () => readdirSync(folder)) ?? [])
        rmSync(join(folder, name), { recursive: true, force: true });
      if (isNew) rmSync(folder, { recursive: true, force: true });
      throw error;
    }
    print(`${out} is ready. Start the training there, with the packages of requirements.txt:`);
    print(`  python ${join(out, "launch.py")}`);
    return 0;
  },
});

function requireEmpty(folder: string): void {
  if ((readIfExists(folder, () => readdirSync(folder)) ?? []).length > 0)
    throw new UserError(`${folder} is not empty`, "prepare another folder, or empty it first");
}

/** Writes the prompts of all splits. Throws a `UserError` if there are none to train on. */
async function exportTraining(context: CliContext, tasks: string, out: string): Promise<void> {
  withWriteErrors(out, () => mkdirSync(out, { recursive: true }));
  await exportTasks.run(context, [], { tasks, to: "trl", out, json: false });
  if (!existsSync(join(out, "train.jsonl")))
    throw new UserError(
      `${tasks} has no rows of the split train`,
      "give a file with tasks of that split; prove-rl report counts them",
    );
}
