/**
 * Trains with TRL or verl: asks for what the training needs, checks the packages of Python,
 * prepares a run folder, starts its `launch.py` as a process that ends with the window, and says
 * how it ended. The run's files show what the training does.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { type Disposable, env, type Memento, Uri, window } from "vscode";
import { z } from "zod";
import { formatAccelerateCommand, formatRayCommand, paperModels } from "../../engine/target.ts";
import { ProcessTree } from "../../mcp/processTree.ts";
import type { RunState } from "../../protocol/runPage.ts";
import type { EngineWork } from "../../protocol/work.ts";
import { createEngineConflict, readEngineLock } from "../../run/locks.ts";
import { clearEnd, readEnd, writeEnd } from "../../run/folder.ts";
import { findProgram } from "../../storage/processes.ts";
import { UserError } from "../../userError.ts";
import { icons } from "../shared/icons.ts";
import { showError, showInformation, showWarning } from "../shared/notifications.ts";
import { createEnvironment, findNode, runCountedWork } from "../shared/program.ts";
import { type ProveFolder, requireTrust } from "../shared/proveFolder.ts";
import {
  askInSequence,
  askText,
  createWholeNumberValidator,
  pickOne,
} from "../shared/quickInput.ts";
import { ActionableError, reportRejection } from "../shared/report.ts";
import { getSetting } from "../shared/settings.ts";
import { pickTasksFile } from "../tasks/taskPrompts.ts";
import type { TasksNode, TasksTree } from "../tasks/tasksTree.ts";
import { type EngineEnd, EngineProcess, getEngineLog, readLastLines } from "./engineProcess.ts";
import { chooseModelFolder, moveToFront } from "./studentChoices.ts";
import { engineTitles, type RunMonitor } from "./runMonitor.ts";
import type { RunPages, RunRequest } from "./runPages.ts";
import { pickRun } from "./runFiles.ts";
import { getRunName, type Runs } from "./runs.ts";
import type { RunsNode } from "./runsTree.ts";

interface EngineTrainingDependencies {
  readonly extensionUri: Uri;
  readonly folder: ProveFolder;
  readonly tasks: TasksTree;
  readonly runs: Runs;
  readonly workspaceState: Memento;
  readonly getPages: () => RunPages;
}

export class EngineTraining implements Disposable {
  readonly #dependencies: EngineTrainingDependencies;
  /** By run folder. */
  readonly #processes = new Map<string, EngineProcess>();

  constructor(dependencies: EngineTrainingDependencies) {
    this.#dependencies = dependencies;
  }

  /** Asks for the options, writes a run folder, and offers to start it. */
  async prepare(node: TasksNode | Uri | undefined): Promise<void> {
    requireTrust("training");
    const { extensionUri, folder, tasks, runs, workspaceState, getPages } = this.#dependencies;
    const choices = await promptForEngine({
      tasks: node instanceof Uri ? node : node?.kind === "taskFile" ? node.file : undefined,
      listFiles: () => tasks.listFiles(),
      runs: folder.getPart("runs").fsPath,
      workspaceState,
    });
    const name = basename(choices.out);
    await runCountedWork(
      "prepareEngine",
      { ...choices, profile: getSetting("rewardProfile"), fixtures: folder.fixtureFolders },
      `Preparing ${name}`,
      { dist: Uri.joinPath(extensionUri, "dist").fsPath, cwd: folder.workspacePath },
    );
    runs.refresh();
    const monitor = runs.getMonitor(choices.out);
    getPages().show(monitor);
    reportRejection(this.#offerStart(monitor));
  }

  async #offerStart(monitor: RunMonitor): Promise<void> {
    const text = `${getRunName(monitor)} is ready to be trained with ${getTitle(monitor)}.`;
    const answer = await showInformation(text, "Start Here", "Copy Launch Command");
    if (answer === "Start Here") await this.start(monitor);
    if (answer === "Copy Launch Command") await this.copyCommand({ kind: "run", monitor });
  }

  /** Copies the command that starts the training on other machines. */
  async copyCommand(node: RunsNode | undefined): Promise<void> {
    const monitor = node?.monitor ?? (await this.#pick("Which run's command to copy"));
    const { folder, config } = monitor;
    requireEngine(monitor);
    const format = config.engine === "verl" ? formatRayCommand : formatAccelerateCommand;
    await env.clipboard.writeText(format(folder));
    const answer = await showInformation(
      "Copied. The training needs a service that it can reach; the README of the run says how to start one.",
      "Open README",
    );
    if (answer) await window.showTextDocument(Uri.joinPath(Uri.file(folder), "README.md"));
  }

  /** Starts or stops the training of a run. */
  async request(request: RunRequest, monitor: RunMonitor): Promise<void> {
    if (request === "resume") return this.start(monitor);
    const running = this.#processes.get(monitor.folder);
    if (request === "pause")
      throw new UserError(
        `${getTitle(monitor)} cannot be paused`,
        "stop it; when it is started again, it goes on from its last checkpoint",
      );
    if (running) {
      monitor.setEngineState("stopping");
      return running.stop();
    }
    const pid = readEngineLock(monitor.folder);
    if (pid === undefined)
      throw new UserError(
        `this window has not started ${getRunName(monitor)}`,
        "stop it where it was started",
      );
    // the window that has started it records the end
    new ProcessTree(pid).kill("SIGINT");
  }

  /**
   * Starts the training of a run here. Throws a `UserError` if Python or a package is missing.
   */
  async start(monitor: RunMonitor): Promise<void> {
    requireTrust("training");
    const { folder } = monitor;
    this.#checkIdle(monitor);
    const node = await findNode(getSetting("node"));
    const python = await findEnginePython(getSetting("python"), folder);
    if (python.differences.length > 0) {
      const text = `${getRunName(monitor)} was not tested with these packages: ${python.differences.join(", ")}.`;
      if ((await showWarning(text, "Start Anyway")) === undefined) return;
    }
    // it may have been started meanwhile
    this.#checkIdle(monitor);
    clearEnd(folder);
    const started = new EngineProcess({
      python: python.path,
      folder,
      env: createEnvironment(node),
    });
    this.#processes.set(folder, started);
    monitor.setEngineState("training");
    this.#dependencies.getPages().show(monitor);
    reportRejection(this.#follow(monitor, started));
  }

  /** Opens the log of a run. */
  async showLog(monitor: RunMonitor | undefined): Promise<void> {
    const { folder } = monitor ?? (await this.#pick("Which run's log to show"));
    const file = getEngineLog(folder);
    if (!existsSync(file))
      throw new UserError(
        `${basename(folder)} has no log`,
        "it was not started in this editor; look where launch.py was started",
      );
    await window.showTextDocument(Uri.file(file));
  }

  /** The trainings end with the window. Each goes on from its last checkpoint when started again. */
  dispose(): void {
    for (const it of this.#processes.values()) it.kill();
  }

  #pick(question: string): Promise<RunMonitor> {
    return pickRun(this.#dependencies.runs, question, {
      states: engineStates,
      whenNone: "there is no run yet",
      isPossible: it => it.config.engine !== undefined,
    });
  }

  #checkIdle({ folder }: RunMonitor): void {
    if (this.#processes.has(folder))
      throw new UserError(`${basename(folder)} is being trained already`, "stop it first");
    const pid = readEngineLock(folder);
    if (pid !== undefined) throw createEngineConflict(folder, pid);
  }

  async #follow(monitor: RunMonitor, started: EngineProcess): Promise<void> {
    const end = await started.ended;
    const { folder } = monitor;
    this.#processes.delete(folder);
    if (existsSync(folder)) recordEnd(monitor, end);
    monitor.setEngineState(undefined);
    const { state, activity } = monitor.status;
    const name = getRunName(monitor);
    if (state === "finished") void showInformation(`${name}: ${activity}.`);
    if (state !== "failed") return;
    const answer = await showError(`${name}: ${activity}.`, "Resume", "Show Log");
    if (answer === "Resume") await this.start(monitor);
    if (answer === "Show Log") await this.showLog(monitor);
  }
}

/** Writes how a training ended, unless the engine did. */
function recordEnd(monitor: RunMonitor, { code, signal, reason, isStopped }: EngineEnd): void {
  const { folder } = monitor;
  monitor.readFiles();
  const { step } = monitor.status;
  const isInterrupted = isStopped || code === 130 || signal === "SIGINT";
  if (isInterrupted) return writeEnd(folder, { by: "stop", step });
  if (code === 0) {
    if (!readEnd(folder)) writeEnd(folder, { by: "steps", step });
    return;
  }
  const lines = readLastLines(folder, 3).join(" / ").slice(-400);
  const why = signal === "SIGKILL" ? ", which the system does when no memory is left" : "";
  const what = `${getTitle(monitor)} ${reason}${why}${lines && `: ${lines}`}`;
  writeEnd(folder, { by: "failed", step, what, remedy: "the log has the whole output" });
}

/** The states that a run of TRL or verl can be in while its folder can be read. */
const engineStates: readonly RunState[] = [
  "ready",
  "starting",
  "training",
  "stopping",
  "stopped",
  "interrupted",
  "finished",
  "failed",
  "unknown",
];

function requireEngine(monitor: RunMonitor): void {
  if (monitor.config.engine === undefined)
    throw new UserError(
      `${getRunName(monitor)} is trained by PROVE itself`,
      "choose a run that was prepared for TRL or verl",
    );
}

const getTitle = ({ config }: RunMonitor): string => engineTitles[config.engine ?? "trl"];

type EngineChoices = Pick<EngineWork, "engine" | "tasks" | "model" | "gpus" | "loraRank" | "out">;

interface EnginePromptContext {
  /** The tasks file, if the command was run on one. */
  readonly tasks: Uri | undefined;
  readonly listFiles: () => Promise<readonly Uri[]>;
  /** The folder of the workspace's runs. */
  readonly runs: string;
  readonly workspaceState: Memento;
}

const title = "Train with TRL or verl";
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
  {
    label: "verl",
    description: "Ray, FSDP and vLLM on GPUs; the framework of the paper",
    engine: "verl",
  },
] as const;

/** Asks the questions. Throws a `CancellationError` on Escape. */
async function promptForEngine({
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
      ({ engine } = await pickOne(items, { title, hasBack, text: "Which training framework" }));
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

/** A line of requirements.txt: `trl[vllm]==1.9.0`. */
const requirement = /^([\w.-]+)(?:\[([\w,-]+)\])?(?:==(\S+))?/;

/** Names the versions that a Python has of the packages that it gets as arguments. */
const program = `
import json, sys
found = {}
if sys.version_info >= (3, 10):
    from importlib import metadata
    for name in sys.argv[1:]:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
print(json.dumps({"version": ".".join(map(str, sys.version_info[:3])), "isNew": sys.version_info >= (3, 10), "found": found}))
`;

const answerSchema = z.object({
  version: z.string(),
  isNew: z.boolean(),
  found: z.record(z.string(), z.string()),
});

interface EnginePython {
  readonly path: string;
  /** Packages in other versions than those that were tested, such as "trl 1.18.0 instead of 1.9.0". */
  readonly differences: readonly string[];
}

const settingsButton = {
  title: "Open Settings",
  command: "workbench.action.openSettings",
  arguments: ["prove.python"],
};

/**
 * The Python that the setting names, or else the one on the PATH. Throws an `ActionableError` if it
 * does not exist, is too old, or lacks packages of a run folder's requirements.txt.
 */
export async function findEnginePython(chosen: string, folder: string): Promise<EnginePython> {
  const names = process.platform === "win32" ? ["python"] : ["python3", "python"];
  const path = (chosen ? [chosen] : names)
    .map(it => findProgram(it, homedir()))
    .find(it => it !== undefined);
  if (path === undefined)
    throw new ActionableError(
      chosen
        ? `the setting prove.python names ${chosen}, which is not on the PATH`
        : `there is no ${names[0]} on the PATH`,
      "install Python 3.10 or later, or give its path in the setting prove.python",
      settingsButton,
    );
  const requirements = listRequirements(readFileSync(join(folder, "requirements.txt"), "utf8"));
  const { version, isNew, found } = await askPython(path, [...requirements.keys()]);
  if (!isNew)
    throw new ActionableError(
      `${path} is Python ${version}, but 3.10 or later is required`,
      "give the path of a newer one in the setting prove.python",
      settingsButton,
    );
  const missing = [...requirements.keys()].filter(it => !Object.hasOwn(found, it));
  if (missing.length > 0) {
    const command = `${path} -m pip install -r ${join(folder, "requirements.txt")}`;
    throw new ActionableError(
      `${path} has no ${missing.join(", ")}`,
      `run ${command}, or give the path of another Python in the setting prove.python`,
      { title: "Open in Terminal", command: "prove.openInTerminal", arguments: [command] },
    );
  }
  const differences = [...requirements].flatMap(([name, tested]) =>
    tested === undefined || removeBuild(found[name]) === tested
      ? []
      : [`${name} ${found[name]} instead of ${tested}`],
  );
  return { path, differences };
}

/** A version without the name of its build, such as `cpu` in 2.13.0+cpu. */
const removeBuild = (version: string | undefined) => version?.split("+", 1)[0];

/** The packages of a requirements.txt, extras included, with the version if there is one. */
export function listRequirements(text: string): ReadonlyMap<string, string | undefined> {
  const packages = new Map<string, string | undefined>();
  for (const line of text.split("\n")) {
    const [, name, extras, version] = requirement.exec(line.trim()) ?? [];
    if (name === undefined) continue;
    packages.set(name, version);
    for (const it of extras?.split(",") ?? []) packages.set(it, undefined);
  }
  return packages;
}

async function askPython(
  path: string,
  names: readonly string[],
): Promise<z.infer<typeof answerSchema>> {
  try {
    // -E and the folder: modules of the workspace are not loaded
    const { stdout } = await promisify(execFile)(path, ["-E", "-c", program, ...names], {
      cwd: homedir(),
      timeout: 60_000,
      windowsHide: true,
    });
    return answerSchema.parse(JSON.parse(stdout));
  } catch (cause) {
    throw new ActionableError(
      `${path} cannot be used as Python (${(cause as Error).message.split("\n", 1)[0]})`,
      "give the path of Python 3.10 or later in the setting prove.python",
      settingsButton,
      { cause },
    );
  }
}
