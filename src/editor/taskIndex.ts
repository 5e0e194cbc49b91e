/**
 * Where each task of a file begins, and the few words by which a tree shows it. A task's text is read only when it is opened.
 * Knows no editor.
 */
import { parseTask } from "../trajectory/file.ts";
import { taskFormat, type Task } from "../trajectory/task.ts";
import { olderTaskFormat } from "../trajectory/taskLine.ts";
import { linesIn, readJson, type LinePlace } from "./lineFile.ts";

/** A task as its file's index knows it. */
export interface TaskEntry extends LinePlace {
  readonly id: string;
  /** What the user says first. */
  readonly asked: string;
  readonly kind: Task["kind"];
  readonly split: Task["split"];
  readonly servers: readonly string[];
  /** The calls that must happen, by name. */
  readonly goals: readonly string[];
}

export interface TaskIndex {
  readonly file: string;
  readonly entries: readonly TaskEntry[];
  /** Lines that are no task, by number from 1: a torn last line, or one of another version. */
  readonly skipped: readonly { readonly line: number; readonly why: string }[];
}

/** Reads a tasks file's index. A line that is not a task is skipped and told. */
export async function indexTasks(file: string): Promise<TaskIndex> {
  const entries: TaskEntry[] = [];
  const skipped: { line: number; why: string }[] = [];
  for await (const line of linesIn(file)) {
    const entry = entryOf(line.text, line);
    if (typeof entry === "object") entries.push(entry);
    else skipped.push({ line: line.number, why: line.whole ? entry : "the line is torn: its end was never written" });
  }
  return { file, entries, skipped };
}

/** One task, read and checked whole. */
export const readTask = async (file: string, place: LinePlace): Promise<Task> => parseTask(await readJson(file, place), `${file}:${place.number}`);

/** The entry of a line, or why it is none. Checks only what the entry needs: the whole task is checked when it is opened. */
function entryOf(text: string, { number, offset, bytes }: LinePlace): TaskEntry | string {
  let task: Partial<Task>;
  try {
    task = JSON.parse(text) as Partial<Task>;
  } catch (error) {
    return `the line is not JSON (${(error as Error).message})`;
  }
  if (![taskFormat, olderTaskFormat].includes(String(task?.format))) return `its format is ${String(task?.format)}, and this version reads ${taskFormat}`;
  const { id, turns, kind, split, servers, goals } = task;
  if (!id || !turns?.[0] || !kind || !split || !servers || !goals) return "it lacks what every task has";
  return {
    id,
    number,
    offset,
    bytes,
    asked: turns[0].user,
    kind,
    split,
    servers: servers.map(it => it.name),
    goals: goals.flatMap(it => it.calls.map(({ name }) => name)),
  };
}

/** Whether an entry matches every word of a filter, anywhere in what the tree shows of it. */
export function matches(entry: TaskEntry, filter: string): boolean {
  const text = [entry.id, entry.asked, entry.kind, entry.split, ...entry.servers, ...entry.goals].join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every(word => text.includes(word));
}
