/**
 * Starts and controls training. The trainer runs in its own process and outlives the window; a
 * window that opens the folder later attaches to it.
 */
import { basename } from "node:path";
import { Uri, workspace } from "vscode";
import { createRunConfig } from "../../run/createRunConfig.ts";
import { createRun } from "../../run/folder.ts";
import { startTrainer } from "../../run/start.ts";
import { UserError } from "../../userError.ts";
import { icons } from "../shared/icons.ts";
import { showProgress } from "../shared/notifications.ts";
import { createEnvironment, findNode } from "../shared/program.ts";
import { requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import { askText, pickOne, createWholeNumberValidator } from "../shared/quickInput.ts";
import { getSetting } from "../shared/settings.ts";
import type { Synthesis } from "../synthesis/synthesis.ts";
import { pickTasksFile } from "../tasks/pickTasksFile.ts";
import type { TasksNode } from "../tasks/tasksNode.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import type { RunMonitor } from "./runMonitor.ts";
import type { RunPages, RunRequest } from "./runPages.ts";
import { pickRun, type RunChoice } from "./runPrompts.ts";
import { getRunName, type Runs } from "./runs.ts";
import type { RunsNode } from "./runsNode.ts";
import { announceEnd, reportProgress } from "./trainingProgress.ts";

/** The model that is part of the extension. */
const defaultModel = "small";

const title = "Start Training";

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
  /** Returns the run pages, which in turn send requests to training. */
  readonly getPages: () => RunPages;
}

export class Training {
  readonly #dependencies: TrainingDependencies;

  constructor(dependencies: TrainingDependencies) {
    this.#dependencies = dependencies;
  }

  /** Starts a run on a tasks file and shows its page; without a file, the user chooses one. */
  async start(node: TasksNode | Uri | undefined): Promise<void> {
    requireTrust("training");
    const { folder } = this.#dependencies;
    const runs = folder.getPart("runs");
    const tasks = await this.#resolveTasks(node);
    const steps = await askText(
      { title, text: "How many steps; training can be stopped and resumed at any time" },
      { value: "100", validate: createWholeNumberValidator(1, 100_000) },
    );
    const runFolder = await findUnusedFolder(runs, basename(tasks.fsPath, ".tasks.jsonl"));
    createRun(
      runFolder,
      createRunConfig({
        startedAt: new Date(),
        tasks: tasks.fsPath,
        from: defaultModel,
        steps: Number(steps),
      }),
      Uri.joinPath(folder.resources, "models", defaultModel).fsPath,
    );
    await this.#runTrainer(runFolder);
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

  /** Starts the trainer on a run folder and shows its progress until it exits. */
  async #runTrainer(runFolder: string): Promise<void> {
    const { extensionUri, folder, runs, getPages } = this.#dependencies;
    const node = await findNode(getSetting("node"));
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
        if (change.kind === "finished")
          announceEnd(monitor, change.by, () => getPages().show(monitor));
      });
      try {
        await monitor.attach();
        getPages().show(monitor);
        await reportProgress(monitor, progress, token);
      } finally {
        subscription.dispose();
      }
    });
  }

  async #resolveTasks(node: TasksNode | Uri | undefined): Promise<Uri> {
    if (node instanceof Uri) return node;
    if (node?.kind === "taskFile") return node.file;
    const { tasks, synthesis } = this.#dependencies;
    const question = { title, text: "Which tasks to train on" };
    const files = await tasks.listFiles();
    if (files.length > 0) return pickTasksFile(files, question);
    const example = {
      label: "The example tasks",
      description: "copied into this folder",
      iconPath: icons.taskFile,
    };
    await pickOne([example], question);
    await synthesis.copyExample();
    const [copy] = await tasks.listFiles();
    if (!copy) throw new UserError("the example has no tasks", "synthesize some");
    return copy;
  }
}

async function findUnusedFolder(runs: Uri, name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const folder = Uri.joinPath(runs, `${name}-${n}`);
    const exists = await workspace.fs.stat(folder).then(
      () => true,
      () => false,
    );
    if (!exists) return folder.fsPath;
  }
}
