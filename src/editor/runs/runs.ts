/** The runs of the workspace. Views, pages and training share one monitor per run. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { EventEmitter, workspace, type Disposable, type Event } from "vscode";
import { listRuns } from "../../run/folder.ts";
import { UserError } from "../../userError.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { ActionableError, reportError, reportRejection } from "../shared/report.ts";
import { RunMonitor, type RunChange } from "./runMonitor.ts";

export class Runs implements Disposable {
  readonly #folder: ProveFolder;
  readonly #monitors = new Map<string, RunMonitor>();
  readonly #reportedFolders = new Set<string>();
  readonly #subscription: Disposable;
  readonly #changed = new EventEmitter<RunMonitor | undefined>();
  /** The monitor of the run that changed, or undefined if the list changed. */
  readonly onDidChange: Event<RunMonitor | undefined> = this.#changed.event;

  constructor(folder: ProveFolder) {
    this.#folder = folder;
    this.#subscription = workspace.onDidGrantWorkspaceTrust(() => this.refresh());
  }

  /** The runs, newest first. A folder that cannot be read is left out, and reported once. */
  list(): readonly RunMonitor[] {
    if (!this.#folder.uri) return [];
    return listRuns(this.#folder.getPart("runs").fsPath)
      .flatMap(it => this.#tryGetMonitor(it))
      .toSorted((a, b) => (a.config.began < b.config.began ? 1 : -1));
  }

  /** The runs that a trainer works on. */
  listAttached(): readonly RunMonitor[] {
    return [...this.#monitors.values()].filter(it => it.isAttached);
  }

  /** The monitor of a run folder. Throws a `UserError` if it is not a run folder. */
  getMonitor(folder: string): RunMonitor {
    const known = this.#monitors.get(folder);
    if (known) return known;
    const monitor = new RunMonitor(folder);
    this.#monitors.set(folder, monitor);
    monitor.onChange(change => this.#handleChange(monitor, change));
    attachIfTrusted(monitor);
    return monitor;
  }

  /** Reads the files of the runs without a trainer again, and forgets deleted runs. */
  refresh(): void {
    for (const [folder, monitor] of this.#monitors) {
      if (monitor.isAttached) continue;
      // only this list follows it: an open page keeps what it has read, and says so
      if (!existsSync(folder) && monitor.listenerCount === 1) {
        this.#monitors.delete(folder);
        monitor.dispose();
        continue;
      }
      try {
        monitor.readFiles();
        attachIfTrusted(monitor);
      } catch (error) {
        // its page says so
        if (!(error instanceof UserError)) throw error;
      }
    }
    this.#changed.fire(undefined);
  }

  dispose(): void {
    for (const it of this.#monitors.values()) it.dispose();
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  #tryGetMonitor(folder: string): RunMonitor[] {
    try {
      return [this.getMonitor(folder)];
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (!this.#reportedFolders.has(folder)) reportError(error);
      this.#reportedFolders.add(folder);
      return [];
    }
  }

  #handleChange(monitor: RunMonitor, change: RunChange): void {
    this.#changed.fire(monitor);
    if (change.kind === "failed") reportError(describeFailure(monitor, change.error));
  }
}

/** The folder says where its trainer listens, and somebody else may have written it. */
function attachIfTrusted(monitor: RunMonitor): void {
  if (workspace.isTrusted) reportRejection(monitor.attach());
}

/** The error of a training that failed or died, with a button that resumes it if it can be. */
export function describeFailure(monitor: RunMonitor, { what, remedy }: UserError): UserError {
  const { step } = monitor.status;
  const checkpoint = monitor.checkpoints.at(-1);
  const when = step === 0 ? "before its first step" : `after step ${step}`;
  const problem = `the training of ${getRunName(monitor)} ended ${when}: ${what}`;
  return checkpoint === undefined
    ? new UserError(
        problem,
        `${remedy.replace(/[,;] then continue with --resume$/, "")}; the run has no checkpoint that it can be resumed from, so start a new one`,
      )
    : new ActionableError(
        problem,
        `${remedy}; it then ${checkpoint === 0 ? "starts over" : `goes on after step ${checkpoint}`}`,
        {
          title: "Resume",
          command: "prove.resumeTraining",
          arguments: [{ kind: "run", monitor }],
        },
      );
}

export const getRunName = ({ folder }: RunMonitor): string => basename(folder);
