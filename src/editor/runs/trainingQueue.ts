/**
 * The trainings that wait for the current one to end. The next one starts when nothing is being
 * trained any more, however the training before it has ended. The queue is kept over a reload of
 * the window.
 */
import { basename } from "node:path";
import { workspace, type Disposable, type Memento } from "vscode";
import { z } from "zod";
import { showInformation, showWarning } from "../shared/notifications.ts";
import { reportRejection } from "../shared/report.ts";
import type { Runs } from "./runs.ts";

export interface QueueDependencies {
  readonly runs: Runs;
  readonly storage: Memento;
  /**
   * Trains a run, and resolves when its training has ended: to true if the person was told how.
   */
  readonly train: (folder: string) => Promise<boolean>;
}

const storedKey = "prove.training.queue";

export class TrainingQueue implements Disposable {
  readonly #dependencies: QueueDependencies;
  /** The folders of the queued runs, in order. */
  #folders: readonly string[];
  /** The folders of the runs that this window trains or evaluates. */
  readonly #current = new Set<string>();
  /** Whether it is known which runs are being trained. */
  #isReady: boolean;
  readonly #subscription: Disposable;

  constructor(dependencies: QueueDependencies) {
    this.#dependencies = dependencies;
    const { data } = z.array(z.string()).safeParse(dependencies.storage.get(storedKey));
    this.#folders = data ?? [];
    this.#isReady = this.#folders.length === 0;
    this.#subscription = dependencies.runs.onDidChange(() => this.#update());
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
    this.#store(this.#folders);
    if (!workspace.isTrusted) return;
    await Promise.all(this.#dependencies.runs.list().map(it => it.attach()));
    this.#isReady = true;
    this.#update();
  }

  add(folder: string, place: "first" | "last"): void {
    const others = this.#folders.filter(it => it !== folder);
    this.#store(place === "first" ? [folder, ...others] : [...others, folder]);
    this.#update();
  }

  remove(folder: string): void {
    if (this.has(folder)) this.#store(this.#folders.filter(it => it !== folder));
  }

  /** Trains a run now, and then the next one of the queue. */
  async train(folder: string): Promise<void> {
    this.#current.add(folder);
    this.remove(folder);
    let isAnnounced = false;
    try {
      isAnnounced = await this.#dependencies.train(folder);
    } finally {
      this.#current.delete(folder);
      this.#startNext(isAnnounced);
    }
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  #update(): void {
    if (this.#folders.length === 0) return;
    const runs = new Map(this.#dependencies.runs.list().map(it => [it.folder, it]));
    for (const it of this.#folders)
      if (!runs.has(it))
        void showWarning(`${basename(it)} was queued, but there is no such run any more.`);
    // a queued run may have been resumed in a terminal
    const left = this.#folders.filter(it => runs.get(it)?.isAttached === false);
    if (left.length < this.#folders.length) this.#store(left);
    this.#startNext(false);
  }

  /** Starts the next training if there is none, and says so unless the person knows. */
  #startNext(isAnnounced: boolean): void {
    const [folder] = this.#folders;
    const isBusy = this.#current.size > 0 || this.#dependencies.runs.listAttached().length > 0;
    if (folder === undefined || isBusy || !this.#isReady) return;
    if (!isAnnounced) void showInformation(`${basename(folder)} was queued, and starts now.`);
    reportRejection(this.train(folder));
  }

  #store(folders: readonly string[]): void {
    const { runs, storage } = this.#dependencies;
    this.#folders = folders;
    reportRejection(Promise.resolve(storage.update(storedKey, folders)));
    for (const monitor of runs.list()) {
      const position = folders.indexOf(monitor.folder) + 1;
      monitor.setQueuePosition(position === 0 ? undefined : position);
    }
  }
}
