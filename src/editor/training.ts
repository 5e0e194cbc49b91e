/**
 * Training from the editor: chooses tasks, starts the trainer in a process of its own, shows how far it is, and asks it to
 * pause, go on or stop. The trainer outlives the window; whoever opens the folder again finds it. Knows nothing of how
 * training works.
 */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CancellationError, ProgressLocation, Uri, window, workspace, type CancellationToken, type Progress } from "vscode";
import { Mistake } from "../mistake.ts";
import { icons } from "./icons.ts";
import { findNode, startProgram } from "./program.ts";
import { mustBeTrusted, type ProveFolder } from "./proveFolder.ts";
import { Remediable, reporting } from "./report.ts";
import type { RunPages } from "./runPages.ts";
import { nameOf, type Runs } from "./runs.ts";
import type { RunsNode } from "./runsTree.ts";
import type { RunWatch } from "./runWatch.ts";
import { setting } from "./settings.ts";
import { askNumber, type Synthesis } from "./synthesis.ts";
import type { TasksNode, TasksTree } from "./tasksTree.ts";

export type Request = "pause" | "resume" | "stop";

export class Training {
  readonly #extension: Uri;
  readonly #folder: ProveFolder;
  readonly #tasks: TasksTree;
  readonly #synthesis: Synthesis;
  readonly #runs: Runs;
  readonly #pages: RunPages;

  constructor(extension: Uri, folder: ProveFolder, tasks: TasksTree, synthesis: Synthesis, runs: Runs, pages: RunPages) {
    this.#extension = extension;
    this.#folder = folder;
    this.#tasks = tasks;
    this.#synthesis = synthesis;
    this.#runs = runs;
    this.#pages = pages;
    pages.request = (request, watch) => this.request(request, watch);
  }

  /** Starts a run on a task file, the node's or one that the person picks, and shows its page. */
  async start(node: TasksNode | undefined): Promise<void> {
    mustBeTrusted("training");
    const runs = this.#folder.part("runs");
    const file = node?.kind === "taskFile" ? node.file : await this.#pickTasks();
    const steps = await askNumber("How many steps; it can be stopped and gone on with at any time", "100", 1, 100_000);
    const folder = await unusedFolder(runs, basename(file.fsPath, ".tasks.jsonl"));
    await this.#launch(folder, ["train", "--tasks", file.fsPath, "--run", folder, "--steps", String(steps)]);
  }

  /** Passes a request on to the trainer of a run; a run that no trainer holds is gone on with. */
  async ask(request: Request, node: RunsNode | undefined): Promise<void> {
    const watch = node ? node.watch : await this.#pickRun(request);
    await this.request(request, watch);
  }

  async request(request: Request, watch: RunWatch): Promise<void> {
    mustBeTrusted("training");
    if (await watch.attach()) return watch.request(request);
    if (request !== "resume") throw new Mistake(`${nameOf(watch)} is not being trained`, "there is nothing to stop");
    await this.#launch(watch.folder, ["train", "--tasks", watch.config.tasks, "--run", watch.folder, "--resume"]);
  }

  async #launch(folder: string, args: readonly string[]): Promise<void> {
    const node = await findNode(setting("node"));
    const log = join(folder, "trainer.log");
    const options = { location: ProgressLocation.Notification, title: `Training ${basename(folder)}`, cancellable: true };
    await window.withProgress(options, async (progress, token) => {
      progress.report({ message: "starting", increment: 0 });
      const child = startProgram(node, Uri.joinPath(this.#extension, "dist").fsPath, args, this.#folder.part("runs").with({ path: `${this.#folder.part("runs").path}/../..` }).fsPath, log);
      const watch = await this.#begun(child, folder, log, token);
      this.#pages.show(watch);
      await this.#followed(watch, progress, token);
    });
  }

  /** Waits until the trainer has taken the folder. Throws what it said where it ended first. */
  async #begun(child: ChildProcess, folder: string, log: string, token: CancellationToken): Promise<RunWatch> {
    let ended: number | null | undefined;
    child.once("exit", code => (ended = code));
    child.once("error", () => (ended = null));
    for (;;) {
      if (ended !== undefined && ended !== 0) throw saidAtTheEnd(log, basename(folder));
      const watch = this.#tryWatch(folder);
      if (watch && ((await watch.attach()) || ended === 0)) return watch;
      if (token.isCancellationRequested) {
        child.kill();
        throw new CancellationError();
      }
      await pause(150);
    }
  }

  #tryWatch(folder: string): RunWatch | undefined {
    try {
      return this.#runs.watch(folder);
    } catch (error) {
      // run.json is not written yet
      if (error instanceof Mistake) return undefined;
      throw error;
    }
  }

  /** Shows each step until the trainer has gone; a cancel asks it to stop. */
  #followed(watch: RunWatch, progress: Progress<{ message: string; increment: number }>, token: CancellationToken): Promise<void> {
    return new Promise(resolve => {
      let shown = watch.standing.step;
      const show = () => {
        const { step, steps, doing } = watch.standing;
        const last = watch.steps.at(-1);
        const reward = last?.method === "grpo" ? ` · reward ${last.reward.mean.toFixed(3)}` : "";
        progress.report({ message: `${doing}${reward}`, increment: steps ? (100 * (step - shown)) / steps : 0 });
        shown = step;
      };
      const listening = watch.listen(change => {
        show();
        if (change.kind === "finished") this.#tellEnd(watch, change.by);
        if (change.kind !== "stood" || watch.isAttached) return;
        listening.dispose();
        resolve();
      });
      token.onCancellationRequested(() => reporting(watch.request("stop")));
      show();
    });
  }

  #tellEnd(watch: RunWatch, by: "steps" | "time" | "stop"): void {
    const first = watch.steps.find(it => it.method === "grpo")?.reward.mean;
    const last = watch.steps.findLast(it => it.method === "grpo")?.reward.mean;
    const change = first === undefined || last === undefined ? "" : `: reward ${first.toFixed(3)} at first, ${last.toFixed(3)} at last`;
    const ended = by === "stop" ? "was stopped" : "has finished";
    const said = window.showInformationMessage(`${nameOf(watch)} ${ended} after ${watch.steps.length} steps${change}.`, "Show Run");
    void said.then(chosen => chosen && this.#pages.show(watch));
  }

  async #pickTasks(): Promise<Uri> {
    const files = await this.#tasks.files();
    const example = { label: "The example tasks", description: "copied into this folder", iconPath: icons.taskFile, file: undefined };
    const items = files.map(file => ({ label: basename(file.fsPath, ".tasks.jsonl"), description: workspace.asRelativePath(file), iconPath: icons.taskFile, file }));
    const chosen = await window.showQuickPick([...items, ...(files.length ? [] : [example])], { title: "Start Training", placeHolder: "On which tasks" });
    if (!chosen) throw new CancellationError();
    if (chosen.file) return chosen.file;
    await this.#synthesis.copyExample();
    const [copied] = await this.#tasks.files();
    if (!copied) throw new Mistake("the example has no tasks", "synthesize some");
    return copied;
  }

  async #pickRun(request: Request): Promise<RunWatch> {
    const fitting = { pause: ["training"], resume: ["paused", "stopped", "failed"], stop: ["starting", "training", "paused"] }[request];
    const runs = this.#runs.all().filter(it => fitting.includes(it.standing.state));
    if (runs.length === 0) throw new Remediable(`there is no run to ${request}`, "start one", { title: "Start Training", command: "prove.startTraining" });
    if (runs.length === 1) return runs[0]!;
    const items = runs.map(watch => ({ label: nameOf(watch), description: watch.standing.doing, watch }));
    const chosen = await window.showQuickPick(items, { placeHolder: `Which run to ${request}` });
    if (!chosen) throw new CancellationError();
    return chosen.watch;
  }
}

/** The last words of a trainer that could not begin, as the mistake they are. */
function saidAtTheEnd(log: string, run: string): Mistake {
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  const what = lines.findLast(it => it.startsWith("prove-rl: "))?.slice("prove-rl: ".length);
  const remedy = what && lines.at(lines.findLastIndex(it => it.startsWith("prove-rl: ")) + 1)?.trim();
  return new Mistake(what ?? `the trainer of ${run} ended before it began (${lines.at(-1) ?? "it said nothing"})`, remedy ?? `read ${log}`);
}

async function unusedFolder(runs: Uri, name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const folder = Uri.joinPath(runs, `${name}-${n}`);
    const isThere = await workspace.fs.stat(folder).then(() => true, () => false);
    if (!isThere) return folder.fsPath;
  }
}
