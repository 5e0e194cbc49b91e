/**
 * Training from the editor: chooses tasks, starts the trainer in a process of its own, shows how
 * far it is, and asks it to pause, go on or stop. The trainer outlives the window; whoever opens
 * the folder again finds it. Knows nothing of how training works.
 */
import { basename } from "node:path";
import {
  CancellationError,
  ProgressLocation,
  Uri,
  window,
  workspace,
  type CancellationToken,
  type Progress,
} from "vscode";
import { UserError } from "../../userError.ts";
import { createRunConfig } from "../../run/createRunConfig.ts";
import { createRun } from "../../run/folder.ts";
import { startTrainer } from "../../run/start.ts";
import { icons } from "../shared/icons.ts";
import { createEnvironment, findNode } from "../shared/program.ts";
import { requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import { askText, wholeNumberValidator } from "../shared/quickInput.ts";
import { ActionableError, reportRejection } from "../shared/report.ts";
import type { RunPages } from "./runPages.ts";
import { getRunName, type Runs } from "./runs.ts";
import type { RunsNode } from "./runsTree.ts";
import type { RunMonitor } from "./runMonitor.ts";
import { getSetting } from "../shared/settings.ts";
import type { Synthesis } from "../synthesis/synthesis.ts";
import type { TasksNode } from "../tasks/tasksNode.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";

export type TrainingRequest = "pause" | "resume" | "stop";

export class Training {
  readonly #extension: Uri;
  readonly #folder: ProveFolder;
  readonly #tasks: TasksTree;
  readonly #synthesis: Synthesis;
  readonly #runs: Runs;
  readonly #pages: RunPages;

  constructor(
    extension: Uri,
    folder: ProveFolder,
    tasks: TasksTree,
    synthesis: Synthesis,
    runs: Runs,
    pages: RunPages,
  ) {
    this.#extension = extension;
    this.#folder = folder;
    this.#tasks = tasks;
    this.#synthesis = synthesis;
    this.#runs = runs;
    this.#pages = pages;
    pages.request = (request, monitor) => this.request(request, monitor);
  }

  /**
   * Starts a run on a task file, the one given or one that the person picks, and shows its page.
   */
  async start(on: TasksNode | Uri | undefined): Promise<void> {
    requireTrust("training");
    const runs = this.#folder.getPart("runs");
    const file =
      on instanceof Uri ? on : on?.kind === "taskFile" ? on.file : await this.#pickTasks();
    const steps = Number(
      await askText(
        {
          title: "Start Training",
          text: "How many steps; training can be stopped and gone on with at any time",
        },
        { value: "100", validate: wholeNumberValidator(1, 100_000) },
      ),
    );
    const folder = await findUnusedFolder(runs, basename(file.fsPath, ".tasks.jsonl"));
    createRun(
      folder,
      createRunConfig({
        startedAt: new Date(),
        tasks: file.fsPath,
        from: defaultModel,
        steps,
      }),
      Uri.joinPath(this.#folder.resources, "models", defaultModel).fsPath,
    );
    await this.#runTrainer(folder);
  }

  /** Passes a request on to the trainer of a run; a run that no trainer holds is gone on with. */
  async requestFor(request: TrainingRequest, node: RunsNode | undefined): Promise<void> {
    const monitor = node ? node.monitor : await this.#pickRun(request);
    await this.request(request, monitor);
  }

  async request(request: TrainingRequest, monitor: RunMonitor): Promise<void> {
    requireTrust("training");
    if (await monitor.attach()) return monitor.request(request);
    if (request !== "resume")
      throw new UserError(
        `${getRunName(monitor)} is not being trained`,
        "there is nothing to stop",
      );
    await this.#runTrainer(monitor.folder);
  }

  /** Starts the trainer on a run folder and follows it until it has gone. */
  async #runTrainer(folder: string): Promise<void> {
    const node = await findNode(getSetting("node"));
    const options = {
      location: ProgressLocation.Notification,
      title: `Training ${basename(folder)}`,
      cancellable: true,
    };
    await window.withProgress(options, async (progress, token) => {
      progress.report({ message: "starting", increment: 0 });
      const program = Uri.joinPath(this.#extension, "dist", "trainer.js").fsPath;
      const started = await startTrainer({
        folder,
        program,
        fixtures: this.#folder.fixtureFolders,
        node: node.path,
        env: createEnvironment(node),
      });
      // the watch has its own connection, which outlives this one
      started.close();
      const monitor = this.#runs.getMonitor(folder);
      await monitor.attach();
      this.#pages.show(monitor);
      await this.#reportProgress(monitor, progress, token);
    });
  }

  /** Shows each step until the trainer has gone; a cancel asks it to stop. */
  #reportProgress(
    monitor: RunMonitor,
    progress: Progress<{ message: string; increment: number }>,
    token: CancellationToken,
  ): Promise<void> {
    return new Promise(resolve => {
      let shown = monitor.status.step;
      const show = () => {
        const { step, steps, activity } = monitor.status;
        const last = monitor.steps.at(-1);
        const reward = last?.method === "grpo" ? ` · reward ${last.reward.mean.toFixed(3)}` : "";
        progress.report({
          message: `${activity}${reward}`,
          increment: steps ? (100 * (step - shown)) / steps : 0,
        });
        shown = step;
      };
      const listening = monitor.onChange(change => {
        show();
        if (change.kind === "finished") this.#announceEnd(monitor, change.by);
        endWhenGone();
      });
      const endWhenGone = () => {
        if (monitor.isAttached) return;
        listening.dispose();
        resolve();
      };
      token.onCancellationRequested(() => reportRejection(monitor.request("stop")));
      show();
      // a short run may be over before anyone listens
      endWhenGone();
    });
  }

  #announceEnd(monitor: RunMonitor, by: "steps" | "time" | "stop"): void {
    const first = monitor.steps.find(it => it.method === "grpo")?.reward.mean;
    const last = monitor.steps.findLast(it => it.method === "grpo")?.reward.mean;
    const change =
      first === undefined || last === undefined
        ? ""
        : `: reward ${first.toFixed(3)} at first, ${last.toFixed(3)} at last`;
    const n = monitor.steps.length;
    const ended = `${by === "stop" ? "was stopped" : "has finished"} ${n === 0 ? "before its first step" : `after ${n} ${n === 1 ? "step" : "steps"}`}`;
    const said = window.showInformationMessage(
      `${getRunName(monitor)} ${ended}${change}.`,
      "Show Run",
    );
    void said.then(chosen => chosen && this.#pages.show(monitor));
  }

  async #pickTasks(): Promise<Uri> {
    const files = await this.#tasks.listFiles();
    const example = {
      label: "The example tasks",
      description: "copied into this folder",
      iconPath: icons.taskFile,
      file: undefined,
    };
    const items = files.map(file => ({
      label: basename(file.fsPath, ".tasks.jsonl"),
      description: workspace.asRelativePath(file),
      iconPath: icons.taskFile,
      file,
    }));
    const chosen = await window.showQuickPick([...items, ...(files.length ? [] : [example])], {
      title: "Start Training",
      placeHolder: "On which tasks",
    });
    if (!chosen) throw new CancellationError();
    if (chosen.file) return chosen.file;
    await this.#synthesis.copyExample();
    const [copied] = await this.#tasks.listFiles();
    if (!copied) throw new UserError("the example has no tasks", "synthesize some");
    return copied;
  }

  async #pickRun(request: TrainingRequest): Promise<RunMonitor> {
    const fitting = {
      pause: ["training"],
      resume: ["paused", "stopped", "failed"],
      stop: ["starting", "training", "paused"],
    }[request];
    const runs = this.#runs.list().filter(it => fitting.includes(it.status.state));
    if (runs.length === 0)
      throw new ActionableError(`there is no run to ${request}`, "start one", {
        title: "Start Training",
        command: "prove.startTraining",
      });
    if (runs.length === 1) return runs[0]!;
    const items = runs.map(monitor => ({
      label: getRunName(monitor),
      description: monitor.status.activity,
      monitor,
    }));
    const chosen = await window.showQuickPick(items, { placeHolder: `Which run to ${request}` });
    if (!chosen) throw new CancellationError();
    return chosen.monitor;
  }
}

/** The student that ships. */
const defaultModel = "small";

async function findUnusedFolder(runs: Uri, name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const folder = Uri.joinPath(runs, `${name}-${n}`);
    const isThere = await workspace.fs.stat(folder).then(
      () => true,
      () => false,
    );
    if (!isThere) return folder.fsPath;
  }
}
