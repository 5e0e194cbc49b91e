/** Asks for what a training in another engine needs: engine, tasks, model, GPUs and adapters. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { Memento, Uri } from "vscode";
import { paperModels } from "../../engine/target.ts";
import type { EngineWork } from "../../protocol/work.ts";
import { UserError } from "../../userError.ts";
import { icons } from "../shared/icons.ts";
import {
  askInSequence,
  askText,
  createWholeNumberValidator,
  pickOne,
} from "../shared/quickInput.ts";
import { pickTasksFile } from "../tasks/taskPrompts.ts";
import { chooseModelFolder } from "./pickStudent.ts";
import { moveToFront } from "./studentChoices.ts";

export type EngineChoices = Pick<
  EngineWork,
  "engine" | "tasks" | "model" | "gpus" | "loraRank" | "out"
>;

export interface EnginePromptContext {
  /** The tasks file, if the command was run on one. */
  readonly tasks: Uri | undefined;
  readonly listFiles: () => Promise<readonly Uri[]>;
  /** The folder of the workspace's runs. */
  readonly runs: string;
  readonly workspaceState: Memento;
}

const title = "Train on an Engine";
const storedKey = "prove.engine.last";

/** The answers, as they are stored for the next time. */
type StoredAnswers = Partial<Pick<EngineChoices, "engine" | "tasks" | "model" | "gpus">> & {
  readonly lora?: string;
};

const engines = [
  {
    label: "TRL",
    description: "accelerate, DeepSpeed and vLLM; tries small models on a CPU, too",
    engine: "trl",
  },
  { label: "verl", description: "Ray, FSDP and vLLM on GPUs; the paper's engine", engine: "verl" },
] as const;

/** Asks the questions. Throws a `CancellationError` on Escape. */
export async function promptForEngine({
  tasks: known,
  listFiles,
  runs,
  workspaceState,
}: EnginePromptContext): Promise<EngineChoices> {
  const stored = workspaceState.get<StoredAnswers>(storedKey) ?? {};
  const files = known ? [known] : await listFiles();
  if (files.length === 0)
    throw new UserError("there are no tasks to train on", "synthesize tasks first");
  let engine: EngineChoices["engine"] = "trl";
  let tasks = files[0]!.fsPath;
  let [model, gpus, lora, name] = ["", 0, "", ""];
  await askInSequence([
    async hasBack => {
      const items = moveToFront(engines, it => it.engine === stored.engine);
      ({ engine } = await pickOne(items, { title, hasBack, text: "Which engine" }));
    },
    async hasBack => {
      if (known) return false;
      const question = { title, hasBack, text: "Which tasks to train on" };
      tasks = (await pickTasksFile(files, question, stored.tasks)).fsPath;
      return true;
    },
    async hasBack => {
      model = await askModel(stored.model, hasBack);
    },
    async hasBack => {
      const least = engine === "verl" ? 1 : 0;
      const text = `How many GPUs${least === 0 ? "; 0 tries it out on a CPU" : ""}`;
      const answer = await askText(
        { title, hasBack, text },
        {
          value: String(Math.max(least, stored.gpus ?? 8)),
          validate: createWholeNumberValidator(least, 64),
        },
      );
      gpus = Number(answer);
    },
    async hasBack => {
      const validate = createWholeNumberValidator(1, 1024);
      lora = await askText(
        { title, hasBack, text: "Rank of LoRA adapters; empty to train all weights" },
        {
          value: stored.lora ?? "",
          placeholder: "all weights",
          validate: it => (it === "" ? undefined : validate(it)),
        },
      );
    },
    async hasBack => {
      name = await askText(
        { title, hasBack, text: `Name of the run, a folder in ${runs}` },
        { value: suggestName(runs, model, engine), validate: it => findNameProblem(runs, it) },
      );
    },
  ]);
  await workspaceState.update(storedKey, {
    engine,
    tasks,
    model,
    gpus,
    lora,
  } satisfies StoredAnswers);
  const loraRank = lora === "" ? {} : { loraRank: Number(lora) };
  return { engine, tasks, model, gpus, ...loraRank, out: join(runs, name) };
}

async function askModel(last: string | undefined, hasBack: boolean): Promise<string> {
  const names = [...new Set([...(last === undefined ? [] : [last]), ...paperModels])];
  const items = [
    ...names.map(model => ({
      label: model,
      iconPath: icons.checkpoint,
      choose: async () => model,
    })),
    { label: "Choose Folder…", choose: chooseModelFolder },
    { label: "Enter a Name on the Hugging Face Hub…", choose: askName },
  ];
  return (await pickOne(items, { title, hasBack, text: "Which model to train" })).choose();
}

const askName = (): Promise<string> =>
  askText(
    { title, text: "Name of the model, or the path of its folder" },
    {
      placeholder: paperModels[0]!,
      validate: it => (it.trim() === "" ? "enter a name" : undefined),
    },
  );

function suggestName(runs: string, model: string, engine: string): string {
  const base = `${basename(model).replaceAll(/[^\w.-]/g, "-")}-${engine}`;
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`;
    if (!existsSync(join(runs, name))) return name;
  }
}

export function findNameProblem(runs: string, name: string): string | undefined {
  if (!/^[\w.-]*\w[\w.-]*$/.test(name)) return "use letters, digits, dots, dashes and underscores";
  return existsSync(join(runs, name)) ? `there is a run ${name}` : undefined;
}
