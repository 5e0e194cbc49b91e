/**
 * The pages of runs: one a run, fed with its files first and with what its trainer says from then
 * on. Draws nothing.
 */
import { CancellationError, window, type Disposable, type Uri, type WebviewPanel } from "vscode";
import { UserError } from "../../userError.ts";
import type { RunPage, RunView } from "../../protocol/runPage.ts";
import { groupsFile } from "../../run/folder.ts";
import { indexGroups } from "./groupIndex.ts";
import { openPage, servePage, type Answers, type Page } from "../shared/page.ts";
import { ActionableError } from "../shared/report.ts";
import { getRunName, type Runs } from "./runs.ts";
import { listRecordedSteps, type RunsNode } from "./runsTree.ts";
import type { RunMonitor } from "./runMonitor.ts";
import type { Transcripts } from "../trajectories/transcripts.ts";

/** Passes on what a person asks of a run. */
export type SendRunRequest = (
  request: "pause" | "resume" | "stop",
  monitor: RunMonitor,
) => Promise<void>;

export class RunPages implements Disposable {
  readonly #extension: Uri;
  readonly #runs: Runs;
  readonly #transcripts: Transcripts;
  readonly #open = new Map<string, Page<RunPage>>();
  /** Handed in once everything is built: training itself shows pages. */
  request: SendRunRequest | undefined;

  constructor(extension: Uri, runs: Runs, transcripts: Transcripts) {
    this.#extension = extension;
    this.#runs = runs;
    this.#transcripts = transcripts;
  }

  /** Shows the page of a node's run, or of one that the person picks. */
  async open(node: RunsNode | undefined): Promise<void> {
    this.show(node ? node.monitor : await this.#pickRun());
  }

  show(monitor: RunMonitor): void {
    const open = this.#open.get(monitor.folder);
    if (open) open.panel.reveal();
    else
      this.#track(
        monitor,
        openPage<RunPage>(this.#extension, describePage(monitor), this.#createHandlers(monitor)),
      );
  }

  /** Fills a panel that the window kept over a reload. */
  restore(panel: WebviewPanel, folder: string): void {
    const monitor = this.#runs.getMonitor(folder);
    this.#track(
      monitor,
      servePage<RunPage>(
        this.#extension,
        panel,
        describePage(monitor),
        this.#createHandlers(monitor),
      ),
    );
  }

  dispose(): void {
    for (const it of this.#open.values()) it.panel.dispose();
  }

  #track(monitor: RunMonitor, page: Page<RunPage>): void {
    this.#open.set(monitor.folder, page);
    const listening = monitor.onChange(change => {
      switch (change.kind) {
        case "stepped":
          return page.sendEvent("stepsDone", change.steps);
        case "saved":
          return page.sendEvent("checkpointSaved", change.step);
        case "stood":
        case "finished":
        case "failed":
          return page.sendEvent("statusChanged", monitor.status);
        default:
          throw new Error(`a run changed by ${JSON.stringify(change satisfies never)}`);
      }
    });
    page.panel.onDidDispose(() => {
      listening.dispose();
      this.#open.delete(monitor.folder);
    });
  }

  #createHandlers(monitor: RunMonitor): Answers<RunPage> {
    const ask = async (request: "pause" | "resume" | "stop") => {
      await this.request!(request, monitor);
      return null;
    };
    return {
      load() {
        if (!monitor.isAttached) monitor.readFiles();
        return createRunView(monitor);
      },
      pause: () => ask("pause"),
      resume: () => ask("resume"),
      stop: () => ask("stop"),
      openStep: async ({ step }) => {
        await this.#openStep(monitor, step);
        return null;
      },
    };
  }

  /** Lets the person choose among the attempts of a step, the best first, and shows one. */
  async #openStep(monitor: RunMonitor, step: number): Promise<void> {
    const kept = listRecordedSteps(monitor.folder);
    const near = kept.toSorted((a, b) => Math.abs(a - step) - Math.abs(b - step))[0];
    if (near === undefined)
      throw new UserError(
        `${getRunName(monitor)} keeps no attempts`,
        "set keepGroups in its configuration",
      );
    const { groups } = await indexGroups(groupsFile(monitor.folder, near));
    const entries = groups.flatMap(it => it.entries).toSorted((a, b) => b.total - a.total);
    const items = entries.map(entry => ({
      label: entry.total.toFixed(4),
      description: `${entry.success ? "success" : "no success"} · ${entry.task}`,
      entry,
    }));
    const chosen = await window.showQuickPick(items, {
      title: `Attempts of step ${near}`,
      placeHolder: "Which attempt to read",
      matchOnDescription: true,
    });
    if (chosen)
      await this.#transcripts.open({ kind: "attempt", monitor, step: near, entry: chosen.entry });
  }

  async #pickRun(): Promise<RunMonitor> {
    const runs = this.#runs.list();
    if (runs.length === 0)
      throw new ActionableError("there is no run yet", "start one", {
        title: "Start Training",
        command: "prove.startTraining",
      });
    if (runs.length === 1) return runs[0]!;
    const items = runs.map(monitor => ({
      label: getRunName(monitor),
      description: monitor.status.activity,
      monitor,
    }));
    const chosen = await window.showQuickPick(items, { placeHolder: "Which run to show" });
    if (!chosen) throw new CancellationError();
    return chosen.monitor;
  }
}

const describePage = (monitor: RunMonitor) => ({
  name: "run" as const,
  title: getRunName(monitor),
  icon: "run.svg",
});

const createRunView = (monitor: RunMonitor): RunView => ({
  run: getRunName(monitor),
  folder: monitor.folder,
  status: monitor.status,
  config: monitor.config,
  steps: monitor.steps,
  checkpoints: monitor.checkpoints,
});
