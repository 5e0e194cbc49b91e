/**
 * The trainings that wait for the current one to end. The next one starts when nothing is being
 * trained any more, however the training before it has ended. All windows on a workspace share the
 * queue; it is kept in a file when the last one is closed.
 */
import { basename, dirname } from "node:path";
import { existsSync, mkdirSync, watch, type FSWatcher } from "node:fs";
import { workspace, type Disposable } from "vscode";
import { z } from "zod";
import { getRunFile } from "../../run/folder.ts";
import { acquireLock } from "../../storage/fileLock.ts";
import { UserError } from "../../userError.ts";
import { showInformation, showWarning } from "../shared/notifications.ts";
import { reportError, reportRejection } from "../shared/report.ts";
import { readSharedFile, writeSharedFile, type SharedFile } from "../shared/sharedFile.ts";
import type { Runs } from "./runs.ts";

interface QueueDependencies {
  readonly runs: Runs;
  /** The file with the folders of the queued runs. */
  readonly file: string;
  /**
   * Trains a run, and resolves when its training has ended: to true if the person was told how.
   */
  readonly train: (folder: string) => Promise<boolean>;
}

class QueueHeld extends UserError {}

export class TrainingQueue implements Disposable {
  readonly #dependencies: QueueDependencies;
  readonly #shared: SharedFile<readonly string[]>;
  /** The folders of the queued runs, in order. */
  #folders: readonly string[] = [];
  /** The folders of the runs that this window trains or evaluates. */
  readonly #current = new Set<string>();
  /** Releases the lock of the window that starts the next training. */
  #releaseLock: (() => void) | undefined;
  #isStarting = false;
  #isDisposed = false;
  readonly #subscription: Disposable;
  readonly #watcher: FSWatcher;

  constructor(dependencies: QueueDependencies) {
    this.#dependencies = dependencies;
    const { runs, file } = dependencies;
    this.#shared = {
      file,
      schema: z.array(z.string()),
      contents: "the queue of trainings",
      remedy: "add the runs to the queue again",
    };
    try {
      this.#folders = this.#readFolders();
    } catch (error) {
      reportError(error);
    }
    this.#subscription = runs.onDidChange(it => this.#update(it === undefined));
    mkdirSync(dirname(file), { recursive: true });
    this.#watcher = watch(dirname(file), { persistent: false }, (_, name) => {
      if (name === null || name === basename(file)) this.#update(true);
    });
    // without it, the queue is read again when the list of runs changes
    this.#watcher.on("error", () => this.#watcher.close());
  }

  /** The name of the run that is trained next. */
  get next(): string | undefined {
    const [folder] = this.#folders;
    return folder && basename(folder);
  }

  get size(): number {
    return this.#folders.length;
  }

  has(folder: string): boolean {
    return this.#folders.includes(folder);
  }

  /** Continues the queue of an earlier window, whose training may have ended meanwhile. */
  async resume(): Promise<void> {
    if (this.#folders.length === 0) return;
    this.#setPositions();
    await this.#startNext(false);
  }

  add(folder: string, place: "first" | "last"): void {
    this.#change(folders => {
      const others = folders.filter(it => it !== folder);
      return place === "first" ? [folder, ...others] : [...others, folder];
    });
    this.#update(false);
  }

  remove(folder: string): void {
    this.#change(folders => folders.filter(it => it !== folder));
  }

  /** Trains a run now, and then the next one of the queue. */
  async train(folder: string): Promise<void> {
    this.#current.add(folder);
    this.remove(folder);
    // if another window trains at the same time, that one starts the next training
    this.#tryLock();
    let isAnnounced = false;
    try {
      isAnnounced = await this.#dependencies.train(folder);
    } finally {
      this.#current.delete(folder);
      reportRejection(this.#startNext(isAnnounced));
    }
  }

  /** Like `train`, for a training that another window may be following already: then nothing. */
  async follow(folder: string): Promise<void> {
    if (this.#tryLock()) await this.train(folder);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#subscription.dispose();
    this.#watcher.close();
    this.#unlock();
  }

  /** `isReread`: whether another window may have changed the queue. */
  #update(isReread: boolean): void {
    try {
      if (isReread) this.#reread();
      this.#removeUnusable();
    } catch (error) {
      return reportError(error);
    }
    reportRejection(this.#startNext(false));
  }

  #reread(): void {
    const folders = this.#readFolders();
    if (JSON.stringify(folders) === JSON.stringify(this.#folders)) return;
    this.#folders = folders;
    this.#setPositions();
  }

  /**
   * Removes runs that are gone, and those that were resumed in a terminal or another window. A run
   * that this window does not list, such as one of another PROVE folder, stays and waits.
   */
  #removeUnusable(): void {
    if (this.#folders.length === 0) return;
    const attached = new Set(this.#dependencies.runs.listAttached().map(it => it.folder));
    const gone = this.#folders.filter(it => existsSync(dirname(it)) && !existsSync(getRunFile(it)));
    const left = this.#folders.filter(it => !gone.includes(it) && !attached.has(it));
    if (left.length === this.#folders.length) return;
    for (const it of gone)
      void showWarning(`${basename(it)} was queued, but there is no such run any more.`);
    this.#change(folders => folders.filter(it => left.includes(it) || !this.has(it)));
  }

  /** Starts the next training if there is none, and says so unless the person knows. */
  async #startNext(isAnnounced: boolean): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      if (this.#folders.length === 0 || this.#isBusy || !workspace.isTrusted) return;
      // a training of another window or of a terminal may not have been noticed yet
      await Promise.all(this.#dependencies.runs.list().map(it => it.attach()));
      if (this.#isDisposed || this.#isBusy || !this.#tryLock()) return;
      // another window may have started it meanwhile
      this.#reread();
      const listed = this.#dependencies.runs.list().map(it => it.folder);
      const folder = this.#folders.find(it => listed.includes(it));
      if (folder === undefined) return;
      if (!isAnnounced) void showInformation(`${basename(folder)} was queued, and starts now.`);
      reportRejection(this.train(folder));
    } finally {
      this.#isStarting = false;
      // after its training, this window stays the one that starts the next one: its trainer may not
      // have ended yet
      if (this.#current.size === 0 && this.#folders.length === 0) this.#unlock();
    }
  }

  get #isBusy(): boolean {
    return this.#current.size > 0 || this.#dependencies.runs.listAttached().length > 0;
  }

  /** Makes this window the one that starts trainings. False if another one is. */
  #tryLock(): boolean {
    if (this.#releaseLock) return true;
    try {
      this.#releaseLock = acquireLock(`${this.#dependencies.file}.lock`, {
        createConflict: pid => new QueueHeld(`process ${pid} starts trainings`, "wait for it"),
      });
      return true;
    } catch (error) {
      if (error instanceof QueueHeld) return false;
      throw error;
    }
  }

  #unlock(): void {
    this.#releaseLock?.();
    this.#releaseLock = undefined;
  }

  /** Changes the queue as it is stored now. */
  #change(change: (folders: readonly string[]) => readonly string[]): void {
    const stored = this.#readFolders();
    this.#folders = change(stored);
    if (this.#folders.length !== stored.length || this.#folders.some((it, i) => it !== stored[i]))
      writeSharedFile(this.#shared, this.#folders);
    this.#setPositions();
  }

  #readFolders(): readonly string[] {
    return readSharedFile(this.#shared) ?? [];
  }

  #setPositions(): void {
    for (const monitor of this.#dependencies.runs.list()) {
      const position = this.#folders.indexOf(monitor.folder) + 1;
      monitor.setQueuePosition(position === 0 ? undefined : position);
    }
  }
}
