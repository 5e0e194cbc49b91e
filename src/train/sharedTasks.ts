/**
 * The tasks of a training, in memory that its threads share. Each task is a line of JSON and is
 * parsed when a step needs it: as objects, tens of thousands of tasks take several times the memory
 * in each thread.
 */
import type { Task } from "../trajectory/task.ts";

/** Any list of tasks, such as an array. */
export type TaskList = Pick<readonly Task[], "length" | "at">;

/** What is sent to another thread, which opens it with `openSharedTasks`. */
export interface SharedTasks {
  /** The tasks as JSON, one after the other. */
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** The index of each task's first byte, and at the end the number of bytes. */
  readonly starts: Float64Array<SharedArrayBuffer>;
}

/** Collects tasks, which it does not keep as objects. */
export class SharedTasksBuilder {
  readonly #tasks: Buffer[] = [];

  add(task: Task): void {
    this.#tasks.push(Buffer.from(JSON.stringify(task)));
  }

  build(): SharedTasks {
    const count = this.#tasks.length;
    const starts = new Float64Array(new SharedArrayBuffer((count + 1) * 8));
    for (const [i, it] of this.#tasks.entries()) starts[i + 1] = starts[i]! + it.length;
    const bytes = new Uint8Array(new SharedArrayBuffer(starts[count]));
    for (const [i, it] of this.#tasks.entries()) bytes.set(it, starts[i]);
    return { bytes, starts };
  }
}

/** Each call of `at` and each pass over the tasks parses them anew. */
export function openSharedTasks({ bytes, starts }: SharedTasks): TaskList & Iterable<Task> {
  const length = starts.length - 1;
  const parse = (i: number) => {
    const [from, to] = [starts[i]!, starts[i + 1]!];
    return JSON.parse(Buffer.from(bytes.buffer, from, to - from).toString()) as Task;
  };
  return {
    length,
    at(index) {
      const i = index < 0 ? length + index : index;
      return i >= 0 && i < length ? parse(i) : undefined;
    },
    *[Symbol.iterator]() {
      for (let i = 0; i < length; i++) yield parse(i);
    },
  };
}
