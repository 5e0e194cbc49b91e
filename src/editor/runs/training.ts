/**
 * Starts and controls training. The trainer runs in its own process and outlives the window; a
 * window that opens the folder later attaches to it.
 */
import { basename, dirname } from "node:path";
import { CancellationError, Uri, window, workspace } from "vscode";
import { createRunConfigFrom } from "../../run/createRunConfig.ts";
import { createRun, extendRun, measureTraining } from "../../run/folder.ts";
import { startTrainer } from "../../run/start.ts";
import { readStartModel } from "../../run/startModel.ts";
import {
  formatTrainingFile,
  readTrainingFile,
  trainingFileExtension,
} from "../../run/trainingFile.ts";
import { UserError } from "../../userError.ts";
import { icons } from "../shared/icons.ts";
import { showInformation, showViewProgress } from "../shared/notifications.ts";
import { createEnvironment, findNode } from "../shared/program.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import { pickOne } from "../shared/quickInput.ts";
import { ActionableError } from "../shared/report.ts";
import { formatReward } from "../shared/rewardText.ts";
import { getSetting } from "../shared/settings.ts";
import { formatCount, formatList } from "../shared/text.ts";
import type { TasksNode } from "../tasks/tasksTree.ts";
import type { EngineTraining } from "./engineTraining.ts";
import type { Evaluations } from "./evaluations.ts";
import { canRepeat, createSeededRuns } from "./newSeeds.ts";
import { confirmPlan, type PlanDocuments } from "./planPrompt.ts";
import { pickRun, type RunChoice } from "./runFiles.ts";
import type { RunMonitor } from "./runMonitor.ts";
import type { RunPages, RunRequest } from "./runPages.ts";
import { describeEvaluation } from "./runText.ts";
import { describeFailure, getRunName } from "./runs.ts";
import type { RunsNode } from "./runsTree.ts";
import { askTrainingLength, type OtherTraining } from "./trainingPrompts.ts";
import type { TrainingQueue } from "./trainingQueue.ts";
import {
  askForSettings,
  getModelsFolder,
  type SettingsDependencies,
  type SettingsWithTasks,
} from "./trainingSettings.ts";

/** In the state of the workspace: the folder of the training that this window started last. */
const startedKey = "prove.startedTraining";

/** The states in which each request is possible. */
const requestStates: Readonly<Record<RunRequest, RunChoice["states"]>> = {
  pause: ["training"],
  resume: ["ready", "paused", "stopped", "interrupted", "failed", "queued"],
  stop: ["starting", "training", "paused"],
};

interface TrainingDependencies extends SettingsDependencies {
  readonly evaluations: Evaluations;
  /** Trains the runs of other engines. */
  readonly engines: EngineTraining;
  /** Shows what a training needs. */
  readonly plans: PlanDocuments;
  /** Returns the queue, which in turn has its runs trained. */
  readonly getQueue: () => TrainingQueue;
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
    const others = this.#listOthers(tasks);
    const settings = await askForSettings(this.#dependencies, "Start Training", tasks, others);
    await this.#createRun(basename(settings.tasks, ".tasks.jsonl"), settings);
  }

  /** The ways to train that Start Training offers besides its own. */
  #listOthers(tasks: Uri | undefined): readonly OtherTraining[] {
    const { runs, engines } = this.#dependencies;
    const hasCheckpoint = runs.list().some(it => it.checkpoints.length > 0);
    return [
      ...(hasCheckpoint
        ? [
            {
              label: "Continue a run…",
              description: "more steps from its last checkpoint",
              start: () => this.extend(undefined),
            },
            {
              label: "Repeat a run with new seeds…",
              description: "to tell an effect from chance",
              start: () => this.trainAgain(undefined),
            },
          ]
        : []),
      {
        label: "From a training file…",
        description: "all settings, also supervised fine-tuning",
        start: () => this.startFromFile(),
      },
      {
        label: "With TRL or verl…",
        description: "a Hugging Face model in Python, on GPUs or to try out on the processor",
        start: () => engines.prepare(tasks),
      },
    ];
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
    const settings = await askForSettings(this.#dependencies, "Create Training File", undefined);
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

  async #createRun(name: string, { model, ...settings }: SettingsWithTasks): Promise<void> {
    const runs = this.#dependencies.folder.getPart("runs");
    const findFolder = async () =>
      (await findUnused(n => Uri.joinPath(runs, `${name}-${n}`))).fsPath;
    const start = readStartModel(model);
    const config = createRunConfigFrom(start, { startedAt: new Date(), ...settings });
    // a small student takes seconds a step, and fits any machine
    if (start.kind === "hugging-face") {
      const choice = await confirmPlan(config, model, this.#dependencies);
      if (choice === "details") return;
    }
    const time = await this.#askStartTime(await findFolder());
    // another window may have taken the name meanwhile
    const created = await findFolder();
    createRun(created, config, model);
    await this.#begin(created, time);
  }

  /** Sends a request for the run of a node; without a node, the user chooses the run. */
  async requestFor(request: RunRequest, node: RunsNode | undefined): Promise<void> {
    const { runs } = this.#dependencies;
    const choice = {
      states: requestStates[request],
      whenNone: `there is no run to ${request}`,
      isAlwaysAsked: request === "resume",
    };
    const monitor = node?.monitor ?? (await pickRun(runs, `Which run to ${request}`, choice));
    await this.request(request, monitor);
  }

  /** Goes on with a run that has ended; without a node, the user chooses the run. */
  async extend(node: RunsNode | undefined): Promise<void> {
    const choice: RunChoice = {
      states: ["finished"],
      whenNone: "no training has ended that could go on",
      isPossible: it => it.config.engine === undefined && it.checkpoints.length > 0,
    };
    const { runs } = this.#dependencies;
    await this.request(
      "resume",
      node?.monitor ?? (await pickRun(runs, "Which run to train longer", choice)),
    );
  }

  /**
   * Trains a run again with other seeds, one training after the other; without a node, the user
   * chooses the run.
   */
  async trainAgain(node: RunsNode | undefined): Promise<void> {
    requireTrust("training");
    const { runs, getQueue } = this.#dependencies;
    const monitor =
      node?.monitor ??
      (await pickRun(runs, "Which run to train again", {
        whenNone: "there is no training that could be repeated",
        isPossible: canRepeat,
      }));
    const title = `Train ${getRunName(monitor)} Again With New Seeds`;
    const { count } = await pickOne(seedCounts, { title, text: "How many trainings" });
    const isBusy = runs.listAttached().length > 0;
    const folders = createSeededRuns(monitor, runs.list(), count);
    const names = formatList(folders.map(it => basename(it)));
    for (const it of folders) getQueue().add(it, "last");
    // otherwise the queue says that the first one starts
    if (isBusy)
      void showInformation(
        `Queued: ${names}. ${count === 1 ? "It starts" : "They start"} when the trainings before ${count === 1 ? "it" : "them"} have ended.`,
      );
  }

  /**
   * Sends a request to the trainer; resuming a run without a trainer starts one, after a question
   * for how much longer if the run has ended. A queued run is started or removed from the queue.
   */
  async request(request: RunRequest, monitor: RunMonitor): Promise<void> {
    requireTrust("training");
    const { state, activity } = monitor.status;
    if (state === "unreadable")
      throw new UserError(
        `${getRunName(monitor)} cannot be trained: ${activity}`,
        "restore the folder",
      );
    if (monitor.config.engine !== undefined)
      return this.#dependencies.engines.request(request, monitor);
    if (await monitor.attach()) return monitor.request(request);
    const { folder } = monitor;
    if (request === "stop" && monitor.queuePosition !== undefined)
      return this.#dependencies.getQueue().remove(folder);
    if (request !== "resume")
      throw new UserError(
        `${getRunName(monitor)} is not being trained`,
        "resume it, or choose a run that is being trained",
      );
    // the example's run has none
    if (monitor.checkpoints.length === 0)
      throw new ActionableError(
        `${getRunName(monitor)} has no checkpoint, so that it cannot go on`,
        "start a new training",
        { title: "Start Training", command: "prove.startTraining" },
      );
    const question = {
      title: "Train Longer",
      text: `How much longer to train ${getRunName(monitor)}`,
    };
    const more = state === "finished" ? await askTrainingLength(question) : undefined;
    const time = await this.#askStartTime(folder);
    if (more) {
      const { steps, seconds } = measureTraining(folder);
      extendRun(
        folder,
        "steps" in more ? { steps: steps + more.steps } : { seconds: seconds + more.seconds },
      );
      monitor.readFiles();
    }
    await this.#begin(folder, time);
  }

  /** Starts a queued run, after a question if another one is being trained. */
  async startQueued(node: RunsNode | undefined): Promise<void> {
    await this.request("resume", node?.monitor ?? (await this.#pickQueued("start")));
  }

  /** Removes a run from the queue. It can be resumed later. */
  async removeFromQueue(node: RunsNode | undefined): Promise<void> {
    const monitor = node?.monitor ?? (await this.#pickQueued("remove from the queue"));
    this.#dependencies.getQueue().remove(monitor.folder);
  }

  #pickQueued(action: string): Promise<RunMonitor> {
    return pickRun(this.#dependencies.runs, `Which queued run to ${action}`, {
      states: ["queued"],
      whenNone: "no training is queued",
    });
  }

  #askStartTime(runFolder: string): Promise<StartTime> {
    const { runs, getQueue } = this.#dependencies;
    const isQueued = getQueue().has(runFolder);
    return askStartTime(basename(runFolder), runs.listAttached(), { isQueued });
  }

  async #begin(runFolder: string, time: StartTime): Promise<void> {
    const { runs, getQueue } = this.#dependencies;
    const queue = getQueue();
    switch (time) {
      case "now":
        return queue.train(runFolder);
      case "queued":
        queue.add(runFolder, "last");
        void showInformation(
          `${basename(runFolder)} is queued. It starts when the trainings before it have ended.`,
        );
        return;
      case "afterStop":
        queue.add(runFolder, "first");
        for (const it of runs.listAttached()) await it.request("stop");
        return;
      default:
        throw new Error(`unknown start time ${JSON.stringify(time satisfies never)}`);
    }
  }

  /**
   * Follows the training that this window had started before it was reloaded, if it still runs and
   * no other window follows it, as if it had been started now.
   */
  async followEarlier(): Promise<void> {
    const { runs, workspaceState, getQueue } = this.#dependencies;
    const started = workspaceState.get<string>(startedKey);
    const monitor = runs.list().find(it => it.folder === started);
    if (monitor && workspace.isTrusted && (await monitor.attach()))
      await getQueue().follow(monitor.folder);
  }

  /**
   * Starts the trainer on a run folder if it does not run yet, waits until it exits,
   * evaluates it and announces its end. The result is false if there was no end to announce.
   */
  async train(runFolder: string): Promise<boolean> {
    const { runs, workspaceState, getPages } = this.#dependencies;
    const monitor = runs.getMonitor(runFolder);
    const isRunning = await monitor.attach();
    await workspaceState.update(startedKey, runFolder);
    let end: "steps" | "time" | "stop" | undefined;
    // the status bar, the view and the page show how far it is, and can stop it
    await showViewProgress("prove.runs", async () => {
      if (!isRunning) await this.#startTrainer(monitor);
      const subscription = monitor.onChange(change => {
        if (change.kind === "finished") end = change.by;
      });
      try {
        await monitor.attach();
        if (!isRunning) getPages().show(monitor);
        await waitUntilDetached(monitor);
      } finally {
        subscription.dispose();
      }
    });
    if (end) await this.#announceEnd(monitor, end);
    return end !== undefined;
  }

  async #startTrainer(monitor: RunMonitor): Promise<void> {
    const { extensionUri, folder } = this.#dependencies;
    monitor.setStarting(true);
    try {
      const node = await findNode(getSetting("node"));
      const connection = await startTrainer({
        folder: monitor.folder,
        program: Uri.joinPath(extensionUri, "dist", "trainer.js").fsPath,
        fixtures: folder.fixtureFolders,
        node: node.path,
        env: createEnvironment(node),
      });
      // the monitor has its own connection
      await monitor.attach();
      connection.close();
    } catch (error) {
      monitor.setStarting(false);
      monitor.readFiles();
      const hasDied = monitor.status.state === "failed" || monitor.status.state === "interrupted";
      throw hasDied && error instanceof UserError ? describeFailure(monitor, error) : error;
    } finally {
      monitor.setStarting(false);
    }
  }

  /** Announces the end of a training. One that ran to its end is evaluated before, unless set so. */
  async #announceEnd(monitor: RunMonitor, by: "steps" | "time" | "stop"): Promise<void> {
    const { evaluations, getQueue } = this.#dependencies;
    const announce = (text: string) => {
      const { next } = getQueue();
      evaluations.announce(monitor, next === undefined ? text : `${text} ${next} is next.`);
    };
    const end = describeTrainingEnd(monitor, by);
    if (by === "stop" || !getSetting("evaluateAtEnd"))
      return announce(joinClauses(end, describeRewards(monitor)));
    try {
      await evaluations.evaluateRun(monitor);
      announce(`${end}: ${describeEvaluation(monitor.evaluation!)}.`);
    } catch (error) {
      if (!(error instanceof UserError || error instanceof CancellationError)) throw error;
      const why = error instanceof UserError ? error.what : "you canceled it";
      const rewards = joinClauses(end, describeRewards(monitor));
      announce(`${rewards} It was not evaluated: ${why}.`);
    }
  }

  /** The folder of the models that ship. */
  get #models(): string {
    return getModelsFolder(this.#dependencies.folder);
  }
}

const seedCounts = [
  { label: "Three", description: "enough to see how much chance does", count: 3 },
  { label: "One", description: "", count: 1 },
  { label: "Five", description: "", count: 5 },
].map(it => ({ ...it, iconPath: icons.metrics }));

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

/** Throws a `UserError` if the workspace has none, and a `CancellationError` on Escape. */
async function pickTrainingFile(): Promise<Uri> {
  const files = await workspace.findFiles(`**/*${trainingFileExtension}`, "**/node_modules/**");
  if (files.length === 0)
    throw new UserError(
      `there is no training file (*${trainingFileExtension}) in this folder`,
      "write one with PROVE: Create Training File…",
    );
  const items = files
    .toSorted((a, b) => a.fsPath.localeCompare(b.fsPath))
    .map(file => ({
      label: basename(file.fsPath, trainingFileExtension),
      description: workspace.asRelativePath(file),
      iconPath: icons.taskFile,
      file,
    }));
  const question = { title: "Start Training From File", text: "Which training to start" };
  return (await pickOne(items, question)).file;
}

/** Resolves when the trainer has exited. */
const waitUntilDetached = (monitor: RunMonitor): Promise<void> =>
  new Promise(resolve => {
    const check = () => {
      if (monitor.isAttached) return;
      subscription.dispose();
      resolve();
    };
    const subscription = monitor.onChange(check);
    // the trainer may have exited before the subscription
    check();
  });

/** Says how a training ended, such as "few-1 has finished after 52 steps". */
function describeTrainingEnd(monitor: RunMonitor, by: "steps" | "time" | "stop"): string {
  const n = monitor.steps.length;
  const when = n === 0 ? "before its first step" : `after ${formatCount(n, "step")}`;
  return `${getRunName(monitor)} ${by === "stop" ? "was stopped" : "has finished"} ${when}`;
}

/** The first and the last reward of a training, which tell less than an evaluation. */
function describeRewards({ steps }: RunMonitor): string {
  const rewards = steps.filter(it => it.method === "grpo").map(it => it.reward.mean);
  return rewards.length
    ? `first reward ${formatReward(rewards[0]!)}, last reward ${formatReward(rewards.at(-1)!)}`
    : "";
}

/** `afterStop`: the trainings that run are stopped, and it starts when they have ended. */
type StartTime = "now" | "queued" | "afterStop";

/** When to start `name`. Asks only if trainings are active. */
async function askStartTime(
  name: string,
  active: readonly RunMonitor[],
  { isQueued }: { readonly isQueued: boolean },
): Promise<StartTime> {
  if (active.length === 0) return "now";
  const names = formatList(active.map(getRunName));
  const [is, has] = active.length === 1 ? ["is", "has"] : ["are", "have"];
  const items = [
    {
      label: "Add to the queue",
      description: `${name} starts when ${names} ${has} ended`,
      time: "queued",
    },
    {
      label: `Stop ${names}`,
      description: `${name} starts then; ${names} can be resumed`,
      time: "afterStop",
    },
    {
      label: "Train at the same time",
      description: "they share the processor, so that each takes longer",
      time: "now",
    },
  ] as const;
  const { time } = await pickOne(isQueued ? items.slice(1) : items, {
    title: `Train ${name}`,
    text: `${names} ${is} being trained`,
  });
  return time;
}
