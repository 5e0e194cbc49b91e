/**
 * The tasks that a service offers. A file is indexed when the service starts; a task is read and
 * checked when it is asked for.
 */
import { LRUCache } from "lru-cache";
import { LineIndex, readJsonAt, type LineRange } from "../storage/lineIndex.ts";
import { parseTask } from "../trajectory/file.ts";
import { taskFormat, type Split, type Task, isEarlierTaskLine } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";

/** The fields by which clients choose tasks. */
interface TaskSummary {
  readonly task_id: string;
  readonly split: Split;
  readonly kind: Task["kind"];
  readonly servers: readonly string[];
  readonly seed: number;
  readonly turns: number;
  readonly goals: number;
}

interface TaskEntry extends LineRange {
  readonly summary: TaskSummary;
}

interface StoredTask extends TaskEntry {
  readonly file: string;
}

/** Attempts at one task come together, and share its goals' run. */
const maxParsedTasks = 512;

export class TaskStore {
  readonly #tasks: ReadonlyMap<string, StoredTask>;
  #ids: readonly string[] | undefined;
  readonly #parsed = new LRUCache<string, Promise<Task>>({ max: maxParsedTasks });

  constructor(tasks: ReadonlyMap<string, StoredTask> = new Map()) {
    this.#tasks = tasks;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** The ids of the tasks in the order of the files. */
  get ids(): readonly string[] {
    return (this.#ids ??= [...this.#tasks.keys()]);
  }

  /** The tasks in the order of the files, of one split or of all. */
  list(split?: Split): readonly TaskSummary[] {
    const all = [...this.#tasks.values()].map(it => it.summary);
    return split ? all.filter(it => it.split === split) : all;
  }

  /**
   * The task with that id, the same object for as long as it is in use; undefined if there is none.
   * Rejects with a `UserError` if its line is invalid or the file has changed.
   */
  async find(id: string): Promise<Task | undefined> {
    const stored = this.#tasks.get(id);
    if (!stored) return undefined;
    let task = this.#parsed.get(id);
    if (!task) {
      task = readTask(stored);
      this.#parsed.set(id, task);
      task.catch(() => this.#parsed.delete(id));
    }
    return task;
  }
}

/**
 * Indexes tasks files. Lines that are not tasks are reported and left out. Throws a `UserError` for
 * a file without tasks and for two tasks of one id.
 */
export async function openTaskStore(
  files: readonly string[],
  onSkipped: (message: string) => void = () => {},
): Promise<TaskStore> {
  const tasks = new Map<string, StoredTask>();
  for (const file of files) {
    const { entries, skipped } = await new LineIndex(file, createEntry).update();
    for (const { line, reason } of skipped) onSkipped(`${file}:${line} is left out: ${reason}`);
    if (entries.length === 0)
      throw new UserError(`${file} has no tasks`, "give a *.tasks.jsonl file");
    for (const entry of entries) {
      const { task_id: id } = entry.summary;
      const other = tasks.get(id);
      if (other)
        throw new UserError(
          `the task ${id} is in ${file}:${entry.number} and in ${other.file}:${other.number}`,
          "remove one of them, or serve one of the files",
        );
      tasks.set(id, { ...entry, file });
    }
  }
  return new TaskStore(tasks);
}

const readTask = async ({ file, number, offset, bytes }: StoredTask): Promise<Task> =>
  parseTask(await readJsonAt(file, { number, offset, bytes }), { file, line: number });

/** The entry of a line, or why it has none. Checks only the fields of the entry. */
function createEntry(text: string, { number, offset, bytes }: LineRange): TaskEntry | string {
  let task: Partial<Task> | null;
  try {
    task = JSON.parse(text) as Partial<Task> | null;
  } catch (error) {
    return `the line is not JSON (${(error as Error).message})`;
  }
  if (task?.format !== taskFormat && !isEarlierTaskLine(task))
    return `its format is ${String(task?.format)}, and this version reads ${taskFormat}`;
  const { id, split, kind, servers, seed, turns, goals } = task;
  if (!id || !split || !kind || !servers || seed === undefined || !turns || !goals)
    return "it lacks a field that every task has";
  return {
    number,
    offset,
    bytes,
    summary: {
      task_id: id,
      split,
      kind,
      servers: servers.map(it => it.name),
      seed,
      turns: turns.length,
      goals: goals.length,
    },
  };
}
