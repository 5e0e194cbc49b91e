/**
 * Trains on another engine: prepares a run folder, starts its `launch.py` as a process that ends
 * with the window, and says how it ended. The run's files show what the training does.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { env, Uri, window, type Disposable, type Memento } from "vscode";
import { formatAccelerateCommand, formatRayCommand } from "../../engine/target.ts";
import { ProcessTree } from "../../mcp/processTree.ts";
import type { RunState } from "../../protocol/runPage.ts";
import { createEngineConflict, readEngineLock } from "../../run/locks.ts";
import { clearEnd, readEnd, writeEnd } from "../../run/folder.ts";
import { UserError } from "../../userError.ts";
import { showError, showInformation, showWarning } from "../shared/notifications.ts";
import { createEnvironment, findNode, runCountedWork } from "../shared/program.ts";
import { requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import { reportRejection } from "../shared/report.ts";
import { getSetting } from "../shared/settings.ts";
import type { TasksNode, TasksTree } from "../tasks/tasksTree.ts";
import { findEnginePython } from "./enginePackages.ts";
import { EngineProcess, getEngineLog, readLastLines, type EngineEnd } from "./engineProcess.ts";
import { promptForEngine } from "./enginePrompts.ts";
import { engineTitles, type RunMonitor } from "./runMonitor.ts";
import type { RunPages, RunRequest } from "./runPages.ts";
import { pickRun } from "./runPrompts.ts";
import { getRunName, type Runs } from "./runs.ts";
import type { RunsNode } from "./runsNode.ts";

export interface EngineTrainingDependencies {
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

/** The states that a run of another engine can be in while its folder can be read. */
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
      "choose a run that was prepared for an engine",
    );
}

const getTitle = ({ config }: RunMonitor): string => engineTitles[config.engine ?? "trl"];
