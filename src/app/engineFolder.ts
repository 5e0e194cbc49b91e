/** The folder with all that a training with TRL or verl needs, for the terminal and the editor. */
import { cpSync, existsSync, mkdirSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import {
  estimateModelSize,
  readModelSize,
  paperModels,
  type ModelSize,
  type EngineTarget,
  type Stage,
} from "../engine/target.ts";
import {
  createAccelerateConfig,
  createTrlConfig,
  createTrlReadme,
  createTrlRequirements,
  createTrlRun,
  describeTrlMemory,
  estimatePromptTokens,
} from "../engine/trl.ts";
import {
  createAgentLoops,
  createVerlConfig,
  createVerlReadme,
  createVerlRun,
  verlRequirements,
} from "../engine/verl.ts";
import { defaultTemplate } from "../model/huggingface/chatTemplate.ts";
import { readHuggingFaceSettings } from "../model/huggingface/folder.ts";
import type { CallSyntax } from "../policy/callText/callText.ts";
import { readModelFolder } from "../model/modelFolder.ts";
import type { Json } from "../environment/json.ts";
import { createRunConfig, type RunOptions } from "../run/createRunConfig.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { withWriteErrors } from "../storage/fileErrors.ts";
import { readJsonLines } from "../storage/jsonLines.ts";
import { fillNewFolder } from "../storage/newFolder.ts";
import { copyFileOver } from "../storage/writtenFiles.ts";
import { UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";
import { formatRowCount, writeDataset } from "./export/dataset.ts";

interface Engine {
  readonly name: "trl" | "verl";
  /** The file of the rows to train on, in the folder `data`. */
  readonly data: string;
  /** The programs of the folder by the modules of the Python package that they run. */
  readonly programs: Readonly<Record<string, string>>;
  /** All other files but data and tasks. */
  readonly createFiles: (
    target: EngineTarget,
    content: TrainingData,
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  readonly createRun: (
    target: EngineTarget,
    rows: number,
  ) => Omit<RunOptions, "startedAt" | "tasks">;
}

interface TrainingData {
  /** The name of the tasks file. */
  readonly tasks: string;
  /** The file of the rows to train on. */
  readonly file: string;
  /** How many they are. */
  readonly rows: number;
}

const trl: Engine = {
  name: "trl",
  data: "train.jsonl",
  programs: { "train.py": "train_trl", "launch.py": "launch_trl" },
  createFiles: async (target, { tasks, file }) => ({
    "config.json": formatJson(createTrlConfig(target, await measureLongestPrompt(file))),
    "accelerate.yaml": createAccelerateConfig(target.gpus),
    "requirements.txt": createTrlRequirements(target.gpus),
    "README.md": createTrlReadme(target, tasks),
    ...(hasDefaultTemplate(target.model) ? { "chat_template.jinja": defaultTemplate } : {}),
  }),
  createRun: createTrlRun,
};

const verl: Engine = {
  name: "verl",
  data: "train.parquet",
  programs: { "launch.py": "launch_verl" },
  createFiles: (target, { tasks, rows }) => ({
    "config.json": formatJson(createVerlConfig(target, rows)),
    "agent_loops.yaml": createAgentLoops(target),
    "requirements.txt": verlRequirements,
    "README.md": createVerlReadme(target, tasks),
  }),
  createRun: createVerlRun,
};

const engines = [trl, verl];

export const engineNames = engines.map(it => it.name);

/** The bytes of the longest prompt with its tools, in rows for TRL. */
async function measureLongestPrompt(file: string): Promise<number> {
  let longest = 0;
  for await (const { json } of readJsonLines(file)) {
    const { prompt, menu } = json as { prompt: Json; menu: string };
    const bytes = Buffer.byteLength(JSON.stringify(prompt)) + Buffer.byteLength(menu);
    longest = Math.max(longest, bytes);
  }
  return longest;
}

/** Whether the model in this folder is used with PROVE's own chat template. */
const hasDefaultTemplate = (model: string): boolean =>
  isAbsolute(model) && readHuggingFaceSettings(model).template === "default";

/** The Python package, which a folder has as its own copy: it then trains with the same code. */
const packageName = "prove_rl";

const createProgram = (module: string): string =>
  [
    "import sys",
    "",
    `from ${packageName}.prepared.${module} import main`,
    "",
    "sys.exit(main())",
    "",
  ].join("\n");

/** The syntax of calls of a model in a folder that reads tools as signatures. */
const findSignatureSyntax = (model: string): CallSyntax | undefined =>
  isAbsolute(model) && readHuggingFaceSettings(model).tools === "compact"
    ? (readModelFolder(model).chat.callSyntax as CallSyntax)
    : undefined;

const formatJson = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** What to prepare. Paths are relative to the current folder. */
interface EngineRequest {
  readonly engine: Engine["name"];
  readonly tasks: string;
  /** A folder, or a name on the Hugging Face hub. */
  readonly model: string;
  readonly out: string;
  /** 0 stands for the CPU. */
  readonly gpus: number;
  /** Trains adapters of this rank instead of all weights. */
  readonly loraRank?: number | undefined;
  /** With TRL; only GRPO if absent. */
  readonly stages?: readonly Stage[] | undefined;
  readonly profile: string;
  /** The folder of the workspace's own fixtures, which need not exist. Tasks may be on them. */
  readonly fixtures: string;
}

/** The service ends with launch.py, also if that is killed. */
const createServeCommand = (program: string, tasks: string): readonly string[] => {
  const options = ["--port", "0", "--with-parent", "--tasks", tasks];
  return [process.execPath, program, "serve", ...options];
};

/**
 * Writes the folder. Throws a `UserError` if it is not empty, if there are no tasks to train on, or
 * if verl should train on a CPU; nothing is left behind then.
 */
export async function prepareEngineFolder(
  context: AppContext,
  {
    engine: name,
    tasks,
    model,
    out,
    gpus,
    loraRank,
    stages = ["grpo"],
    profile,
    fixtures,
  }: EngineRequest,
): Promise<void> {
  const { cwd, program } = context;
  const engine = engines.find(it => it.name === name)!;
  if (engine === verl && gpus === 0)
    throw new UserError(
      "verl does not train on a CPU",
      "give the number of GPUs with --gpus, or prepare a training in trl",
    );
  if (engine === verl && stages.includes("sft"))
    throw new UserError(
      "the folder for verl has the stage grpo only",
      "prepare both stages in trl, or give the model that they made with --model",
    );
  const folder = resolve(cwd, out);
  const target: EngineTarget = {
    ...findModel(model, context),
    gpus,
    profile,
    loraRank,
    stages,
    serve: createServeCommand(program, basename(tasks)),
  };
  if (engine === verl && findSignatureSyntax(target.model) !== undefined)
    throw new UserError(
      `verl shows tools as JSON Schemas, and ${model} reads them as signatures`,
      "prepare the training in trl, or delete tools from prove.json in the model's folder",
    );
  await fillNewFolder(folder, () => writeFolder(context, { engine, target, tasks, out, fixtures }));
}

/**
 * The model by its absolute path, so that it is found from anywhere, or by its name on the hub.
 * Throws a `UserError` if it is a path at which there is no folder.
 */
function findModel(
  model: string,
  { cwd, printNote }: AppContext,
): { readonly model: string; readonly size: ModelSize } {
  const path = resolve(cwd, model);
  const remedy = `give the folder of a model in the format of Hugging Face, or a name on its hub such as ${paperModels[0]}`;
  if (existsSync(path)) {
    if (!statSync(path).isDirectory())
      throw new UserError(
        `${path} is not a folder`,
        path.endsWith(".gguf")
          ? "write it as one with prove-rl model --from-gguf FILE --out FOLDER, and give that"
          : remedy,
      );
    if (!["config.json", "adapter_config.json"].some(it => existsSync(join(path, it))))
      printNote(`${path} has no config.json: put the model there before you start the training`);
    return { model: path, size: readModelSize(path) };
  }
  if (!/^\w[\w.-]*(\/[\w.-]+)?$/.test(model))
    throw new UserError(`there is no model folder ${path}`, remedy);
  if (existsSync(dirname(path)) && dirname(path) !== cwd)
    printNote(`there is no folder ${path}: ${model} is taken for a name on the Hugging Face hub`);
  return { model, size: estimateModelSize(model) };
}

interface FolderContent {
  readonly engine: Engine;
  readonly target: EngineTarget;
  readonly tasks: string;
  readonly out: string;
  readonly fixtures: string;
}

async function writeFolder(
  context: AppContext,
  {
    engine: { name, data, programs, createFiles, createRun },
    target,
    tasks,
    out,
    fixtures,
  }: FolderContent,
): Promise<void> {
  const { cwd, resources } = context;
  const folder = resolve(cwd, out);
  const file = basename(tasks);
  const signatures = findSignatureSyntax(target.model);
  const rows = await exportTraining(context, {
    tasks,
    to: name,
    out: join(out, "data"),
    signatures,
  });
  if (target.stages.includes("sft") && rows > 0)
    await writeDataset(context, {
      tasks,
      to: "sft",
      out: join(out, "data/sft"),
      split: "train",
      signatures,
    });
  if (!existsSync(join(folder, "data", data)))
    throw new UserError(
      `${tasks} has no rows of the split train`,
      "give a file with tasks of that split; prove-rl report counts them",
    );
  withWriteErrors(folder, () => {
    copyFileOver(resolve(cwd, tasks), join(folder, file));
    cpSync(join(resources, "python", packageName), join(folder, packageName), {
      recursive: true,
      // the clone that the program runs in may have compiled modules
      filter: it => basename(it) !== "__pycache__",
    });
    // where the service finds them, which runs in this folder
    if (existsSync(fixtures))
      cpSync(fixtures, join(folder, "prove", "fixtures"), { recursive: true });
  });
  const run = createRunConfig({ ...createRun(target, rows), startedAt: new Date(), tasks: file });
  const files = {
    // lists the folder among the runs of a workspace, with the attempts of each step
    "run.json": formatJson(run),
    ...Object.fromEntries(
      Object.entries(programs).map(([file, module]) => [file, createProgram(module)]),
    ),
    ...(await createFiles(target, { tasks: file, file: join(folder, "data", data), rows })),
  };
  for (const [path, text] of Object.entries(files))
    writeFileAtomicallySync(join(folder, path), text);
  if (name === "trl") await noteMemory(context, target, join(folder, "data", data));
}

/** Says what a training takes of each GPU, and what to do if that does not fit. */
async function noteMemory(
  { print, printNote }: AppContext,
  target: EngineTarget,
  file: string,
): Promise<void> {
  const tokens = estimatePromptTokens(await measureLongestPrompt(file));
  const memory = describeTrlMemory(target, tokens);
  if (memory === undefined) return;
  print(memory.text);
  if (memory.remedy !== undefined) printNote(memory.remedy);
}

/** Writes the prompts of all splits. Returns the number of rows to train on. */
async function exportTraining(
  context: AppContext,
  options: {
    readonly tasks: string;
    readonly to: Engine["name"];
    readonly out: string;
    readonly signatures: CallSyntax | undefined;
  },
): Promise<number> {
  const folder = resolve(context.cwd, options.out);
  withWriteErrors(folder, () => mkdirSync(folder, { recursive: true }));
  const { tally, remarks } = await writeDataset(context, options);
  context.print(formatRowCount(tally, options.out));
  for (const it of remarks) context.printNote(it);
  return tally.rowsBySplit["train"] ?? 0;
}
