/** `engine`: writes a folder with all that a training in another engine needs. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { EngineTarget } from "../engine/target.ts";
import {
  createAccelerateConfig,
  createTrlConfig,
  createTrlReadme,
  createTrlRequirements,
  createTrlRun,
} from "../engine/trl.ts";
import {
  createAgentLoops,
  createVerlConfig,
  createVerlReadme,
  createVerlRun,
  verlRequirements,
} from "../engine/verl.ts";
import { profiles } from "../reward/profiles.ts";
import { createRunConfig, type RunOptions } from "../run/createRunConfig.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { readIfExists, withWriteErrors } from "../storage/fileErrors.ts";
import { UserError } from "../userError.ts";
import { argument, defineCommand, option, type CliContext } from "./command.ts";
import { formatRowCount, writeDataset } from "./export.ts";
import { countOf, existingPath, oneOf, outputPath, wholeNumber } from "./parsers.ts";

interface Engine {
  readonly name: "trl" | "verl";
  /** The file of the rows to train on, in the folder `data`. */
  readonly data: string;
  /** The programs of the folder by their files in `resources/engines`. */
  readonly programs: Readonly<Record<string, string>>;
  /** All other files but data and tasks. `rows` is the number of rows to train on. */
  readonly createFiles: (
    target: EngineTarget,
    tasks: string,
    rows: number,
  ) => Readonly<Record<string, string>>;
  readonly createRun: (
    target: EngineTarget,
    rows: number,
  ) => Omit<RunOptions, "startedAt" | "tasks">;
}

const sharedPrograms = {
  "prove_client.py": "prove_client.py",
  "prove_groups.py": "prove_groups.py",
  "prove_launch.py": "prove_launch.py",
};

const trl: Engine = {
  name: "trl",
  data: "train.jsonl",
  programs: {
    ...sharedPrograms,
    "prove_trl.py": "prove_trl.py",
    "prove_run.py": "prove_run.py",
    "train.py": "train_trl.py",
    "launch.py": "launch_trl.py",
  },
  createFiles: (target, tasks) => ({
    "config.json": formatJson(createTrlConfig(target)),
    "accelerate.yaml": createAccelerateConfig(target.gpus),
    "requirements.txt": createTrlRequirements(target.gpus),
    "README.md": createTrlReadme(target, tasks),
  }),
  createRun: createTrlRun,
};

const verl: Engine = {
  name: "verl",
  data: "train.parquet",
  programs: {
    ...sharedPrograms,
    "prove_verl.py": "prove_verl.py",
    "launch.py": "launch_verl.py",
  },
  createFiles: (target, tasks, rows) => ({
    "config.json": formatJson(createVerlConfig(target, rows)),
    "agent_loops.yaml": createAgentLoops(target),
    "requirements.txt": verlRequirements,
    "README.md": createVerlReadme(target, tasks),
  }),
  createRun: createVerlRun,
};

const engines = [trl, verl];

const formatJson = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

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
      parser: oneOf(
        engines.map(it => it.name),
        "there is no engine",
      ),
      required: "an engine, trl or verl",
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
    gpus: option("--gpus <n>", "GPUs of the machine; 0 for the CPU, with trl only", {
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
    "engine prepare verl --tasks my.tasks.jsonl --model Qwen/Qwen3-8B --out verl",
    "engine prepare trl --tasks my.tasks.jsonl --model ./tiny --gpus 0 --lora 8 --out trl",
  ],
  async run(context, [, name], { tasks, model, out, gpus, lora, profile }) {
    const { cwd, program, print } = context;
    const chosen = engines.find(it => it.name === name)!;
    if (chosen === verl && gpus === 0)
      throw new UserError(
        "verl does not train on a CPU",
        "give the number of GPUs with --gpus, or prepare a training in trl",
      );
    const folder = resolve(cwd, out);
    requireEmpty(folder);
    const isNew = !existsSync(folder);
    const file = basename(tasks);
    const target: EngineTarget = {
      // a folder is found from anywhere
      model: existsSync(resolve(cwd, model)) ? resolve(cwd, model) : model,
      gpus,
      profile,
      loraRank: lora,
      serve: [process.execPath, program, "serve", "--port", "0", "--tasks", file],
    };
    try {
      await writeFolder(context, { engine: chosen, target, tasks, out });
    } catch (error) {
      // it was new or empty
      for (const entry of readIfExists(folder, () => readdirSync(folder)) ?? [])
        rmSync(join(folder, entry), { recursive: true, force: true });
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

interface FolderContent {
  readonly engine: Engine;
  readonly target: EngineTarget;
  readonly tasks: string;
  readonly out: string;
}

async function writeFolder(
  context: CliContext,
  { engine: { name, data, programs, createFiles, createRun }, target, tasks, out }: FolderContent,
): Promise<void> {
  const { cwd, resources } = context;
  const folder = resolve(cwd, out);
  const file = basename(tasks);
  const rows = await exportTraining(context, { tasks, to: name, out: join(out, "data") });
  if (!existsSync(join(folder, "data", data)))
    throw new UserError(
      `${tasks} has no rows of the split train`,
      "give a file with tasks of that split; prove-rl report counts them",
    );
  withWriteErrors(folder, () => {
    copyFileSync(resolve(cwd, tasks), join(folder, file));
    for (const [program, source] of Object.entries(programs))
      copyFileSync(join(resources, "engines", source), join(folder, program));
  });
  const run = createRunConfig({ ...createRun(target, rows), startedAt: new Date(), tasks: file });
  const files = {
    // lists the folder among the runs of a workspace, with the attempts of each step
    "run.json": formatJson(run),
    ...createFiles(target, file, rows),
  };
  for (const [path, text] of Object.entries(files))
    writeFileAtomicallySync(join(folder, path), text);
}

/** Writes the prompts of all splits. Returns the number of rows to train on. */
async function exportTraining(
  context: CliContext,
  options: { readonly tasks: string; readonly to: Engine["name"]; readonly out: string },
): Promise<number> {
  const folder = resolve(context.cwd, options.out);
  withWriteErrors(folder, () => mkdirSync(folder, { recursive: true }));
  const { tally, remarks } = await writeDataset(context, options);
  context.print(formatRowCount(tally, options.out));
  for (const it of remarks) context.printNote(it);
  return tally.rowsBySplit["train"] ?? 0;
}
