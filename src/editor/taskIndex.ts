/**
 * Where each task of a file begins, and the few words by which a tree shows it. A file is read in pieces, so that no piece
 * holds the host up, and a task's text is read only when it is opened. Knows no editor.
 */
import { open } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { Mistake } from "../mistake.ts";
import { taskSchema, type Task } from "../trajectory/task.ts";

/** A task as its file's index knows it. */
export interface TaskEntry {
  readonly id: string;
  readonly offset: number;
  readonly length: number;
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

const piece = 128 * 1024;

/** Reads a tasks file's index. A line that is not a task is skipped and told. */
export async function indexTasks(file: string): Promise<TaskIndex> {
  const entries: TaskEntry[] = [];
  const skipped: { line: number; why: string }[] = [];
  let line = 0;
  for await (const { text, offset, length, torn } of linesOf(file)) {
    line++;
    if (text.trim() === "") continue;
    const entry = entryOf(text, offset, length);
    if (typeof entry === "object") entries.push(entry);
    else skipped.push({ line, why: torn ? "the line is torn: its end was never written" : entry });
  }
  return { file, entries, skipped };
}

/** One task, read and checked whole. */
export async function readTask(file: string, offset: number, length: number): Promise<Task> {
  const handle = await open(file).catch((cause: Error) => {
    throw new Mistake(`cannot read ${file} (${cause.message})`, "check that it is still there", { cause });
  });
  try {
    const bytes = Buffer.alloc(length);
    await handle.read(bytes, 0, length, offset);
    const parsed = taskSchema.safeParse(jsonOf(bytes.toString("utf8"), file));
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0]!;
    throw new Mistake(`a task of ${file} does not fit at /${issue.path.join("/")}: ${issue.message}`, "synthesize the file anew");
  } finally {
    await handle.close();
  }
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Mistake(`${file} has changed since it was listed`, "refresh the tasks and open it again", { cause });
  }
}

interface Line {
  readonly text: string;
  readonly offset: number;
  readonly length: number;
  /** It is the file's last and has no end. */
  readonly torn: boolean;
}

async function* linesOf(file: string): AsyncGenerator<Line> {
  const handle = await open(file);
  try {
    let rest: Buffer = Buffer.alloc(0);
    let offset = 0;
    const buffer = Buffer.alloc(piece);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, piece, offset + rest.length);
      if (bytesRead === 0) break;
      const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      let from = 0;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
        yield { text: bytes.toString("utf8", from, end), offset: offset + from, length: end - from, torn: false };
        from = end + 1;
      }
      rest = bytes.subarray(from);
      offset += from;
      await setImmediate();
    }
    if (rest.length) yield { text: rest.toString("utf8"), offset, length: rest.length, torn: true };
  } finally {
    await handle.close();
  }
}

/** The entry of a line, or why it is none. Checks only what the entry needs: the whole task is checked when it is opened. */
function entryOf(text: string, offset: number, length: number): TaskEntry | string {
  let task: Partial<Task>;
  try {
    task = JSON.parse(text) as Partial<Task>;
  } catch (error) {
    return `the line is not JSON (${(error as Error).message})`;
  }
  if (task?.format !== taskSchema.shape.format.value) return `its format is ${String(task?.format)}, this version reads ${taskSchema.shape.format.value}`;
  const { id, turns, kind, split, servers, goals } = task;
  if (!id || !turns?.[0] || !kind || !split || !servers || !goals) return "it lacks what every task has";
  return {
    id,
    offset,
    length,
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
