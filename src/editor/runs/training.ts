/**
 * Starts and controls training. The trainer runs in its own process and outlives the window; a
 * window that opens the folder later attaches to it.
 */
import { basename, dirname } from "node:path";
import { CancellationError, Uri, window, workspace, type Memento } from "vscode";
import type { FitResult } from "../../protocol/work.ts";
import { createRunConfigFrom } from "../../run/createRunConfig.ts";
import { createRun } from "../../run/folder.ts";
import { startTrainer } from "../../run/start.ts";
import { readStartModel, type StartModel } from "../../run/startModel.ts";
import {
  formatTrainingFile,
  readTrainingFile,
  trainingFileExtension,
  type TrainingSettings,
} from "../../run/trainingFile.ts";
import { UserError } from "../../userError.ts";
import { showProgress } from "../shared/notifications.ts";
import { createEnvironment, findNode } from "../shared/program.ts";
import { requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import { getSetting } from "../shared/settings.ts";
import { runStudentWork } from "../shared/work.ts";
import type { Synthesis } from "../synthesis/synthesis.ts";
import { studentTasks } from "../synthesis/synthesisPrompts.ts";
import type { TasksNode } from "../tasks/tasksNode.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import type { Evaluations } from "./evaluations.ts";
import { describeEvaluation } from "./evaluationText.ts";
import type { RunMonitor } from "./runMonitor.ts";
import type { RunPages, RunRequest } from "./runPages.ts";
import { pickRun, type RunChoice } from "./runPrompts.ts";
import { getRunName, type Runs } from "./runs.ts";
import type { RunsNode } from "./runsNode.ts";
import { listStudents } from "./studentChoices.ts";
import { describeRewards, describeTrainingEnd, reportProgress } from "./trainingProgress.ts";
import { pickTrainingFile } from "./trainingFiles.ts";
import { promptForTraining, type TasksSource } from "./trainingPrompts.ts";

/** The states in which each request is possible. */
const requestStates: Readonly<Record<RunRequest, RunChoice["states"]>> = {
  pause: ["training"],
  resume: ["paused", "stopped", "failed"],
  stop: ["starting", "training", "paused"],
};

export interface TrainingDependencies {
  readonly extensionUri: Uri;
  readonly folder: ProveFolder;
  readonly tasks: TasksTree;
  readonly synthesis: Synthesis;
  readonly runs: Runs;
  readonly evaluations: Evaluations;
  readonly workspaceState: Memento;
  /** Returns the run pages, which in turn send requests to training. */
  readonly getPages: () => RunPages;
}

export class Training {
  readonly #dependencies: TrainingDependencies;

  constructor(dependencies: TrainingDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Starts a run on a tasks file or from a training file and shows its page; without a file, the
   * user chooses a tasks file.
   */
  async start(node: TasksNode | Uri | undefined): Promise<void> {
    requireTrust("training");
    if (node instanceof Uri && node.fsPath.endsWith(trainingFileExtension))
      return this.#startFromFile(node);
    const tasks = node instanceof Uri ? node : node?.kind === "taskFile" ? node.file : undefined;
    const settings = await this.#askForSettings("Start Training", tasks);
    await this.#createRun(basename(settings.tasks, ".tasks.jsonl"), settings);
  }

  /** Starts a run from the training file in the active editor, or from one that the user chooses. */
  async startFromFile(): Promise<void> {
    requireTrust("training");
    const active = window.activeTextEditor?.document.uri;
    const isActive = active?.scheme === "file" && active.fsPath.endsWith(trainingFileExtension);
    await this.#startFromFile(isActive ? active : await pickTrainingFile());
  }

  /** Asks what Start Training asks, and writes the answers to a training file, which it opens. */
  async createFile(): Promise<void> {
    const { folder } = this.#dependencies;
    const settings = await this.#askForSettings("Create Training File", undefined);
    const name = basename(settings.tasks, ".tasks.jsonl");
    const file = await findUnused(n =>
      Uri.joinPath(
        folder.getPart("runs"),
        "..",
        `${n === 1 ? name : `${name}-${n}`}${trainingFileExtension}`,
      ),
    );
    const text = formatTrainingFile(settings, {
      folder: dirname(file.fsPath),
      models: this.#models,
    });
    await workspace.fs.writeFile(file, new TextEncoder().encode(text));
    await window.showTextDocument(file);
  }

  async #askForSettings(
    title: string,
    file: Uri | undefined,
  ): Promise<TrainingSettings & { readonly tasks: string }> {
    const { tasks: tree, runs, workspaceState } = this.#dependencies;
    const { tasks, student, onlyFitting, objective, profile, length } = await promptForTraining({
      title,
      tasks: file,
      listFiles: () => tree.listFiles(),
      sources: this.#sources,
      students: listStudents(this.#models, runs.list()),
      checkFit: (file, model) => this.#checkFit(file, model),
      workspaceState,
    });
    return {
      tasks: tasks.fsPath,
      model: student.folder,
      ...(onlyFitting ? { onlyFitting } : {}),
      ...length,
      profile,
      grpo: { objective },
    };
  }

  async #startFromFile(file: Uri): Promise<void> {
    await workspace.textDocuments.find(it => it.uri.fsPath === file.fsPath && it.isDirty)?.save();
    const settings = readTrainingFile(file.fsPath, this.#models);
    const { tasks } = settings;
    if (tasks === undefined)
      throw new UserError(
        `${basename(file.fsPath)} names no tasks to train on`,
        'add "tasks", the path of a tasks file relative to this file',
      );
    const name = basename(file.fsPath, trainingFileExtension);
    await this.#createRun(name, { ...settings, tasks });
  }

  async #createRun(
    name: string,
    { model, ...settings }: TrainingSettings & { readonly tasks: string },
  ): Promise<void> {
    const runs = this.#dependencies.folder.getPart("runs");
    const { fsPath } = await findUnused(n => Uri.joinPath(runs, `${name}-${n}`));
    const options = { startedAt: new Date(), ...settings };
    createRun(fsPath, createRunConfigFrom(readStartModel(model), options), model);
    await this.#runTrainer(fsPath);
  }

  /** Sends a request for the run of a node; without a node, the user chooses the run. */
  async requestFor(request: RunRequest, node: RunsNode | undefined): Promise<void> {
    const { runs } = this.#dependencies;
    const choice = {
      states: requestStates[request],
      whenNone: `there is no run to ${request}`,
    };
    const monitor = node?.monitor ?? (await pickRun(runs, `Which run to ${request}`, choice));
    await this.request(request, monitor);
  }

  /** Sends a request to the trainer; resuming a run without a trainer starts one. */
  async request(request: RunRequest, monitor: RunMonitor): Promise<void> {
    requireTrust("training");
    if (await monitor.attach()) return monitor.request(request);
    if (request !== "resume")
      throw new UserError(
        `${getRunName(monitor)} is not being trained`,
        "resume it, or choose a run that is being trained",
      );
    await this.#runTrainer(monitor.folder);
  }

  /** Starts the trainer on a run folder, shows its progress until it exits, and evaluates it. */
  async #runTrainer(runFolder: string): Promise<void> {
    const { extensionUri, folder, runs, getPages } = this.#dependencies;
    const node = await findNode(getSetting("node"));
    let end: "steps" | "time" | "stop" | undefined;
    await showProgress(`Training ${basename(runFolder)}`, async (progress, token) => {
      progress.report({ message: "starting", increment: 0 });
      const connection = await startTrainer({
        folder: runFolder,
        program: Uri.joinPath(extensionUri, "dist", "trainer.js").fsPath,
        fixtures: folder.fixtureFolders,
        node: node.path,
        env: createEnvironment(node),
      });
      // the monitor has its own connection
      connection.close();
      const monitor = runs.getMonitor(runFolder);
      const subscription = monitor.onChange(change => {
        if (change.kind === "finished") end = change.by;
      });
      try {
        await monitor.attach();
        getPages().show(monitor);
        await reportProgress(monitor, progress, token);
      } finally {
        subscription.dispose();
      }
    });
    if (end) await this.#announceEnd(runs.getMonitor(runFolder), end);
  }

  /** Announces the end of a training. One that ran to its end is evaluated before. */
  async #announceEnd(monitor: RunMonitor, by: "steps" | "time" | "stop"): Promise<void> {
    const { evaluations } = this.#dependencies;
    const end = describeTrainingEnd(monitor, by);
    if (by === "stop")
      return evaluations.announce(monitor, joinClauses(end, describeRewards(monitor)));
    try {
      await evaluations.evaluateRun(monitor);
      evaluations.announce(monitor, `${end}: ${describeEvaluation(monitor.evaluation!)}.`);
    } catch (error) {
      if (!(error instanceof UserError || error instanceof CancellationError)) throw error;
      const why = error instanceof UserError ? error.what : "you canceled it";
      const rewards = joinClauses(end, describeRewards(monitor));
      evaluations.announce(monitor, `${rewards} It was not evaluated: ${why}.`);
    }
  }

  /** The folder of the models that ship. */
  get #models(): string {
    return Uri.joinPath(this.#dependencies.folder.resources, "models").fsPath;
  }

  #checkFit(tasks: Uri, { name, folder: model }: StartModel): Promise<FitResult> {
    const { extensionUri, folder } = this.#dependencies;
    return runStudentWork(
      "checkFit",
      { tasks: tasks.fsPath, model, fixtures: folder.fixtureFolders },
      `Checking which tasks fit ${name}`,
      { dist: Uri.joinPath(extensionUri, "dist").fsPath, cwd: folder.resources.fsPath },
    );
  }

  /** Where the tasks of an empty folder come from. */
  get #sources(): readonly TasksSource[] {
    const { synthesis, tasks } = this.#dependencies;
    return [
      {
        label: studentTasks.label,
        description: studentTasks.description,
        create: () => synthesis.createStudentTasks(),
      },
      {
        label: "The example tasks",
        description: "copied into this folder",
        async create() {
          await synthesis.copyExample();
          const [copy] = await tasks.listFiles();
          if (!copy) throw new UserError("the example has no tasks", "synthesize some");
          return copy;
        },
      },
    ];
  }
}

/** A sentence of the end of a training and, if there is more to say, a second clause. */
const joinClauses = (first: string, second: string): string =>
  `${first}${second && `: ${second}`}.`;

/** The first path of a row that nothing has yet. */
async function findUnused(getPath: (n: number) => Uri): Promise<Uri> {
  for (let n = 1; ; n++) {
    const exists = await workspace.fs.stat(getPath(n)).then(
      () => true,
      () => false,
    );
    if (!exists) return getPath(n);
  }
}
