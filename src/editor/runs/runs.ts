/**
 * The runs of the workspace, each watched once: trees, pages and training share one watch a run.
 * Starts nothing.
 */
import { basename } from "node:path";
import { EventEmitter, type Disposable, type Event } from "vscode";
import { UserError } from "../../userError.ts";
import { runsIn } from "../../run/folder.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { reportError, reportRejection } from "../shared/report.ts";
import { RunWatch, type RunChange } from "./runWatch.ts";

export class Runs implements Disposable {
  readonly #folder: ProveFolder;
  readonly #watches = new Map<string, RunWatch>();
  readonly #broken = new Set<string>();
  readonly #changed = new EventEmitter<RunWatch | undefined>();
  /** A run stands differently, or, without one, there are others. */
  readonly onDidChange: Event<RunWatch | undefined> = this.#changed.event;

  constructor(folder: ProveFolder) {
    this.#folder = folder;
  }

  /** The runs, newest first. A folder that cannot be read is reported once and left out. */
  all(): readonly RunWatch[] {
    if (!this.#folder.uri) return [];
    const watches = runsIn(this.#folder.getPart("runs").fsPath).flatMap(it => this.#tryWatch(it));
    return watches.toSorted((a, b) => (a.config.began < b.config.began ? 1 : -1));
  }

  /** The watch on a run folder. Throws a `Mistake` where it holds no run. */
  watch(folder: string): RunWatch {
    const known = this.#watches.get(folder);
    if (known) return known;
    const watch = new RunWatch(folder);
    this.#watches.set(folder, watch);
    watch.listen(change => this.#heard(watch, change));
    reportRejection(watch.attach());
    return watch;
  }

  /**
   * Something in the folder of runs was written: files are read again where no trainer tells us.
   */
  refresh(): void {
    for (const watch of this.#watches.values()) {
      if (watch.isAttached) continue;
      try {
        watch.read();
        reportRejection(watch.attach());
      } catch (error) {
        // the folder went away while we watched it
        if (!(error instanceof UserError)) throw error;
        watch.dispose();
        this.#watches.delete(watch.folder);
      }
    }
    this.#changed.fire(undefined);
  }

  dispose(): void {
    for (const it of this.#watches.values()) it.dispose();
    this.#changed.dispose();
  }

  #tryWatch(folder: string): RunWatch[] {
    try {
      return [this.watch(folder)];
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (!this.#broken.has(folder)) reportError(error);
      this.#broken.add(folder);
      return [];
    }
  }

  #heard(watch: RunWatch, change: RunChange): void {
    this.#changed.fire(watch);
    if (change.kind === "failed") reportError(change.mistake);
  }
}

export const nameOf = (watch: RunWatch): string => basename(watch.folder);
