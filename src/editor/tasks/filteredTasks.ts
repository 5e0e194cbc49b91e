/** Filters the tasks of a file. When the file has grown, only its new tasks are checked. */
import { forEachInSlices } from "../shared/timeSlices.ts";
import { matchesFilter, type TaskFilter } from "./taskFilter.ts";
import type { TaskEntry } from "../attempts/taskIndex.ts";

export class FilteredTasks {
  readonly tasks: readonly TaskEntry[];
  readonly filter: TaskFilter;
  readonly #matching: TaskEntry[] = [];
  #checked = 0;
  #pending: Promise<void> = Promise.resolve();

  constructor(tasks: readonly TaskEntry[], filter: TaskFilter) {
    this.tasks = tasks;
    this.filter = filter;
  }

  async list(signal?: AbortSignal): Promise<readonly TaskEntry[]> {
    if (this.filter.text === "") return this.tasks;
    this.#pending = this.#pending.then(() => this.#checkNew());
    await this.#pending;
    signal?.throwIfAborted();
    return this.#matching;
  }

  async #checkNew(): Promise<void> {
    await forEachInSlices(this.#takeUnchecked(), it => {
      if (matchesFilter(it, this.filter)) this.#matching.push(it);
    });
  }

  *#takeUnchecked(): Generator<TaskEntry> {
    while (this.#checked < this.tasks.length) yield this.tasks[this.#checked++]!;
  }
}
