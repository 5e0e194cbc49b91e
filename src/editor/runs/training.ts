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
import { nameOf, type Runs } from "./runs.ts";
import type { RunsNode } from "./runsTree.ts";
import type { RunWatch } from "./runWatch.ts";
import { getSetting } from "../shared/settings.ts";
import type { Synthesis } from "../synthesis/synthesis.ts";
import type { TasksNode, TasksTree } from "../tasks/tasksTree.ts";

export type Request = "pause" | "resume" | "stop";

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
    pages.request = (request, watch) => this.request(request, watch);
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
    const folder = await unusedFolder(runs, basename(file.fsPath, ".tasks.jsonl"));
    createRun(
      folder,
      createRunConfig({
        startedAt: new Date(),
        tasks: file.fsPath,
        from: shippedModel,
        steps,
      }),
      Uri.joinPath(this.#folder.resources, "models", shippedModel).fsPath,
    );
    await this.#launch(folder);
  }

  /** Passes a request on to the trainer of a run; a run that no trainer holds is gone on with. */
  async ask(request: Request, node: RunsNode | undefined): Promise<void> {
    const watch = node ? node.watch : await this.#pickRun(request);
    await this.request(request, watch);
  }

  async request(request: Request, watch: RunWatch): Promise<void> {
    requireTrust("training");
    if (await watch.attach()) return watch.request(request);
    if (request !== "resume")
      throw new UserError(`${nameOf(watch)} is not being trained`, "there is nothing to stop");
    await this.#launch(watch.folder);
  }

  /** Starts the trainer on a run folder and follows it until it has gone. */
  async #launch(folder: string): Promise<void> {
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
      const watch = this.#runs.watch(folder);
      await watch.attach();
      this.#pages.show(watch);
      await this.#followed(watch, progress, token);
    });
  }

  /** Shows each step until the trainer has gone; a cancel asks it to stop. */
  #followed(
    watch: RunWatch,
    progress: Progress<{ message: string; increment: number }>,
    token: CancellationToken,
  ): Promise<void> {
    return new Promise(resolve => {
      let shown = watch.status.step;
      const show = () => {
        const { step, steps, activity } = watch.status;
        const last = watch.steps.at(-1);
        const reward = last?.method === "grpo" ? ` · reward ${last.reward.mean.toFixed(3)}` : "";
        progress.report({
          message: `${activity}${reward}`,
          increment: steps ? (100 * (step - shown)) / steps : 0,
        });
        shown = step;
      };
      const listening = watch.listen(change => {
        show();
        if (change.kind === "finished") this.#tellEnd(watch, change.by);
        endWhenGone();
      });
      const endWhenGone = () => {
        if (watch.isAttached) return;
        listening.dispose();
        resolve();
      };
      token.onCancellationRequested(() => reportRejection(watch.request("stop")));
      show();
      // a short run may be over before anyone listens
      endWhenGone();
    });
  }

  #tellEnd(watch: RunWatch, by: "steps" | "time" | "stop"): void {
    const first = watch.steps.find(it => it.method === "grpo")?.reward.mean;
    const last = watch.steps.findLast(it => it.method === "grpo")?.reward.mean;
    const change =
      first === undefined || last === undefined
        ? ""
        : `: reward ${first.toFixed(3)} at first, ${last.toFixed(3)} at last`;
    const n = watch.steps.length;
    const ended = `${by === "stop" ? "was stopped" : "has finished"} ${n === 0 ? "before its first step" : `after ${n} ${n === 1 ? "step" : "steps"}`}`;
    const said = window.showInformationMessage(`${nameOf(watch)} ${ended}${change}.`, "Show Run");
    void said.then(chosen => chosen && this.#pages.show(watch));
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

  async #pickRun(request: Request): Promise<RunWatch> {
    const fitting = {
      pause: ["training"],
      resume: ["paused", "stopped", "failed"],
      stop: ["starting", "training", "paused"],
    }[request];
    const runs = this.#runs.all().filter(it => fitting.includes(it.status.state));
    if (runs.length === 0)
      throw new ActionableError(`there is no run to ${request}`, "start one", {
        title: "Start Training",
        command: "prove.startTraining",
      });
    if (runs.length === 1) return runs[0]!;
    const items = runs.map(watch => ({
      label: nameOf(watch),
      description: watch.status.activity,
      watch,
    }));
    const chosen = await window.showQuickPick(items, { placeHolder: `Which run to ${request}` });
    if (!chosen) throw new CancellationError();
    return chosen.watch;
  }
}

/** The student that ships. */
const shippedModel = "small";

async function unusedFolder(runs: Uri, name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const folder = Uri.joinPath(runs, `${name}-${n}`);
    const isThere = await workspace.fs.stat(folder).then(
      () => true,
      () => false,
    );
    if (!isThere) return folder.fsPath;
  }
}
